"""Who watches a job run: gets what is to be shown, and how far the job has come."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

__all__ = ["JobWatcher"]


class JobWatcher(Protocol):
    """What a runner tells while it runs; on Spark it may call from another thread."""

    def answered(self, query: str, answers: pa.Table) -> None:
        """New answers of a query whose sink is the console."""

    def ended(self, query: str, result: pa.Table) -> None:
        """The last result of a query whose sink is memory."""

    def advanced(self, rows: int, fraction: float | None) -> None:
        """So many rows were read, and which part of all that is; None where nobody knows."""

    def counted(self, ledger: pa.Table) -> None:
        """What became of every row, at the end."""
