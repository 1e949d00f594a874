"""A watcher of a job for those who look by themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from windrow.jobs.watcher import JobWatcher, Standing

__all__ = ["QuietWatcher"]


class QuietWatcher(JobWatcher):
    """Does nothing: answers are in the console, and in sinks."""

    def answered(self, query: str, answers: pa.Table) -> None:
        """Nothing."""

    def ended(self, query: str, result: pa.Table) -> None:
        """Nothing."""

    def advanced(self, rows: int, fraction: float | None) -> None:
        """Nothing."""

    def stood(self, look: Callable[[], list[Standing]]) -> None:
        """Nothing."""

    def operated(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Nothing."""

    def counted(self, ledger: pa.Table, bad_rows: Mapping[str, pa.Table]) -> None:
        """Nothing."""
