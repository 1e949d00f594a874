"""The prompt, typed into through a pipe; and the whole shell on a terminal of its own."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from prompt_toolkit import PromptSession
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from support.building_files import write_job
from support.pseudo_terminal import Terminal
from windrow.apps.shell.desk import Desk
from windrow.apps.shell.lines import run_text
from windrow.apps.shell.prompt import _toolbar, history_path, prompt_session
from windrow.apps.terminal.screen import Screen


@pytest.fixture(autouse=True)
def _history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDROW_HISTORY", str(tmp_path / "state" / "history"))


@contextmanager
def prompting() -> Iterator[tuple[PipeInput, PromptSession[str]]]:
    desk = Desk(Screen(machine=True))
    with closing(desk.bench), create_pipe_input() as keys:
        yield keys, prompt_session(desk, keys, DummyOutput())


def test_a_statement_ends_with_its_semicolon() -> None:
    with prompting() as (keys, session):
        keys.send_text("SELECT 1\nFROM s;\n")
        assert session.prompt() == "SELECT 1\nFROM s;"
        keys.send_text("\\d temp\n")
        assert session.prompt() == "\\d temp"
        keys.send_text("\n")
        assert session.prompt() == ""


def test_what_was_typed_comes_back_in_the_next_shell() -> None:
    with prompting() as (keys, session):
        keys.send_text("SELECT 1;\n")
        session.prompt()
    assert stat.S_IMODE(history_path().stat().st_mode) == 0o600
    with prompting() as (keys, session):
        keys.send_text("\x1b[A\n")  # the arrow up
        assert session.prompt() == "SELECT 1;"


def test_a_shell_whose_history_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINDROW_HISTORY", "/proc/nowhere/history")
    with prompting() as (keys, session):
        keys.send_text("SELECT 1;\n")
        assert session.prompt() == "SELECT 1;"


@pytest.mark.parametrize(("key", "error"), [("\x03", KeyboardInterrupt), ("\x04", EOFError)])
def test_ctrl_c_and_ctrl_d(key: str, error: type[BaseException]) -> None:
    with prompting() as (keys, session):
        keys.send_text(key)
        with pytest.raises(error):
            session.prompt()


def test_history_has_a_place_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WINDROW_HISTORY")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert history_path() == Path("/state/windrow/history")


def test_a_user_without_a_home_has_a_shell_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("WINDROW_HISTORY")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert history_path() is None
    with prompting() as (keys, session):
        keys.send_text("SELECT 1;\n")
        assert session.prompt() == "SELECT 1;"


def test_the_toolbar_says_how_things_stand() -> None:
    desk = Desk(Screen(machine=True))
    session = prompt_session(desk, None, DummyOutput())
    checker = session.lexer._checker
    with closing(desk.bench):
        run_text(desk, "CREATE STREAM temp (ts TIMESTAMP, x INT) TIME ts;")
        (shown,) = _toolbar(desk, checker, "")
        assert shown[1] == "1 stream  0 queries  0 rows"
        (shown,) = _toolbar(desk, checker, "SELECT y FROM temp [1 DAY] ")
        assert shown == ("class:bottom-toolbar.wrong", shown[1])
        assert "there is no column 'y'" in shown[1]
        (shown,) = _toolbar(desk, checker, "SELECT x\nFROM temp [1 DAY]")
        assert shown[1] == "A semicolon ends the statement; Ctrl-C drops it."


def test_the_whole_shell_on_a_terminal(tmp_path: Path) -> None:
    write_job(tmp_path)
    with Terminal("shell", "job.wql", folder=tmp_path) as terminal:
        terminal.wait_for("windrow> ")
        terminal.type("SELECT celsus FROM temp [1 DAY];\r")
        terminal.wait_for("[WB203]")
        assert "^^^^^^" in terminal.wait_for("Hint: did you mean celsius?")
        terminal.type("SELECT COUNT(*) AS n\rFROM smoke [30 SECONDS];\r")
        terminal.wait_for("(1 row, at 2026-01-01 00:03:19)")
        terminal.type("\\watch alarms\r")
        terminal.wait_for("any key ends the watch")
        terminal.type(" ")
        seen = len(terminal.shown)
        terminal.wait_for("windrow> ", seen)
        terminal.type("\x04")
        assert terminal.ended() == 0
    assert "Traceback" not in terminal.shown


def test_a_terminal_on_which_nothing_can_be_drawn_is_told(tmp_path: Path) -> None:
    with Terminal("shell", "--json", folder=tmp_path) as terminal:
        terminal.wait_for("No prompt here")
        terminal.type("\\d\n\x04")
        assert terminal.ended() == 0
