"""`windrow shell` from a pipe: rows for people and machines, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.building_files import write_job
from support.command_line import events
from windrow.apps.cli import app
from windrow.apps.shell import lines


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_job(tmp_path)
    monkeypatch.chdir(tmp_path)


def run(typed: str, *arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["shell", *arguments], input=typed)
    return done.exit_code, done.stdout, done.stderr


def test_a_script_and_lines_behind_it() -> None:
    status, stdout, _ = run("\\watch strength\n", "job.wql", "--json")
    assert status == 0
    shown = events(stdout)
    assert [each["event"] for each in shown] == ["done"] * 6 + ["result"]
    assert shown[-1]["n"] == 31


def test_people_get_a_table_on_stdout_and_remarks_on_stderr() -> None:
    status, stdout, stderr = run("SELECT COUNT(*) AS n FROM smoke [30 SECONDS]", "job.wql")
    assert status == 0
    assert stdout.endswith(" n\n31\n")
    assert "(1 row, at 2026-01-01 00:03:19)" in stderr
    assert "\x1b" not in stdout + stderr


def test_the_first_error_ends_it() -> None:
    status, stdout, stderr = run("SELECT x FROM y [1 DAY];\n\\d\n", "--json")
    assert status == 1
    assert [each["event"] for each in events(stdout)] == ["error"]
    assert "       x" not in stdout
    assert stderr.splitlines()[2] == " " * 14 + "^"


def test_ctrl_c_while_files_are_read_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "wait_until_read", lambda *_: False)
    status, stdout, stderr = run("\\d\n", "job.wql", "--json")
    assert (status, "Interrupted." in stderr) == (130, True)
    assert "stream" not in [each["event"] for each in events(stdout)]


def test_an_empty_pipe_is_good() -> None:
    assert run("")[0] == 0


def test_a_missing_script_is_wrong_usage() -> None:
    assert run("", "nothing.wql")[0] == 2
