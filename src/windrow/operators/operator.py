"""An operator holds the windows of a query in a shard and keeps its aggregates by one algorithm.

Every operator of a query gives the same answers, and each can be made from the rows of another:
that is how a running query changes its algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from windrow.operators.partial import Partial
from windrow.windows.lifetime import Lifetime
from windrow.windows.window import Window, WindowMark

__all__ = [
    "NeedsPairsError",
    "NeedsSingleRowsError",
    "Operator",
    "OperatorMark",
    "WorkDone",
    "growth_by_rows",
]

# While fewer rows come than this part of those held, arrays that double have mostly room.
FREE_PARTS = 8


class NeedsSingleRowsError(Exception):
    """Sums have become so large that weighted rows must be expanded."""


class NeedsPairsError(Exception):
    """Rows came that only an algorithm on joined rows can take; the operator has taken none.

    Never seen by users: the shard changes its algorithm.
    """


class OperatorMark:
    """How the windows of an operator were before a step.

    An operator that was rolled back can only return its rows: sums, indexes and
    codes are what the step that failed has left. The codes of rows that left since the mark still
    have their meaning, as none is given to another key before rows come in again.
    """

    def __init__(self, windows: Sequence[Window]) -> None:
        self._windows: list[tuple[Window, WindowMark]] = [(each, each.mark()) for each in windows]

    def rewind(self) -> None:
        """Let the windows hold what they held."""
        for window, mark in self._windows:
            window.rewind(mark)

    def keep(self) -> None:
        """The step is whole."""
        for window, _ in self._windows:
            window.keep()


@dataclass(frozen=True)
class WorkDone:
    """What an operator has measured since it began, for the cost model.

    rows: entered, per side. probes: rows that were looked up in other windows; matches: joined rows
    that this found, before any condition other than equality; kept: those that the conditions kept.
    """

    rows: tuple[int, ...]
    probes: int = 0
    matches: int = 0
    kept: int = 0


class Operator(Protocol):
    """What a shard asks of an operator."""

    def append(self, side: int, rows: pa.RecordBatch) -> None:
        """Take prepared rows in order of arrival, all later than the clock."""

    def advance(self, until: int) -> Partial:
        """Run the windows up to and including `until`."""

    def change_lifetime(self, side: int, lifetime: Lifetime) -> None:
        """Rows of the side leave by this lifetime from now on; those that left stay away."""

    def close(self) -> None:
        """Another operator has taken over."""

    def mark(self) -> OperatorMark:
        """How its rows are now, for a step that may fail."""

    def touch_all(self, at: int) -> None:
        """Put out every live group at this later instant: for output on a grid after a rebuild."""

    def rows(self, side: int) -> pa.RecordBatch:
        """The rows held and waiting, as prepared rows in their order: all that a rebuild needs."""

    def row_counts(self) -> list[int]:
        """Rows held, per side."""

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of all sides."""

    def window_bytes(self) -> list[int]:
        """Bytes of each side's rows."""

    @property
    def nbytes(self) -> int:
        """Bytes of everything: windows, codes, sums, indexes."""

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""

    def joined_rows(self) -> int:
        """Joined rows that are live (rows of the window, where there is one)."""

    def work_done(self) -> WorkDone:
        """What was measured so far."""


def growth_by_rows(beside: int, held: int, rows: int) -> int:
    """What rows need that bring indexes and slots with them: these double when they are full."""
    return 2 * beside if rows > held // FREE_PARTS else 2 * beside * rows // max(held, 1)
