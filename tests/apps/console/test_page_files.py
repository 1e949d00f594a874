"""The files of the console's page: what was vendored is unchanged, what is ours is harmless."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from windrow.apps.console.endpoints.pages import STATIC_FOLDER

ROOT = Path(__file__).parents[3]
VENDOR = STATIC_FOLDER / "vendor"
VERSIONS = json.loads((VENDOR / "versions.json").read_text(encoding="utf-8"))
OURS = sorted(path for path in STATIC_FOLDER.rglob("*.*") if VENDOR not in path.parents)
LINES_LIMIT = 250

# Ways in which a text could become code or markup, or in which a style would need 'unsafe-inline'.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\("
    r"|new Function|setAttribute\(\"style|srcdoc|javascript:"
)
INLINE = re.compile(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)")


def ours(*endings: str) -> list[object]:
    found = [path for path in OURS if path.suffix in endings]
    return [pytest.param(path, id=str(path.relative_to(STATIC_FOLDER))) for path in found]


def test_vendored_files_are_the_ones_that_were_noted() -> None:
    present = {
        str(path.relative_to(VENDOR)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in VENDOR.rglob("*.*")
        if path.name != "versions.json"
    }
    assert present == VERSIONS["sha256"]


def test_noted_versions_are_the_pinned_ones_and_each_has_its_licence() -> None:
    lock = json.loads((ROOT / "requirements/vendor/package-lock.json").read_text(encoding="utf-8"))
    for library in VERSIONS["libraries"]:
        name = library["name"]
        assert lock["packages"][f"node_modules/{name}"]["version"] == library["version"]
        licence = VENDOR / "licences" / f"{name.removeprefix('@').replace('/', '-')}.txt"
        assert licence.stat().st_size > 500, name


def test_the_lock_names_no_registry_and_a_hash_for_each_package() -> None:
    lock = json.loads((ROOT / "requirements/vendor/package-lock.json").read_text(encoding="utf-8"))
    packages = [entry for path, entry in lock["packages"].items() if path]
    assert all("resolved" not in entry for entry in packages)
    assert all(entry["integrity"].startswith("sha512-") for entry in packages)


@pytest.mark.parametrize("path", ours(".js"))
def test_no_text_becomes_code_or_markup(path: Path) -> None:
    assert FORBIDDEN.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", ours(".html"))
def test_pages_have_no_inline_script_style_or_handler(path: Path) -> None:
    assert INLINE.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", ours(".js", ".css", ".html"))
def test_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert (
        re.findall(r"(?:https?:)?//[\w.-]+\.\w+", text.replace("/* ", "").replace("// ", "")) == []
    )


@pytest.mark.parametrize("path", ours(".js"))
def test_imports_lead_to_files(path: Path) -> None:
    for name in re.findall(r"from \"([^\"]+)\"", path.read_text(encoding="utf-8")):
        assert name.startswith("."), name
        assert (path.parent / name).is_file(), name


@pytest.mark.parametrize("path", ours(".js", ".css"))
def test_files_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_LIMIT


# The checks themselves, each on something that it must find.


@pytest.mark.parametrize("text", ["a.innerHTML = b", "eval(text)", 'href="javascript:x()"'])
def test_a_text_that_becomes_code_is_found(text: str) -> None:
    assert FORBIDDEN.search(text)


@pytest.mark.parametrize(
    "text", ["<script>x()</script>", '<p style="a">', '<p onclick="x()">', "<style>a</style>"]
)
def test_what_is_inline_is_found(text: str) -> None:
    assert INLINE.search(text)
