"""A running job as lines: answers as they come, then what became of the rows."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from windrow.apps.terminal.json_rows import as_json
from windrow.apps.terminal.rows import as_lines
from windrow.apps.terminal.rows_set_aside import tell_of_rows_set_aside
from windrow.apps.terminal.screen import ProgressLine, Screen
from windrow.jobs.operation_words import operation_words
from windrow.jobs.watcher import Standing

__all__ = ["JobView"]

# Level and bound say something only once answers can be inexact.
_QUIET = ("level", "error_bound")


class JobView:
    """Shows what a runner reports; answers of one call stay together."""

    def __init__(self, screen: Screen, progress: ProgressLine) -> None:
        self._screen = screen
        self._progress = progress
        self._lock = threading.Lock()
        self._answers = 0
        self._rows = 0

    @property
    def done(self) -> dict[str, int]:
        """What has been done so far."""
        return {"rows": self._rows, "answers": self._answers}

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
        self._rows = rows
        self._progress.show(f"{rows:,} rows read, {self._answers:,} answers", fraction)

    def stood(self, look: Callable[[], list[Standing]]) -> None:
        """Lines tell of answers, not of how queries stand."""

    def operated(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Tells machines all of it, and people how long batches took."""
        for row in rows:
            if self._screen.machine:
                self._screen.raw([json.dumps({"event": "operation", **row})])
            elif row["batches"]:
                words = operation_words(row["batch_p50_ms"], row["batch_p95_ms"], row["busy"])
                self._screen.line(f"{row['query']}: {words}", "dim")

    def counted(self, ledger: pa.Table, bad_rows: Mapping[str, pa.Table]) -> None:
        """Tells of rows that were set aside; machines get the whole ledger."""
        tell_of_rows_set_aside(self._screen, ledger, bad_rows)

    def _print(self, query: str, kind: str, table: pa.Table, title: str) -> None:
        if self._screen.machine:
            self._screen.raw(as_json(table, event=kind, query=query))
            return
        shown = table.drop_columns([name for name in _QUIET if name in table.column_names])
        self._screen.line(title, "bold")
        self._screen.lines(as_lines(shown), "dim")
