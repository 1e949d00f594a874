"""An operator holds the windows of a query in a shard and keeps its aggregates by one algorithm.

Every operator of a query gives the same answers, and each can be made from the rows of another:
that is how a running query changes its algorithm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from windrow.operators.lanes import LaneLayout
from windrow.operators.partial import Partial
from windrow.rows.prepared_rows import PreparedColumns, PreparedRows
from windrow.windows.codes import Codes
from windrow.windows.lifetime import Lifetime
from windrow.windows.window import OperatorMark, Window

__all__ = [
    "NeedsCellsError",
    "NeedsPairsError",
    "NeedsSingleRowsError",
    "Operator",
    "WorkDone",
    "growth_by_rows",
]

# While fewer rows come than this part of those held, arrays that double have mostly room.
FREE_PARTS = 8


class NeedsSingleRowsError(Exception):
    """Sums have become so large that weighted rows must be expanded."""


class NeedsCellsError(Exception):
    """Rows are better kept in cells, or sums have become so large; the operator has taken none.

    Never seen by users: the shard goes on with an operator that has cells.
    """


class NeedsPairsError(Exception):
    """Rows came that only an algorithm on joined rows can take; the operator has taken none.

    Never seen by users: the shard changes its algorithm.
    """


@dataclass(frozen=True)
class WorkDone:
    """What an operator has measured since it began, for the cost model.

    rows: entered, per input. probes: rows that were looked up in other windows; matches: joined
    rows that this found, before any condition other than equality; kept: those that the conditions
    kept.
    """

    rows: tuple[int, ...]
    probes: int = 0
    matches: int = 0
    kept: int = 0


class Operator(ABC):
    """What a shard asks of an operator.

    It takes changes: rows that enter its windows, in order of arrival, all later than the clock,
    and that leave them by themselves as time goes on. It gives changes: the states of groups at the
    instants at which they changed. advance() takes batches and step() one row; both leave the same
    state and give the same states.
    """

    # Whether a row may stand for several equal ones.
    takes_weights = False

    def __init__(self, windows: Iterable[Window], columns: Iterable[PreparedColumns]) -> None:
        self._windows, self._columns = tuple(windows), tuple(columns)

    @abstractmethod
    def append(self, input_index: int, rows: PreparedRows) -> None:
        """Take rows and let them wait for the clock."""

    @abstractmethod
    def run(self, until: int) -> Partial:
        """Run the windows up to and including `until`."""

    def advance(self, changes: Mapping[int, PreparedRows], until: int) -> Partial:
        """Take the rows of inputs, and run to `until`."""
        for input_index, rows in changes.items():
            self.append(input_index, rows)
        return self.run(until)

    def step(
        self, at: int, input_index: int, weight: int,
        plain: Sequence[object], values: Sequence[object], until: int,
    ) -> Partial:  # fmt: skip
        """Take one row, as scalars, and run to `until`: what advance() does with a batch of one.

        plain: its key, groups and whatever else is kept in its own type; values: what aggregates
        read. weight: for how many equal rows it stands.
        """
        row = self._columns[input_index].one_row(at, plain, values, weight)
        return self.advance({input_index: row if self.takes_weights else row.expanded()}, until)

    def change_lifetime(self, input_index: int, lifetime: Lifetime) -> None:
        """Rows of the input leave by this lifetime from now on; those that left stay away."""
        self._windows[input_index].change_lifetime(lifetime)

    def close(self) -> None:
        """Another operator has taken over; most hold nothing outside."""
        return

    def mark(self) -> OperatorMark:
        """How its rows are now, for a step that may fail."""
        return OperatorMark(self._windows)

    @abstractmethod
    def put_out_all(self, at: int) -> None:
        """Put out every live group at this later instant: for output on a grid after a rebuild."""

    @abstractmethod
    def rows(self, input_index: int) -> pa.RecordBatch:
        """The rows held and waiting, as prepared rows in their order: all that a rebuild needs."""

    @property
    def is_endless(self) -> bool:
        """Whether rows never leave: then sums() holds what they left behind."""
        return False

    def sums(self) -> tuple[dict[str, Any], pa.Table]:
        """Of an endless operator: the layout of the sums, and the groups with theirs."""
        raise AssertionError("its rows leave: rows() is all that there is")

    def load_sums(self, table: pa.Table, layout: LaneLayout) -> Codes:
        """Back from sums(), into a new operator; returns the codes of the groups."""
        raise AssertionError(f"its rows leave, and are not {table.num_rows} sums of {layout}")

    def live_columns(self) -> tuple[list[pa.Array], int]:
        """Of a select that is followed by its changes: what it shows now, in any order.

        The columns of the select list but constants, and how many rows there are.
        """
        raise AssertionError("its rows are known to whoever takes its updates")

    def row_counts(self) -> list[int]:
        """Rows held, per input."""
        return [window.row_count for window in self._windows]

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of all inputs."""
        return self._windows

    def window_bytes(self) -> list[int]:
        """Bytes of each input's rows."""
        return [window.nbytes for window in self._windows]

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of everything: windows, codes, sums, indexes."""

    def growth_bytes(self, rows: int) -> int:
        """Bytes next to the windows that so many rows may need at most, for a moment too."""
        beside = self.nbytes - sum(window.nbytes for window in self._windows)
        return growth_by_rows(beside, sum(self.row_counts()), rows)

    @abstractmethod
    def joined_rows(self) -> int:
        """Joined rows that are live (rows of the window, where there is one)."""

    @abstractmethod
    def work_done(self) -> WorkDone:
        """What was measured so far."""


def growth_by_rows(beside: int, held: int, rows: int) -> int:
    """What rows need that bring indexes and slots with them: these double when they are full."""
    return 2 * beside if rows > held // FREE_PARTS else 2 * beside * rows // max(held, 1)
