"""Looks at a statement while it is typed: what is wrong with it, and where."""

from __future__ import annotations

from windrow.apps.shell.splitting import is_plain_word
from windrow.apps.shell.workbench import Workbench
from windrow.errors import QuerySyntaxError, WindrowError
from windrow.jobs.job import with_statement
from windrow.sql import parse_script

__all__ = ["Checker"]

CHARACTERS_LIMIT = 4_000  # a longer text is checked when it is run


class Checker:
    """Reads and binds what is typed against all that is declared; nothing runs."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._checked: tuple[str, int] | None = None
        self._error: WindrowError | None = None

    def error(self, text: str) -> WindrowError | None:
        """What is wrong with the text; nothing with one that is only not yet at its end."""
        # What is declared changes with statements, so that their number tells what was seen.
        job = self._bench.job
        key = (text, id(job))
        if key != self._checked:
            self._checked, self._error = key, self._found(text)
        return self._error

    def wrong_part(self, text: str, cursor: int) -> tuple[int, int] | None:
        """Where the wrong word begins and ends; None while the cursor is still in it."""
        error = self.error(text)
        if error is None or error.place is None:
            return None
        start = _offset(text, error.place.line, error.place.column)
        end = start + error.place.length
        return None if start <= cursor <= end else (start, end)

    def _found(self, text: str) -> WindrowError | None:
        is_statement = text.strip() and not text.lstrip().startswith("\\")
        if not is_statement or is_plain_word(text) or len(text) > CHARACTERS_LIMIT:
            return None
        try:
            job = self._bench.job
            for statement in parse_script(text):
                job = with_statement(job, statement)
        except WindrowError as error:
            return None if _is_at_the_end(error, text) else error
        return None


def _is_at_the_end(error: WindrowError, text: str) -> bool:
    """Whether more text may mend it: a text never ends while somebody types."""
    place = error.place
    if place is None:
        return not text.rstrip().endswith(";")
    end = _offset(text, place.line, place.column) + place.length
    is_open = isinstance(error, QuerySyntaxError) and error.code == "WS106"
    return is_open or end >= len(text.rstrip())


def _offset(text: str, line: int, column: int) -> int:
    lines = text.split("\n")
    return sum(len(each) + 1 for each in lines[: line - 1]) + column - 1
