"""All examples: listed, documented, with the output that their READMEs show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.gallery import (
    GALLERY,
    NAMES,
    REAL_DATA,
    module_of,
    output_of,
    program_of,
    script_of,
    shown_output,
)

REAL = {
    "bike-share": ["bayarea_bikeshare_2014.parquet"],
    "market-data": ["ita_interarrivals.parquet"],
    "network-links": ["honeypot_connections.parquet"],
    "smart-building": [
        "iot_temp_smoke_24h.parquet",
        *("--celsius", "22.9", "--strength", "0.0205"),
    ],
}
# A line that only the real data can give.
SEEN = {
    "bike-share": "most bikes on the road: 67, Mon 03 Nov 17:00",
    "market-data": "with 124 KB: {'A': 605, 'B': 114} answers by level,",
    "network-links": "branch: 325,392 rows, 0 late",
    "smart-building": "alarm: iot-device-03, 23:04:00 to 23:24:00, at most 23,798 pairs",
}

each_example = pytest.mark.parametrize("name", NAMES)


@each_example
def test_an_example_has_all_its_parts(name: str) -> None:
    expected = {"README.md", "make_data.py", script_of(name).name}
    expected.add(next((GALLERY / name).glob("watch_*.py")).name)
    assert {path.name for path in (GALLERY / name).iterdir()} - {"__pycache__"} == expected
    assert (Path(__file__).parent / f"test_{name.replace('-', '_')}.py").exists()


@each_example
def test_the_readme_shows_what_comes_out(name: str) -> None:
    assert shown_output(name) == output_of(program_of(name))


@each_example
def test_the_gallery_lists_it_with_lines_of_its_output(name: str) -> None:
    page = (GALLERY / "README.md").read_text(encoding="utf-8")
    assert f"]({name}/README.md)" in page
    sections = {
        section.split("\n")[0].lower().replace(" ", "-"): section
        for section in page.split("\n## ")[1:]
    }
    sample = re.search(r"^```text\n(.*?)^```$", sections[name], re.M | re.S)
    assert sample
    assert set(sample[1].splitlines()) <= set(shown_output(name).splitlines())


@each_example
def test_data_is_the_same_for_a_seed_and_other_for_another(name: str, tmp_path: Path) -> None:
    made = module_of(name, "make_data")
    for folder, seed in (("first", "3"), ("again", "3"), ("other", "4")):
        output_of(made, str(tmp_path / folder), "--seed", seed)
    files = {
        folder: {path.name: path.read_bytes() for path in (tmp_path / folder).iterdir()}
        for folder in ("first", "again", "other")
    }
    assert files["first"] == files["again"]
    assert files["first"] != files["other"]


@pytest.mark.slow
@pytest.mark.skipif(not REAL_DATA.exists(), reason="the real data is not part of the project")
@each_example
def test_real_data_is_taken(name: str) -> None:
    file, *options = REAL[name]
    lines = output_of(program_of(name), "--data", str(REAL_DATA / file), *options).splitlines()
    assert SEEN[name] in lines
