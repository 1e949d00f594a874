"""The leaves of a tree: what has windows. Rows in, changes of a relation out.

A window alone is scanned, here; any other block is a fused leaf.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.operators.partial import one_batch
from windrow.operators.relations.changes import Changes, Vector
from windrow.operators.relations.scan import WindowScan
from windrow.operators.relations.session_bounds import SessionBounds
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import lifetime_of, prepared_columns
from windrow.rows.prepared_rows import PreparedRows
from windrow.windows.lifetime import Lifetime
from windrow.windows.window import OperatorMark, Window

__all__ = ["Leaf", "ScanLeaf"]

_NO_INSTANTS: Vector = np.empty(0, np.int64)


class Leaf(ABC):
    """What a tree asks of a leaf; inputs are those of its own plan."""

    plan: QueryPlan

    @property
    def plans(self) -> tuple[QueryPlan, ...]:
        """What has windows, whose inputs are numbered one after the other."""
        return (self.plan,)

    def plan_of(self, input_index: int) -> tuple[QueryPlan, int]:
        """The plan that an input belongs to, and its number there."""
        return self.plan, input_index

    @property
    def entered(self) -> Vector:
        """The instants of the last step at which rows entered, where their times do not say it."""
        return _NO_INSTANTS

    @property
    def types(self) -> list[pa.DataType]:
        """Of the columns of its relation."""
        return [column.type.arrow for column in self.plan.select]

    @abstractmethod
    def append(self, rows: Mapping[int, PreparedRows]) -> None:
        """Rows of its inputs, all later than the clock, wait for it."""

    @abstractmethod
    def run(self, until: int) -> Changes:
        """What changes in its relation up to and including `until`."""

    @abstractmethod
    def held(self, at: int) -> Changes:
        """Its relation as it is, as if all rows had entered at that instant."""

    @property
    def holds_rows(self) -> bool:
        """Whether it has the rows of its windows, and not only sums of them."""
        return True

    @abstractmethod
    def input_rows(self, input_index: int) -> pa.RecordBatch:
        """The rows of an input, held and waiting, as prepared rows."""

    @property
    @abstractmethod
    def windows(self) -> tuple[Window, ...]:
        """The windows of its inputs."""

    @abstractmethod
    def mark(self, appending: Iterable[int]) -> Any:
        """How it is now; appending: the inputs whose rows are about to come."""

    @abstractmethod
    def keep(self, mark: Any) -> None:
        """The step since the mark is whole."""

    @abstractmethod
    def rewind(self, mark: Any) -> None:
        """Hold what was held at the mark."""

    @abstractmethod
    def saved(self) -> dict[str, pa.Table | pa.RecordBatch]:
        """Its rows, held and waiting, by input, as prepared rows."""

    @abstractmethod
    def load(self, tables: Mapping[str, pa.Table], clock: int) -> None:
        """Back from saved(), into a new leaf."""

    def load_rows(self, rows: Mapping[int, pa.Table], clock: int) -> None:  # noqa: ARG002
        """A new leaf at the clock from prepared rows in order of arrival, of windows of times.

        Rows that have left do no harm; those that the clock has not reached wait.
        """
        raise AssertionError(f"{type(self).__name__} has no rows of its own")

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of everything."""

    @abstractmethod
    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""

    def prepared(self, input_index: int, batch: pa.RecordBatch) -> PreparedRows:
        """Rows of an input that were saved or shuffled as a batch."""
        return prepared_columns(*self.plan_of(input_index)).rows(batch)

    def lifetime(self, input_index: int) -> Lifetime:
        """How long rows of an input stay."""
        plan, own = self.plan_of(input_index)
        return lifetime_of(plan.inputs[own].window)

    def next_stop(self, until: int, events: int) -> int:
        """How far it may go, at most to `until`, for about so many events of a window."""
        for window in self.windows:
            until = window.next_stop(until, events)
        return until

    @property
    def event_count(self) -> int:
        """A number that has grown by about one for each event meanwhile."""
        return sum(window.event_count for window in self.windows)

    def close(self) -> None:
        """Nothing is run any more."""
        return


class ScanLeaf(Leaf):
    """A window whose rows come and go as they are."""

    def __init__(
        self,
        plan: QueryPlan,
        grid_us: int,
        sessions: SessionBounds | None = None,
        *,
        by_number: bool = False,
    ) -> None:
        self.plan = plan
        self._grid_us, self._sessions, self._by_number = grid_us, sessions, by_number
        self._scan = self._empty()
        self._ran_until = START_OF_TIME

    def _empty(self) -> WindowScan:
        grid_us, sessions = self._grid_us, self._sessions
        return WindowScan(self.plan, grid_us, sessions, by_number=self._by_number)

    @property
    def entered(self) -> Vector:
        """When rows entered that had waited for others."""
        return self._scan.entered

    def append(self, rows: Mapping[int, PreparedRows]) -> None:
        """Rows wait for the clock."""
        for each in rows.values():
            self._scan.append(each)

    def run(self, until: int) -> Changes:
        """The rows that enter and leave."""
        self._ran_until = until
        return self._scan.run(until)

    def held(self, at: int) -> Changes:
        """The rows in the window."""
        return self._scan.held(at)

    def input_rows(self, input_index: int) -> pa.RecordBatch:
        """Those of the scan."""
        assert input_index == 0
        return self._scan.rows()

    @property
    def windows(self) -> tuple[Window, ...]:
        """The one window."""
        return (self._scan.window,)

    def mark(self, appending: Iterable[int]) -> tuple[WindowScan, OperatorMark, int]:
        """The window as it is."""
        del appending
        return self._scan, OperatorMark(self.windows), self._ran_until

    def keep(self, mark: tuple[WindowScan, OperatorMark, int]) -> None:
        """The step is whole."""
        mark[1].keep()

    def rewind(self, mark: tuple[WindowScan, OperatorMark, int]) -> None:
        """A new scan from the rows that the window held and that waited."""
        scan, window, self._ran_until = mark
        window.rewind()
        rows = scan.rows()
        self._scan = self._with(rows, held=scan.window.kept().size)

    def _with(self, rows: pa.RecordBatch, held: int) -> WindowScan:
        """A scan that holds the first rows, and for which the others wait."""
        prepared = prepared_columns(self.plan, 0)
        scan = self._empty()
        scan.append(prepared.rows(rows.slice(0, held)))
        if self.plan.inputs[0].window.traits.is_scheduled:
            scan.run(self._ran_until)
        elif held:
            last = int(scan.window.columns.times[scan.window.columns.end - 1])
            entered = int(self.lifetime(0).enter(np.array([last]))[0])
            scan.run(entered)
        scan.append(prepared.rows(rows.slice(held)))
        return scan

    def saved(self) -> dict[str, pa.Table | pa.RecordBatch]:
        """The rows of the window."""
        return {"0": self._scan.rows()}

    def load(self, tables: Mapping[str, pa.Table], clock: int) -> None:
        """Those that the clock has passed and that have not left are held."""
        self.load_rows({0: tables["0"]}, clock)

    def load_rows(self, rows: Mapping[int, pa.Table], clock: int) -> None:
        """The same of rows by input."""
        if 0 in rows:
            self._take(prepared_columns(self.plan, 0).rows(one_batch(rows[0])), clock)
        self.run(clock)

    def _take(self, rows: PreparedRows, clock: int) -> None:
        if self.plan.inputs[0].window.traits.leaves_by_time:
            rows = rows.filtered(self.lifetime(0).leave(rows.times) > clock)
        self._scan.append(rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the window and its texts."""
        return self._scan.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes beside the window."""
        return self._scan.growth_bytes(rows)
