"""Compiled code on disk: found again, never out of date, and no query fails for the want of it."""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import stat
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numba
import pytest

from windrow.compiling import kept_code, kernels, source_stamp
from windrow.compiling.places import kept_in, places_of
from windrow.private_folder import temporary_cache

PACKAGE = "pieces_of_code"
INNER = "@njit(cache=True)\ndef inner(x):\n    return x + {step}\n"
OUTER = (
    f"from {PACKAGE}.inside.kernels import inner\n"
    "@njit(cache=True)\ndef outer(x):\n    return inner(x) * 10\n"
)
STRUCTURE = "from typing import NamedTuple\n\nclass Pair(NamedTuple):\n    {}: int\n    {}: int\n"
READER = "@njit(cache=True)\ndef lower(pair):\n    return pair.low\n"
IMPORT = "from windrow.compiling.kernels import njit\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package with a kernel that calls one of another file."""
    monkeypatch.syspath_prepend(str(tmp_path / "path"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(kept_code.numba.config, "CACHE_DIR", "")
    folder = tmp_path / "path" / PACKAGE
    write(folder, step=1)
    forget()
    yield folder
    forget()


def write(folder: Path, step: int) -> None:
    for name, text in {"inside": INNER.format(step=step), "outside": OUTER}.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "kernels.py").write_text(IMPORT + text, encoding="utf-8")


def forget() -> None:
    """As in a new process."""
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]
    importlib.invalidate_caches()
    source_stamp.source_stamp.cache_clear()
    source_stamp._source.cache_clear()
    places_of.cache_clear()


def loaded() -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.outside.kernels")


def was_compiled(function: object) -> bool:
    return sum(function.stats.cache_misses.values()) > 0


def test_compiled_code_is_found_at_the_next_start(package: Path) -> None:
    assert (loaded().outer(1), was_compiled(loaded().outer)) == (20, True)
    assert list((package / "outside" / "__pycache__").glob("*.nbi"))
    forget()
    assert (loaded().outer(1), was_compiled(loaded().outer)) == (20, False)


def lower_of_pair(package: Path, *fields: str) -> tuple[int, bool]:
    """What a kernel reads from a structure with these fields, and whether it was compiled anew."""
    (package / "pairs.py").write_text(STRUCTURE.format(*fields), encoding="utf-8")
    (package / "reading").mkdir(exist_ok=True)
    (package / "reading" / "kernels.py").write_text(IMPORT + READER, encoding="utf-8")
    forget()
    pair = importlib.import_module(f"{PACKAGE}.pairs").Pair(low=1, high=2)
    lower = importlib.import_module(f"{PACKAGE}.reading.kernels").lower
    return lower(pair), was_compiled(lower)


def test_a_kernel_is_compiled_again_when_the_fields_of_a_structure_have_changed(
    package: Path,
) -> None:
    assert lower_of_pair(package, "low", "high") == (1, True)
    assert lower_of_pair(package, "low", "high") == (1, False)
    assert lower_of_pair(package, "high", "low") == (1, True)


def test_a_kernel_is_compiled_again_when_what_it_calls_has_changed(package: Path) -> None:
    assert loaded().outer(1) == 20
    write(package, step=2)
    forget()
    assert loaded().outer(1) == 30


@pytest.mark.parametrize("damage", [b"", b"nothing of Numba's", None])
def test_damaged_code_is_compiled_again(package: Path, damage: bytes | None) -> None:
    assert loaded().outer(1) == 20
    for file in (package / "outside" / "__pycache__").glob("*.nb*"):
        file.write_bytes(file.read_bytes()[:-20] if damage is None else damage)
    forget()
    assert loaded().outer(1) == 20


def test_a_folder_that_is_lost_while_a_program_runs_costs_no_query(package: Path) -> None:
    outer = loaded().outer
    assert outer.made.stats.cache_path == str(package / "outside" / "__pycache__")
    cache = package / "outside" / "__pycache__"
    cache.rmdir()
    cache.write_text("a file where the folder was", encoding="utf-8")
    assert outer(1) == 20


def close(package: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    """Neither package nor home can be written to, by the superuser neither."""
    for name in ("inside", "outside"):
        (package / name / "__pycache__").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("HOME", home)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("home", [os.devnull, "~", ""])
def test_without_a_home_it_is_kept_in_a_private_temporary_folder(
    package: Path, monkeypatch: pytest.MonkeyPatch, home: str, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    close(package, monkeypatch, home)
    if home == "":
        monkeypatch.setattr(Path, "home", no_home)
    assert (loaded().outer(1), was_compiled(loaded().outer)) == (20, True)
    folder = temporary_cache()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert list(folder.rglob("*.nbi"))
    assert not (tmp_path / "~").exists()
    forget()
    assert (loaded().outer(1), was_compiled(loaded().outer)) == (20, False)


def no_home() -> Path:
    raise RuntimeError("Could not determine home directory.")


def test_a_temporary_folder_that_others_made_is_not_believed(
    package: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close(package, monkeypatch, os.devnull)
    assert loaded().outer(1) == 20
    temporary_cache().rename(temporary / "moved")
    temporary_cache().symlink_to(temporary / "moved")
    forget()
    assert (loaded().outer(1), was_compiled(loaded().outer)) == (20, True)


def test_code_in_a_folder_that_was_opened_to_others_is_not_loaded(
    package: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del temporary
    close(package, monkeypatch, os.devnull)
    assert loaded().outer(1) == 20
    forget()
    outer = loaded().outer
    assert outer.made.stats.cache_path is not None
    temporary_cache().chmod(0o777)
    assert (outer(1), was_compiled(outer)) == (20, True)


def test_where_nothing_can_be_written_it_is_compiled_without(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close(package, monkeypatch, os.devnull)
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    assert loaded().outer(1) == 20
    assert loaded().outer.stats.cache_path is None


@pytest.mark.usefixtures("package")
def test_what_an_image_was_built_with_is_read_though_nothing_can_be_added(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert loaded().outer(1) == 20
    forget()
    monkeypatch.setattr("windrow.compiling.places._can_be_written", lambda _folder: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(temporary))
    assert (loaded().outer(1), was_compiled(loaded().outer)) == (20, False)
    assert (loaded().outer(1.5), was_compiled(loaded().outer)) == (25.0, True)
    assert list((temporary / "windrow").rglob("*.nbi"))


def test_a_folder_that_was_named_is_the_only_one(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "named"
    monkeypatch.setattr(kept_code.numba.config, "CACHE_DIR", str(named))
    assert loaded().outer(1) == 20
    assert list(named.rglob("*.nbi"))
    assert list(package.rglob("*.nbi")) == []
    assert kept_in(str(named)) == named
    forget()
    monkeypatch.setattr(kept_code.numba.config, "CACHE_DIR", str(tmp_path / "another"))
    assert (loaded().outer(1), was_compiled(loaded().outer)) == (20, True)


@pytest.mark.usefixtures("package")
def test_nothing_is_made_of_a_kernel_before_its_first_call() -> None:
    kernel = loaded().outer
    assert kernel._made is None
    assert (kernel(1), kernel._made.py_func) == (20, kernel.py_func)
    assert kernel.func is kernel.made


@pytest.mark.usefixtures("package")
def test_a_kernel_is_made_once_though_threads_call_it_together() -> None:
    kernel = loaded().outer
    with ThreadPoolExecutor(4) as threads:
        made = {id(each) for each in threads.map(lambda _: kernel.made, range(16))}
    assert (len(made), kernel(1)) == (1, 20)


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize("value", [1, "no number"])
def test_garbage_is_looked_for_again_after_compiling(value: object) -> None:
    assert gc.isenabled()
    if value == 1:
        assert loaded().outer(value) == 20
    else:
        with pytest.raises(numba.TypingError):
            loaded().outer(value)
    assert gc.isenabled()


@pytest.mark.usefixtures("package")
def test_a_kernel_is_pickled_by_its_name() -> None:
    kernel = loaded().outer
    assert pickle.loads(pickle.dumps(kernel)) is kernel


def test_every_kernel_is_compiled_this_way() -> None:
    source = Path(kernels.__file__).parents[1]
    others = [file for file in source.rglob("*kernels.py") if file != Path(kernels.__file__)]
    assert len(others) > 30
    start = IMPORT.partition(" import ")[0]
    wrong = [file for file in others if start not in file.read_text(encoding="utf-8")]
    assert wrong == []
