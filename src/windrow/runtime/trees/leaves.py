"""The leaves of a tree: what has windows. Rows in, changes of a relation out.

A window alone is scanned; any other block is a shard of its own with its publisher.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.errors import DataError
from windrow.event_time import START_OF_TIME
from windrow.operators.partial import one_batch
from windrow.operators.relations.changes import Changes, Vector, merged_changes, no_changes
from windrow.operators.relations.scan import WindowScan
from windrow.operators.relations.session_bounds import SessionBounds
from windrow.output.publish import Publisher, PublisherMark
from windrow.plan.model import QueryPlan
from windrow.plan.relations.blocks import Block, SessionBlock
from windrow.rows.faults import FaultError
from windrow.rows.prepare import lifetime_of, prepared_columns
from windrow.rows.prepared_rows import PreparedRows
from windrow.runtime.shard import Shard, ShardMark
from windrow.windows.lifetime import Lifetime
from windrow.windows.window import OperatorMark, Window

__all__ = ["FusedLeaf", "Leaf", "leaf_of"]

_NO_INSTANTS: Vector = np.empty(0, np.int64)


def leaf_of(block: Block, grid_us: int) -> Leaf:
    """An empty leaf; grid_us > 1: its relation changes at multiples of it only."""
    if isinstance(block, SessionBlock):
        gap_us = block.plan.inputs[0].window.length_us
        return ScanLeaf(block.plan, grid_us, SessionBounds(block.mode, gap_us, block.bounds))
    return ScanLeaf(block.plan, grid_us) if block.is_scan else FusedLeaf(block.plan, grid_us)


class Leaf(ABC):
    """What a tree asks of a leaf; inputs are those of its own plan."""

    plan: QueryPlan

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

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of everything."""

    @abstractmethod
    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""

    def prepared(self, input_index: int, batch: pa.RecordBatch) -> PreparedRows:
        """Rows of an input that were saved or shuffled as a batch."""
        return prepared_columns(self.plan, input_index).rows(batch)

    def lifetime(self, input_index: int) -> Lifetime:
        """How long rows of an input stay."""
        return lifetime_of(self.plan.inputs[input_index].window)

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
        self, plan: QueryPlan, grid_us: int, sessions: SessionBounds | None = None
    ) -> None:
        self.plan = plan
        self._grid_us, self._sessions = grid_us, sessions
        self._scan = WindowScan(plan, grid_us, sessions)
        self._ran_until = START_OF_TIME

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
        scan = WindowScan(self.plan, self._grid_us, self._sessions)
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
        prepared = prepared_columns(self.plan, 0)
        rows = prepared.rows(one_batch(tables["0"]))
        if self.plan.inputs[0].window.traits.leaves_by_time:
            rows = rows.filtered(self.lifetime(0).leave(rows.times) > clock)
        self._scan.append(rows)
        self.run(clock)

    @property
    def nbytes(self) -> int:
        """Bytes of the window and its texts."""
        return self._scan.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes beside the window."""
        return self._scan.growth_bytes(rows)


class FusedLeaf(Leaf):
    """A block that a shard runs; the changes of its result are those of the relation."""

    def __init__(self, plan: QueryPlan, grid_us: int) -> None:
        self.plan = plan
        self._grid_us = grid_us
        self._shard = Shard(plan, grid_us)
        self._publisher = Publisher(plan)
        # An aggregate without groups has a row before anything has come.
        self._shows_nothing: bool | None = None

    @property
    def algorithm(self) -> str:
        """The algorithm that it runs by now."""
        return self._shard.algorithm

    @property
    def _is_whole(self) -> bool:
        return self.plan.kind == "aggregate" and not self.plan.group_by

    def append(self, rows: Mapping[int, PreparedRows]) -> None:
        """Rows wait for the clock."""
        self._shard.append(rows)

    def run(self, until: int) -> Changes:
        """What changes in the result."""
        parts = []
        if self._is_whole and self._shows_nothing is None:
            parts.append(self._nothing(START_OF_TIME, 1))
            self._shows_nothing = True
        partial = self._shard.advance({}, until)
        self._publisher.absorb([(0, partial)], _NO_INSTANTS, until)
        self._publisher.drop_answers()
        found = self._told()
        if found.size and self._shows_nothing:
            parts.append(self._nothing(int(found.at[0]), -1))
            self._shows_nothing = False
        return merged_changes([*parts, found], self.types)

    def _nothing(self, at: int, weight: int) -> Changes:
        """The row of an aggregate over nothing, which comes or goes."""
        table = Publisher(self.plan).result()
        return replace(_changes_of(table, at), weight=np.array([weight], np.int64))

    def _told(self) -> Changes:
        try:
            table = self._publisher.changes()
        except DataError as error:
            # A group without a value (a sum beyond its digits) leaves the relation without a row.
            raise FaultError(error.code, error.message, hint=error.hint) from None
        if not table.num_rows:
            return no_changes(self.types)
        at, change, *columns = (column.combine_chunks() for column in table.columns)
        weight = change.to_numpy(zero_copy_only=False).astype(np.int64)
        return Changes(at.cast(pa.int64()).to_numpy(), weight, tuple(columns))

    def held(self, at: int) -> Changes:
        """The result."""
        return _changes_of(self._publisher.result(), at)

    @property
    def holds_rows(self) -> bool:
        """Not those of UNBOUNDED aggregates."""
        return bool(self._shard.held_inputs())

    def input_rows(self, input_index: int) -> pa.RecordBatch:
        """Those of the shard."""
        return self._shard.input_rows(self.plan, input_index)

    @property
    def windows(self) -> tuple[Window, ...]:
        """Those of the shard."""
        return self._shard.windows

    def mark(self, appending: Iterable[int]) -> tuple[ShardMark, PublisherMark, bool | None]:
        """The shard, and what it has published."""
        return self._shard.mark(appending), self._publisher.mark(), self._shows_nothing

    def keep(self, mark: tuple[ShardMark, PublisherMark, bool | None]) -> None:
        """The step is whole."""
        self._shard.keep(mark[0])

    def rewind(self, mark: tuple[ShardMark, PublisherMark, bool | None]) -> None:
        """Back to the mark."""
        shard, publisher, self._shows_nothing = mark
        self._publisher.rewind(publisher)
        self._shard.rewind(shard)
        self._shard.keep(shard)

    def saved(self) -> dict[str, pa.Table | pa.RecordBatch]:
        """The shard and the publisher, as bytes."""
        begun = {"begun": [self._shows_nothing]}
        return {
            "shard": _as_table(self._shard.snapshot()),
            "publisher": _as_table(self._publisher.snapshot()),
            "begun": pa.table(begun, schema=pa.schema([("begun", pa.bool_())])),
        }

    def load(self, tables: Mapping[str, pa.Table], clock: int) -> None:
        """Back from saved()."""
        del clock
        self._shard = Shard.restore(self.plan, _bytes_of(tables["shard"]), self._grid_us)
        self._publisher = Publisher.restore(self.plan, _bytes_of(tables["publisher"]))
        self._shows_nothing = tables["begun"].column(0)[0].as_py()

    @property
    def nbytes(self) -> int:
        """Bytes of windows, sums and the result."""
        return self._shard.nbytes + self._publisher.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes beside the windows."""
        return self._shard.growth_bytes(rows) + self._publisher.growth_bytes(rows)

    def close(self) -> None:
        """Nothing is run any more."""
        self._shard.close()


def _changes_of(table: pa.Table, at: int) -> Changes:
    size = table.num_rows
    columns = tuple(column.combine_chunks() for column in table.columns)
    return Changes(np.full(size, at, np.int64), np.ones(size, np.int64), columns)


def _as_table(data: bytes) -> pa.Table:
    return pa.table({"bytes": pa.array([data], pa.large_binary())})


def _bytes_of(table: pa.Table) -> bytes:
    data: bytes = table.column(0)[0].as_py()
    return data
