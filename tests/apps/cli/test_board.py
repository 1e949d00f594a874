"""The board of `windrow run`: how each query stands, drawn in place; lines where it is piped."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console
from typer.testing import CliRunner

from support.building_files import write_job
from support.command_line import events
from support.pseudo_terminal import Terminal
from windrow.apps.cli import app
from windrow.apps.terminal.board import Board, shown_clock
from windrow.apps.terminal.job_view import JobView
from windrow.apps.terminal.live_table import live_table
from windrow.apps.terminal.screen import Screen
from windrow.jobs.watcher import Standing

AT = datetime(2026, 1, 1, tzinfo=UTC)


def drawn(board: Board, width: int = 80, height: int = 24) -> str:
    console = Console(width=width, height=height)
    with console.capture() as capture:
        console.print(board.drawn(width, height))
    return capture.get()


def answers(*rows: tuple[int, str, int]) -> pa.Table:
    return pa.table(
        {
            "at": [AT.replace(second=second) for second, _, _ in rows],
            "level": ["A"] * len(rows),
            "error_bound": pa.nulls(len(rows), pa.float64()),
            "room": [room for _, room, _ in rows],
            "n": [n for _, _, n in rows],
        }
    )


def test_a_board_shows_the_answers_of_the_latest_instant() -> None:
    board = Board(Screen(), "job.wql", ["alarms", "idle"])
    board.answered("alarms", answers((5, "lab", 7), (10, "lab", 8), (10, "kitchen", 9)))
    board.advanced(1_234_567, 0.5)
    text = drawn(board)
    assert "1,234,567 rows read" in text
    assert "alarms  at 2026-01-01 00:00:10  level A  3 answers" in text
    assert [line.split() for line in text.splitlines()[3:6]] == [
        ["room", "n"],
        ["lab", "8"],
        ["kitchen", "9"],
    ]
    assert "waiting for the first answer" in text.partition("idle")[2]


def test_a_result_says_more_than_answers() -> None:
    board = Board(Screen(), "job.wql", ["alarms"])
    board.answered("alarms", answers((5, "lab", 7)))
    none = answers().select(["room", "n"])
    clock_us = round(AT.timestamp()) * 1_000_000 + 60_000_000
    standings = [Standing("alarms", clock_us, none, "B", 12)]
    board.stood(lambda: standings)  # too early: nobody looks yet
    assert "lab" in drawn(board)
    board.counted(pa.table({"stream": ["temp"], "late": [0], "bad_time": [0]}), {})
    text = drawn(board)
    assert "alarms  at 2026-01-01 00:01:00  level B  12 answers" in text
    assert "no rows now" in text
    assert "lab" not in text


def test_answers_are_shown_with_their_own_instant() -> None:
    board = Board(Screen(), "job.wql on Spark", ["alarms"])
    board.answered("alarms", answers((5, "lab", 7)))
    clock_us = round(AT.timestamp()) * 1_000_000 + 60_000_000
    board.stood(lambda: [Standing("alarms", clock_us, None, None, 1)])
    board.counted(pa.table({"stream": ["temp"], "late": [0], "bad_time": [0]}), {})
    assert "alarms  at 2026-01-01 00:00:05  level A  1 answer\n" in drawn(board)


def test_a_board_fits_the_terminal() -> None:
    board = Board(Screen(), "job.wql", ["a", "b"])
    many = pa.table({"text": ["long " * 40] * 500, "n": list(range(500))})
    for name in ("a", "b"):
        board.ended(name, many)
    for width, height in ((80, 24), (120, 50)):
        lines = drawn(board, width, height).splitlines()
        assert len(lines) <= height
        assert max(map(len, lines)) <= width
        assert "more rows" in lines[-1]


@pytest.mark.parametrize(("height", "shown"), [(1, "... and 2 more rows"), (2, ""), (3, "")])
def test_rows_beyond_are_counted(height: int, shown: str) -> None:
    console = Console(width=80)
    with console.capture() as capture:
        console.print(live_table(pa.table({"n": [1, 2, 3]}), height))
    assert ("more rows" in capture.get()) == bool(shown)
    assert shown in capture.get()


def test_time_that_has_not_begun_is_not_shown() -> None:
    assert shown_clock(None) == shown_clock(-(2**61)) == ""


def test_on_a_terminal_a_job_is_a_board(tmp_path: Path) -> None:
    write_job(tmp_path)
    with Terminal("run", "job.wql", "--embedded", folder=tmp_path) as terminal:
        assert terminal.ended() == 0
        last = terminal.shown.rpartition("job.wql")[2]
    assert "400 rows read" in last
    assert "alarms  at 2026-01-01 00:03:19  level A" in last
    assert "strength  at 2026-01-01 00:03:19" in last
    assert "alarms:" not in terminal.shown


def test_lines_can_be_asked_for_on_a_terminal(tmp_path: Path) -> None:
    write_job(tmp_path)
    with Terminal("run", "job.wql", "--embedded", "--lines", folder=tmp_path) as terminal:
        assert terminal.ended() == 0
    assert "alarms:" in terminal.shown
    assert "2026-01-01 00:00:40  kitchen    80" in terminal.shown


def test_ctrl_c_says_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_job(tmp_path)
    monkeypatch.chdir(tmp_path)
    advanced = JobView.advanced

    def interrupted(view: JobView, rows: int, fraction: float | None) -> None:
        advanced(view, rows, fraction)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(JobView, "advanced", interrupted)
    done = CliRunner().invoke(app, ["run", "job.wql", "--embedded", "--json"])
    assert done.exit_code == 130
    # The batch in flight was worked through: both streams have 200 rows, and one was read.
    assert events(done.stdout)[-1] == {"event": "interrupted", "rows": 200, "answers": 0}
    assert "Interrupted. Up to here: 200 rows, 0 answers." in done.stderr
