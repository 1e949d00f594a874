"""A shell that nobody types into: statements and commands from a pipe, until the first error."""

from __future__ import annotations

from typing import TextIO

from windrow.apps.shell.commands import run_command
from windrow.apps.shell.desk import Desk
from windrow.apps.shell.splitting import is_plain_word, split
from windrow.apps.shell.statements import run_statement
from windrow.apps.shell.waiting import wait_until_read
from windrow.errors import WindrowError

__all__ = ["run_lines", "run_text"]


def run_text(desk: Desk, text: str) -> None:
    """One statement or command."""
    if text.startswith("\\"):
        run_command(desk, text)
    elif is_plain_word(text):
        run_command(desk, "\\" + text.strip().lower())
    else:
        run_statement(desk, text)


def run_lines(desk: Desk, lines: TextIO) -> None:
    """All statements; each sees the files of the one before read to their end."""
    statements, rest = split(lines.read())
    _wait_for_files(desk)
    for text in [*statements, *filter(None, [rest])]:
        run_text(desk, text)
        _wait_for_files(desk)
        if desk.is_left:
            return


def _wait_for_files(desk: Desk) -> None:
    """Waits for files, and raises what has gone wrong with them."""
    if not wait_until_read(desk.screen, desk.bench):
        raise KeyboardInterrupt
    if desk.bench.problems:
        problem: WindrowError = desk.bench.problems[0]
        desk.bench.problems.clear()
        raise problem
