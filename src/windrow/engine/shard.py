"""The shard: the windows of one query for one slice of the keys. Rows in, touches out.

Time is an argument. No clock, no thread, no I/O, no randomness: the same rows in the same order
give the same bytes, however they were cut into batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.engine.coding import Coding, value_columns, value_words
from windrow.engine.frames import pack, unpack
from windrow.engine.partial import Partial, one_batch
from windrow.engine.prepare import Preparer, lifetime_of
from windrow.engine.shape import shape_of
from windrow.errors import CheckpointError
from windrow.event_time import START_OF_TIME
from windrow.joins import kernels
from windrow.joins.factorised import SINGLE, FactorisedAggregate
from windrow.joins.lanes import LaneLayout
from windrow.joins.touches import Touches
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import PlanInput, QueryPlan
from windrow.windows.eviction import LastRows, LastRowsByPartition
from windrow.windows.kernels import renumber
from windrow.windows.window import Window

__all__ = ["Shard"]


class Shard:
    """Keeps a plan's windows and aggregates; grid_us > 1 puts out only states at its multiples."""

    def __init__(self, plan: QueryPlan, grid_us: int = 1) -> None:
        self.plan = plan
        self.clock = START_OF_TIME
        self._grid_us = grid_us
        self._shape = shape_of(plan)
        self._windows = tuple(
            _window(entry, len(side.values))
            for entry, side in zip(plan.inputs, self._shape.sides, strict=True)
        )
        self._coding = Coding(self._shape)
        self._aggregate = FactorisedAggregate(self._windows, self._shape.kinds, self._shape.mode)
        if self._shape.mode in (kernels.WHOLE, SINGLE):
            self._aggregate.reserve(0, 1)
        self._seen = np.zeros(0, np.int64)
        self._stamp = 1

    def advance(self, batches: Mapping[int, pa.RecordBatch], until: int) -> Partial:
        """Take prepared rows, all later than the clock, and run to `until`, inclusive."""
        for side, rows in batches.items():
            self._append(side, rows)
        self.clock = max(self.clock, until)
        touches = self._aggregate.advance(self.clock, self._grid_us)
        partial = self._partial(touches)
        self._let_go(touches)
        return partial

    def snapshot(self) -> bytes:
        """All rows that are held or wait, as prepared rows; everything else follows from them."""
        header: dict[str, Any] = {"fingerprint": fingerprint(self.plan), "clock": self.clock}
        tables = {str(side): self._rows(side) for side in range(len(self._windows))}
        if self._windows[0].is_endless:
            header["layout"], tables["sums"] = self._sums()
        return pack("shard", header, tables)

    @classmethod
    def restore(cls, plan: QueryPlan, data: bytes, grid_us: int = 1) -> Shard:
        """The shard that snapshot() saved."""
        header, tables = unpack("shard", data)
        if header["fingerprint"] != fingerprint(plan):
            raise CheckpointError(
                "WC105",
                "the saved state belongs to another query",
                hint="start the changed query with a new checkpoint",
            )
        sums = tables.pop("sums", None)
        rows = {int(side): table for side, table in tables.items()}
        if sums is None:
            return cls.rebuild(plan, rows, header["clock"], grid_us)
        shard = cls(plan, grid_us)
        shard._load_sums(sums, LaneLayout.from_json(header["layout"]))
        batches = {side: one_batch(table) for side, table in rows.items()}
        shard.advance(batches, header["clock"])
        shard._show_all_on_grid()
        return shard

    @classmethod
    def rebuild(
        cls, plan: QueryPlan, rows: Mapping[int, pa.Table], clock: int, grid_us: int = 1
    ) -> Shard:
        """A shard at `clock` from prepared rows in order of arrival; rows that left do no harm."""
        shard = cls(plan, grid_us)
        batches = {
            side: _still_held(one_batch(table), plan.inputs[side], clock)
            for side, table in rows.items()
        }
        shard.advance(batches, clock)
        shard._show_all_on_grid()
        return shard

    def _show_all_on_grid(self) -> None:
        """Which groups changed since the last grid instant is unknown after a rebuild: take all."""
        if self._grid_us > 1:
            self._aggregate.touch_all(-(-self.clock // self._grid_us) * self._grid_us)

    def _sums(self) -> tuple[dict[str, Any], pa.Table]:
        """The groups of a window whose rows never leave: their columns, counts and lanes."""
        codes, count, lanes, layout = self._aggregate.states()
        columns = self._coding.group_columns(codes, self._aggregate)
        named = {f"g{i}": column for i, column in enumerate(columns)}
        named |= {f"lane{i}": pa.array(lanes[:, i].copy()) for i in range(lanes.shape[1])}
        return layout.to_json(), pa.table({"count": pa.array(count), **named})

    def _load_sums(self, table: pa.Table, layout: LaneLayout) -> None:
        count = table.column("count").to_numpy()
        lanes = np.zeros((count.size, layout.lane_count), np.int64)
        for lane in range(layout.lane_count):
            lanes[:, lane] = table.column(f"lane{lane}").to_numpy()
        codes = self._coding.acquire(0, one_batch(table), self._aggregate)
        self._aggregate.load_states(codes, count, lanes, layout)

    def window_statistics(self) -> list[tuple[int, int, int]]:
        """Per input: its position, rows held, bytes (rows, and its part of keys and sums)."""
        beside = (self._coding.nbytes + self._aggregate.nbytes) // len(self._windows)
        return [
            (side, window.row_count, window.nbytes + beside)
            for side, window in enumerate(self._windows)
        ]

    @property
    def nbytes(self) -> int:
        """Bytes of windows, codes and sums."""
        held = sum(window.nbytes for window in self._windows)
        return held + self._coding.nbytes + self._aggregate.nbytes

    def _append(self, side: int, rows: pa.RecordBatch) -> None:
        if rows.num_rows == 0:
            return
        times = rows.column("ts").to_numpy()
        values, valid = value_words(rows)
        self._aggregate.admit(side, values, valid)
        cells = self._coding.acquire(side, rows, self._aggregate)
        partitions = self._coding.acquire_partitions(side, rows)
        self._windows[side].append(times, cells, values, valid, partitions)

    def _partial(self, touches: Touches) -> Partial:
        codes = touches.group
        if not self._shape.group_places:
            none = pa.RecordBatch.from_arrays([], names=[])
            return Partial(touches.at, codes, touches.count, touches.lanes, touches.layout, none, 1)
        highest = int(codes.max(initial=-1)) + 1
        if highest > self._seen.size:
            self._seen = np.zeros(2 * highest, np.int64)
        entity = np.empty(codes.size, np.int32)
        unique = np.empty(codes.size, np.int32)
        count = int(renumber(codes, self._seen, self._stamp, entity, unique))
        self._stamp += count
        columns = self._coding.group_columns(unique[:count], self._aggregate)
        names = [f"g{i}" for i in range(len(columns))]
        groups = pa.RecordBatch.from_arrays(columns, names=names)
        return Partial(
            touches.at, entity, touches.count, touches.lanes, touches.layout, groups, count
        )

    def _let_go(self, touches: Touches) -> None:
        for side, window in enumerate(self._windows):
            gone = window.close()
            if window.is_endless:  # only one window alone can be: its sums are all that is needed
                self._aggregate.forget_rows(window.drop_held())
            if gone.size == 0:
                continue
            columns = window.columns
            if columns.partitions.size:
                empty = self._coding.release_partitions(side, columns.partitions[gone])
                window.forget_partitions(empty)
            self._coding.release(side, columns.codes[gone])
            window.settle(gone)
        if self._shape.mode == kernels.BY_BOTH:
            self._aggregate.release_groups(np.unique(touches.group))

    def _rows(self, side: int) -> pa.RecordBatch:
        window = self._windows[side]
        places = np.concatenate([window.held(), window.waiting()])
        columns = window.columns
        schema = Preparer(self.plan, side).schema
        arrays = [pa.array(columns.times[places])]
        arrays += self._coding.row_columns(side, columns.codes[places], schema)
        if columns.partitions.size:
            arrays += self._coding.partition_columns(side, columns.partitions[places])
        valid = columns.valid[:, places] if columns.valid.size else columns.valid
        types = [field.type for field in schema if field.name[0] == "v"]
        arrays += value_columns(columns.values[:, places], valid, types)
        if not self.plan.inputs[side].window.is_timed:
            arrays.append(pa.array(columns.codes[places] >= 0))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _window(entry: PlanInput, value_count: int) -> Window:
    kind = entry.window.kind
    if kind == "rows":
        return Window(value_count, eviction=LastRows(entry.window.rows))
    if kind == "partition_rows":
        return Window(value_count, eviction=LastRowsByPartition(entry.window.rows))
    return Window(value_count, lifetime=lifetime_of(entry.window))


def _still_held(rows: pa.RecordBatch, entry: PlanInput, clock: int) -> pa.RecordBatch:
    """Without the rows that left a timed window before the clock: they need not enter again."""
    if not entry.window.is_timed:
        return rows
    leave = lifetime_of(entry.window).leave(rows.column("ts").to_numpy())
    held = leave > clock
    return rows if held.all() else rows.filter(pa.array(held))
