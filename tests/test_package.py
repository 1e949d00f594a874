"""What is published: the wheel and the source archive, built and looked into."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


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
        *("SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "src/windrow/py.typed"),
        *("requirements/run.txt", "requirements/make-venv.sh", "docs/README.md"),
        *("tests/oracle.py", "benchmarks/anchor.py", "examples/README.md"),
    }
    assert expected - names == set()


def test_the_source_archive_has_nothing_of_this_machine(built: Path) -> None:
    foreign = (".venv", "example-data", ".hypothesis", "__pycache__", "metastore_db")
    assert [name for name in archive_names(built) if set(foreign) & set(name.split("/"))] == []
