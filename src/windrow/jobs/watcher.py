"""Who watches a job run: gets what is to be shown, and how far the job has come."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

__all__ = ["JobWatcher", "Standing"]


@dataclass(frozen=True)
class Standing:
    """How a query stands: the instant through which it has answered, and its answer there.

    result: None where the runner keeps none, as on Spark; level: None where nobody judges it;
    answers: rows of answers so far. operation: how its batches are getting on, in words.
    """

    query: str
    clock_us: int | None
    result: pa.Table | None
    level: str | None
    answers: int
    operation: str = ""


class JobWatcher(Protocol):
    """What a runner reports while it runs; on Spark it may call from another thread."""

    def answered(self, query: str, answers: pa.Table) -> None:
        """New answers of a query whose sink is the console."""

    def ended(self, query: str, result: pa.Table) -> None:
        """The last result of a query whose sink is memory."""

    def advanced(self, rows: int, fraction: float | None) -> None:
        """So many rows were read, and which part of all that is; None where nobody knows."""

    def stood(self, look: Callable[[], list[Standing]]) -> None:
        """Between two batches: an observer may now look at the state of each query."""

    def operated(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """How the job got on, at the end of one on Spark: a row for each query and history."""

    def counted(self, ledger: pa.Table, bad_rows: Mapping[str, pa.Table]) -> None:
        """What became of every row, at the end; by stream, some of those that are bad."""
