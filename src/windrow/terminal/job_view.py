"""A running job on the terminal: answers as they come, then what became of the rows."""

from __future__ import annotations

import threading

import pyarrow as pa

from windrow.terminal.rows import as_json, as_lines
from windrow.terminal.screen import ProgressLine, Screen

__all__ = ["JobView"]

# Level and bound say something only once answers can be inexact.
_QUIET = ("level", "error_bound")
_SET_ASIDE = {
    "late": "came after the lateness of their stream",
    "bad_time": "had no time, or one outside the years 1 to 2199",
}


class JobView:
    """Shows what a runner tells; answers of one call stay together."""

    def __init__(self, screen: Screen, progress: ProgressLine) -> None:
        self._screen = screen
        self._progress = progress
        self._lock = threading.Lock()
        self._answers = 0

    def answered(self, query: str, answers: pa.Table) -> None:
        """Prints the answers, as a table or as one JSON object a row."""
        with self._lock:
            self._answers += answers.num_rows
            self._print(query, "answer", answers, f"{query}:")

    def ended(self, query: str, result: pa.Table) -> None:
        """Prints the last result."""
        with self._lock:
            self._print(query, "result", result, f"{query}, at the end:")

    def advanced(self, rows: int, fraction: float | None) -> None:
        """Moves the progress line."""
        self._progress.show(f"{rows:,} rows read, {self._answers:,} answers", fraction)

    def counted(self, ledger: pa.Table) -> None:
        """Tells of rows that were set aside; machines get the whole ledger."""
        aside: dict[tuple[str, str], int] = {}
        for row in ledger.to_pylist():
            self._screen.event("ledger", row)
            for name in _SET_ASIDE:
                # On Spark each query counts the rows of its streams: the same rows, told once.
                key = (row["stream"], name)
                aside[key] = max(aside.get(key, 0), row[name])
        for (stream, name), count in aside.items():
            if count:
                why = _SET_ASIDE[name]
                self._screen.note(
                    f"stream {stream}: {count:,} rows set aside, which {why}", "yellow"
                )

    def _print(self, query: str, kind: str, table: pa.Table, title: str) -> None:
        if self._screen.machine:
            self._screen.raw(as_json(table, event=kind, query=query))
            return
        shown = table.drop_columns([name for name in _QUIET if name in table.column_names])
        self._screen.line(title, "bold")
        self._screen.lines(as_lines(shown), "dim")
