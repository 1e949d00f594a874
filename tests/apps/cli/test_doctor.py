"""`windrow doctor`: what it finds here, and what it says where something lacks."""

from __future__ import annotations

import importlib.util
import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.command_line import events, windrow
from windrow.apps.cli.console import USUAL_PORT
from windrow.apps.terminal import doctor, warming
from windrow.apps.terminal.doctor import Finding, findings
from windrow.apps.terminal.doctor_view import show_findings, show_warming
from windrow.apps.terminal.free_memory import free_memory
from windrow.apps.terminal.screen import Screen
from windrow.errors import UnsupportedError


def test_this_machine_is_well(tmp_path: Path) -> None:
    done = windrow("doctor", "--no-spark", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = events(done.stdout)
    assert found[-1]["event"] == "summary"
    names = [each["name"] for each in found[:-1]]
    assert names[:3] == ["python", "numba", "memory"]
    assert all(each["state"] != "bad" for each in found[:-1])


def by_name(**options: bool) -> dict[str, Finding]:
    return {each.name: each for each in findings(starts_spark=False, **options)}


def test_little_memory_is_enough_for_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "free_memory", lambda: 1 << 30)
    found = by_name()["memory"]
    assert (found.state, "--embedded" in found.remedy) == ("poor", True)
    monkeypatch.setattr(doctor, "free_memory", lambda: 1 << 20)
    assert by_name()["memory"].state == "bad"
    monkeypatch.setattr(doctor, "free_memory", lambda: None)
    assert by_name()["memory"].state == "good"


def test_without_spark_and_java_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    no_java = SimpleNamespace(find_java=lambda: None, MINIMUM_JAVA=17)
    monkeypatch.setattr(doctor, "spark_module", lambda _name: no_java)
    found = by_name()["spark"]
    assert (found.state, "windrow-sql[spark]" in found.remedy) == ("poor", True)
    only_spark = lambda name: name if name == "pyspark" else None  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", only_spark)
    found = by_name()["java"]
    assert (found.state, "windrow-sql[java]" in found.remedy) == ("poor", True)


def test_a_user_without_a_name_cannot_start_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.os, "getuid", lambda: 4_000_000_000)
    found = by_name()["spark"]
    assert (found.state, "4000000000" in found.detail) == ("poor", True)
    assert "/etc/passwd" in found.remedy


def test_a_broken_numba_is_a_finding_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    # Not even the modules of this process can be imported then.
    monkeypatch.setitem(sys.modules, "windrow.embedded.session", None)
    found = by_name()["numba"]
    assert (found.state, "reinstall numba" in found.remedy) == ("bad", True)


def test_it_says_where_compiled_code_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert str(tmp_path) in by_name()["numba"].detail
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/dev/null/nowhere")
    found = by_name()["numba"]
    assert (found.state, "NUMBA_CACHE_DIR" in found.remedy) == ("poor", True)
    assert "every start" in found.detail


def test_warming_names_each_form(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(warming, "FORMS", {"one": (), "another": ()})
    show_warming(Screen(machine=True))
    shown = events(capsys.readouterr().out)
    assert [each["form"] for each in shown] == ["one", "another"]
    show_warming(Screen())
    told = capsys.readouterr()
    assert "2 of 2: another" in told.err
    assert told.out.startswith("compiled or found in the cache in ")


def test_without_spark_nothing_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    there = lambda name: None if name == "pyspark" else find_spec(name)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", there)

    def missing(name: str) -> Any:
        raise UnsupportedError("WU510", f"no {name}", hint="get it")

    monkeypatch.setattr(doctor, "spark_module", missing)
    found = {each.name: each for each in findings(starts_spark=True)}
    assert found["spark"].state == found["java"].state == "poor"
    assert "query on Spark" not in found
    assert "bad" not in {each.state for each in found.values()}


def test_a_look_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise UnsupportedError("WU510", f"no {name}", hint="get it")

    monkeypatch.setattr(doctor, "spark_module", missing)
    assert by_name()["java"] == Finding("java", "bad", "no windrow.spark.processes.java", "get it")
    monkeypatch.setattr(doctor, "_java", lambda: 1 // 0)
    assert "ZeroDivisionError" in by_name()["java"].detail
    assert "JAVA_HOME" in by_name()["java"].remedy


def test_a_port_in_use_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(doctor, "UI_PORT", server.getsockname()[1])
        assert by_name()["spark page"].state == "poor"


def test_the_console_needs_its_parts_and_a_port(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(doctor, "CONSOLE_PORT", server.getsockname()[1])
        found = by_name()["console"]
        assert (found.state, "another free port" in found.remedy) == ("poor", True)
    monkeypatch.setattr(doctor, "CONSOLE_PARTS", ("starlette", "no_such_part"))
    found = by_name()["console"]
    assert (found.state, found.detail) == ("poor", "no_such_part not installed")
    assert "windrow-sql[console]" in found.remedy


def test_the_console_is_expected_at_its_usual_port() -> None:
    assert doctor.CONSOLE_PORT == USUAL_PORT


def test_what_is_broken_ends_with_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "_numba", lambda: Finding("numba", "bad", "no compiler", "get one"))
    assert not show_findings(Screen(), starts_spark=False)
    shown = capsys.readouterr().out
    assert "x  numba" in shown
    assert "get one" in shown
    assert "1 failed" in shown


GB = 1 << 30


def tree(root: Path, **files: str) -> Path:
    """Files of a system under another root; __ in a name is a slash."""
    for name, text in files.items():
        file = root / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


MACHINE = {"proc__meminfo": f"MemTotal: {16 * GB // 1024} kB\nMemAvailable: {8 * GB // 1024} kB\n"}
GROUP = "sys__fs__cgroup__"
LIMITED = {f"{GROUP}memory.max": f"{4 * GB}\n", f"{GROUP}memory.current": f"{3 * GB}\n"}
OLD = f"{GROUP}memory__box__memory."
SYSTEMS = {
    "no files": ({}, None),
    "a machine": (MACHINE, 8 * GB),
    "a group without a limit": (MACHINE | LIMITED | {f"{GROUP}memory.max": "max\n"}, 8 * GB),
    "a container": (MACHINE | LIMITED, GB),
    "a container with files in memory": (
        MACHINE | LIMITED | {f"{GROUP}memory.stat": f"anon 5\ninactive_file {GB}\n"},
        2 * GB,
    ),
    "a group of the first kind": (
        MACHINE
        | {"proc__self__cgroup": "5:cpu:/\n4:memory:/box\n0::/\n"}
        | {f"{OLD}limit_in_bytes": f"{2 * GB}", f"{OLD}usage_in_bytes": f"{2 * GB + 5}"},
        0,
    ),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_limit_of_a_container_counts(system: str, tmp_path: Path) -> None:
    files, wanted = SYSTEMS[system]
    assert free_memory(tree(tmp_path, **files)) == wanted
