"""Queries as tables that are drawn again in place, until a key is pressed."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Group, RenderableType
from rich.text import Text

from windrow.apps.shell.workbench import Workbench
from windrow.apps.terminal.board import shown_answers, shown_clock
from windrow.apps.terminal.live_table import live_table, query_heading
from windrow.apps.terminal.screen import Screen
from windrow.jobs.watcher import Standing

__all__ = ["watch"]

POLL_S = 0.1
LEAST_ROWS = 3
KEY_BYTES = 64  # an arrow is several


def watch(screen: Screen, bench: Workbench, names: Sequence[str]) -> None:
    """Shows how the queries stand, a few times a second, until a key or Ctrl-C."""

    def drawn(width: int, height: int) -> RenderableType:  # noqa: ARG001 - tables cut themselves
        return _drawn(bench, bench.standings(names), height)

    try:
        with _keys_come_at_once(), screen.live(drawn):
            while not select.select([sys.stdin], [], [], POLL_S)[0]:
                continue
            os.read(sys.stdin.fileno(), KEY_BYTES)
    except KeyboardInterrupt:
        return


def _drawn(bench: Workbench, standings: list[Standing], height: int) -> RenderableType:
    # Above each table a heading, names and an empty line, below it one for rows beyond.
    rows = max(LEAST_ROWS, (height - 2) // max(1, len(standings)) - 4)
    parts: list[RenderableType] = []
    for standing in standings:
        level = f"level {standing.level}" if standing.level else ""
        facts = [shown_clock(standing.clock_us), level, shown_answers(standing.answers)]
        parts += [query_heading(standing.query, facts), live_table(standing.result, rows), Text()]
    return Group(*parts, Text(f"{bench.rows:,} rows; any key ends the watch", "dim italic"))


@contextmanager
def _keys_come_at_once() -> Iterator[None]:
    """The terminal gives each key as it is pressed, and does not show it."""
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, before)
