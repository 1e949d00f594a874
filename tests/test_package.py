"""What is published: the wheel and the source archive, built and looked into."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
EXTRAS = "spark|java|kafka|mqtt|postgres|delta|iceberg|console|notebook|bench"
# The package by a name that is another project's.
OTHER_NAME = re.compile(rf"pip install \"?windrow(?!-sql)\b|\bwindrow\[(?:{EXTRAS}|\{{)")
RELATIVE_LINK = re.compile(r"\]\((?!https?:|#)")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="the build tools are not installed")
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def wheel_names(folder: Path) -> set[str]:
    (path,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(path).namelist())


def archive_names(folder: Path) -> set[str]:
    (path,) = folder.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}


def metadata_of(folder: Path) -> Message:
    (path,) = folder.glob("*.whl")
    wheel = zipfile.ZipFile(path)
    (name,) = [each for each in wheel.namelist() if each.endswith(".dist-info/METADATA")]
    return message_from_string(wheel.read(name).decode())


def build_hook() -> ModuleType:
    pytest.importorskip("hatchling", reason="the build tools are not installed")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_index_is_told_the_name_and_the_authors(built: Path) -> None:
    told = metadata_of(built)
    assert (told["Name"], told["Author"]) == ("windrow-sql", "The Windrow contributors")
    assert told["Description-Content-Type"] == "text/markdown"


def test_the_index_shows_no_relative_link(built: Path) -> None:
    shown = metadata_of(built).get_payload()
    assert shown.startswith("# Windrow\n")
    assert RELATIVE_LINK.findall(shown) == []


def test_with_an_address_links_lead_to_the_files_of_this_version() -> None:
    hook = build_hook()
    text = (
        "[a page](docs/a.md#part) [two\nlines](b.md) [here](#part) [else](https://x.example/)"
        " ![a picture](p.png)"
    )
    assert hook.published_readme(text, "https://code.example/w", "1.2.3") == (
        "[a page](https://code.example/w/blob/v1.2.3/docs/a.md#part)"
        " [two\nlines](https://code.example/w/blob/v1.2.3/b.md)"
        " [here](#part) [else](https://x.example/)"
        " ![a picture](https://code.example/w/raw/v1.2.3/p.png)"
    )
    assert hook.published_readme(text, "", "1.2.3") == (
        "a page two\nlines [here](#part) [else](https://x.example/) "
    )
    addresses = hook.project_urls("https://code.example/w").values()
    assert all(each.startswith("https://code.example/w") for each in addresses)
    assert hook.project_urls("") == {}


def test_the_address_is_the_one_to_cite() -> None:
    written = re.search(r'^address = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    cited = re.search(
        r'^repository-code: "(.*)"$', (ROOT / "CITATION.cff").read_text("utf-8"), re.M
    )
    assert written[1] == (cited[1] if cited else "")


def test_no_file_says_to_install_another_project() -> None:
    places = ("src", "docs", "tests", "examples", "requirements", "benchmarks")
    files = [
        *ROOT.glob("*.md"),
        *(file for place in places for file in (ROOT / place).rglob("*.*")),
    ]
    wrong = [
        f"{file.relative_to(ROOT)}: {line}"
        for file in files
        if file.suffix in {".md", ".py", ".ipynb", ".txt", ".in", ".sh"}
        and file.name not in {"CHANGELOG.md", Path(__file__).name}
        for line in file.read_text(encoding="utf-8").splitlines()
        if OTHER_NAME.search(line)
    ]
    assert wrong == []


@pytest.mark.parametrize("text", ["pip install windrow", 'pip install "windrow[java]"'])
def test_the_other_name_is_found(text: str) -> None:
    assert OTHER_NAME.search(text)
    assert not OTHER_NAME.search(text.replace("windrow", "windrow-sql"))


def test_the_wheel_has_every_file_of_the_package(built: Path) -> None:
    source = ROOT / "src"
    here = {
        str(path.relative_to(source))
        for path in (source / "windrow").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = wheel_names(built)
    assert {"windrow/py.typed", "windrow/__main__.py"} <= here
    assert here - names == set()
    assert {name for name in names if name.endswith("licenses/LICENSE")}


def test_the_wheel_has_nothing_else(built: Path) -> None:
    others = {name for name in wheel_names(built) if not name.startswith("windrow/")}
    assert {name for name in others if ".dist-info/" not in name} == set()


def test_the_source_archive_has_what_make_needs(built: Path) -> None:
    names = archive_names(built)
    expected = {
        *("pyproject.toml", "Makefile", "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"),
        *(
            "SECURITY.md",
            "CODE_OF_CONDUCT.md",
            "CITATION.cff",
            "hatch_build.py",
            "src/windrow/py.typed",
        ),
        *("requirements/run.txt", "requirements/make-venv.sh", "docs/README.md"),
        *("tests/support/oracle.py", "benchmarks/anchor.py", "examples/README.md"),
    }
    assert expected - names == set()


def test_the_source_archive_has_nothing_of_this_machine(built: Path) -> None:
    foreign = (".venv", "example-data", ".hypothesis", "__pycache__", "metastore_db")
    assert [name for name in archive_names(built) if set(foreign) & set(name.split("/"))] == []
