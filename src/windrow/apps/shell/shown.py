"""What a shell shows: rows for people or machines, and what was done."""

from __future__ import annotations

import pyarrow as pa

from windrow.apps.terminal.json_rows import as_json
from windrow.apps.terminal.live_table import live_table
from windrow.apps.terminal.rows import as_lines
from windrow.apps.terminal.screen import Screen

__all__ = ["show_done", "show_newest", "show_rows", "show_text"]

ROWS_ON_A_TERMINAL = 100


def show_newest(screen: Screen, kind: str, rows: pa.Table, ever: int, **more: str) -> None:
    """Rows, the newest last: of many, a terminal gets those; ever: how many there have been."""
    if screen.is_live:
        rows = rows.slice(max(0, rows.num_rows - ROWS_ON_A_TERMINAL))
    last_line = f", the newest of {ever:,}" if ever > rows.num_rows else ""
    show_rows(screen, kind, rows, last_line, **more)


def show_rows(screen: Screen, kind: str, rows: pa.Table, last_line: str = "", **more: str) -> None:
    """A table; a terminal gets its first rows, files and machines get all."""
    if screen.machine:
        screen.raw(as_json(rows, event=kind, **more))
        return
    if rows.num_rows and screen.is_live:
        screen.drawing(live_table(rows, ROWS_ON_A_TERMINAL))
    elif rows.num_rows:
        screen.lines(as_lines(rows))
    count = f"{rows.num_rows:,} row{'s' * (rows.num_rows != 1)}"
    screen.note(f"({count}{last_line})")


def show_text(screen: Screen, kind: str, text: str, name: str | None = None) -> None:
    """A text of several lines, such as a plan."""
    screen.event(kind, {"query": name, "text": text})
    screen.text(text)


def show_done(screen: Screen, text: str, **facts: object) -> None:
    """What a statement has done, in one line."""
    screen.event("done", facts)
    screen.line(text, "green")
