"""Watches the rows of a query with ERROR: what its answers may lack when its window is narrowed.

Rows are added as the clock reaches them, whether the window holds them long or not. Where the rows
are elsewhere, what was counted there is added when the clock reaches its panes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.governor.bounded.counted_arrivals import (
    CountedArrivals,
    cells_table,
    doubles_of,
    table_cells,
)
from windrow.governor.bounded.inner_plan import BoundedAggregate, InnerPlan
from windrow.governor.error_bounds import kernels
from windrow.governor.error_bounds.arrival_cells import ArrivalCells, first_pane_us
from windrow.governor.error_bounds.arrival_profile import ArrivalProfile
from windrow.governor.error_bounds.bounds import relative_error_bounds
from windrow.governor.error_bounds.profile_state import ProfileState
from windrow.governor.error_bounds.tail import HeldValues, Tail
from windrow.governor.error_bounds.tolerance import tolerated_span_us
from windrow.output.known_groups import KnownGroups
from windrow.rows.checked_columns import leaf_of
from windrow.rows.evaluate import evaluate, evaluate_filter
from windrow.rows.frames import pack, unpack
from windrow.rows.prepare import lifetime_of

__all__ = ["ArrivalWatch"]

Instants = NDArray[np.int64]
Floats = NDArray[np.float64]


class ArrivalWatch:
    """The arrival profile of one query, by its groups.

    completes: answers are completed from panes, which lie so that no edge cuts one at a tick of
    EVERY, where that can be; rows that are counted elsewhere are in panes that know nothing of it.
    """

    def __init__(self, inner: InnerPlan, *, completes: bool = False) -> None:
        plan = inner.plan
        self._inner, self._entry = inner, plan.inputs[0]
        self._is_completed = completes
        self._lifetime = lifetime_of(self._entry.window)
        # Rows are known by the instant at which they enter: t - range <= it <= t is the window.
        self.range_us = self._lifetime.hold_us - 1
        pane_us = first_pane_us(max(1, self.range_us), plan.every_us if completes else None)
        self.profile = ArrivalProfile(max(1, self.range_us), len(inner.measures), pane_us)
        self._groups = KnownGroups([part.type.arrow for part in plan.group_by])
        self._waiting = _Rows.none(len(inner.measures))
        self._cells = _no_cells(self.profile.pane_us, len(inner.measures))

    def take(self, batch: pa.RecordBatch) -> None:
        """Rows of the stream, in order of arrival, all later than the clock."""
        leaf = leaf_of(batch)
        if self._entry.filter is not None:
            kept = evaluate_filter(self._entry.filter, leaf, batch.num_rows)
            batch = batch.filter(pa.array(kept))
            leaf = leaf_of(batch)
        if not batch.num_rows:
            return
        times = batch.column(self._entry.stream.time).cast(pa.int64()).to_numpy()
        columns = [evaluate(part, leaf, batch.num_rows) for part in self._inner.plan.group_by]
        groups = self._groups.codes_of(columns, batch.num_rows)
        measures = [evaluate(part, leaf, batch.num_rows) for part in self._inner.measures]
        values = np.empty((len(measures), batch.num_rows))
        valid = np.ones(values.shape, np.uint8)
        for number, column in enumerate(measures):
            values[number] = doubles_of(column)
            if column.null_count:
                valid[number] = column.is_valid().to_numpy(zero_copy_only=False)
        rows = _Rows(self._lifetime.enter(times), groups, values, valid)
        self._waiting = self._waiting.with_later(rows)

    def take_counted(self, arrivals: CountedArrivals) -> None:
        """Rows that were counted elsewhere, all later than the clock."""
        count = arrivals.groups.num_rows if self._inner.groups else 1
        columns = [column.combine_chunks() for column in arrivals.groups.columns]
        codes = self._groups.codes_of(columns, count)
        found = arrivals.cells
        both = [(self._cells.panes, self._cells.groups, self._cells.lanes)]
        both.append((found.panes, codes[found.groups], found.lanes))
        panes, groups, lanes = (np.concatenate(parts) for parts in zip(*both, strict=True))
        order = np.argsort(panes, kind="stable")
        earliest = found.earliest_us
        if self._cells.panes.size:
            earliest = min(earliest, self._cells.earliest_us)
        arranged = (panes[order], groups[order], lanes[order])
        self._cells = ArrivalCells(found.pane_us, earliest, *arranged)

    def next_stop(self, until: int) -> int:
        """How far the clock may go at once for every answer to be aggregate."""
        waiting = [int(time) for time in self._waiting.times[:1]]
        waiting += [int(pane) * self._cells.pane_us for pane in self._cells.panes[:1]]
        return min([until, *(time + self.profile.range_us for time in waiting)])

    def advance(self, until: int) -> None:
        """The clock has come so far."""
        begun, self._cells = self._cells.until(until)
        self.profile.merge(begun)
        count = int(np.searchsorted(self._waiting.times, until, side="right"))
        if count:
            rows, self._waiting = self._waiting.split(count)
            self.profile.add(rows.times, rows.groups, rows.values, rows.valid)
        self.profile.advance(until)
        self._forget_silent(until)

    def bounds(self, answers: pa.Table, at: Instants, edges: Instants) -> Floats:
        """A bound on the relative error of each answer: the largest over its aggregates.

        answers: with hidden columns. edges: the earliest entry of rows that were held at each.
        """
        bound = np.zeros(answers.num_rows)
        for aggregate, tail, held in self.tails(answers, at, edges):
            bound = np.maximum(bound, relative_error_bounds(aggregate.function, tail, held))
        return bound

    def tails(
        self, answers: pa.Table, at: Instants, edges: Instants
    ) -> list[tuple[BoundedAggregate, Tail, HeldValues]]:
        """Of each aggregate what the answers lack, and what they say."""
        groups, found = self.group_codes(answers), []
        for aggregate in self._inner.aggregates:
            held = HeldValues(
                *(_named(answers, name) for name in (aggregate.count, aggregate.value))
            )
            centers = _named(answers, aggregate.mean) if aggregate.mean else None
            tail = self.profile.tail(at, edges, groups, aggregate.measure, centers)
            found.append((aggregate, tail, held))
        return found

    def group_codes(self, answers: pa.Table) -> NDArray[np.int32]:
        """The groups of answers, by their hidden columns."""
        columns = [answers.column(name).combine_chunks() for name in self._inner.groups]
        return self._groups.codes_of(columns, answers.num_rows)

    def known_groups(self) -> NDArray[np.int32]:
        """All groups that have rows in the profile, and some that had."""
        return self._groups.known()

    def group_columns(self, codes: NDArray[np.int32]) -> list[pa.Array]:
        """The values of groups."""
        return self._groups.repeated_columns(codes)

    def rank(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Numbers that order groups by their values."""
        return self._groups.rank(codes)

    def tolerated_span_us(self, percent: float, clock: int) -> int:
        """How much narrower the window may be for all aggregates to stay within the error."""
        found = {(each.function, each.measure) for each in self._inner.aggregates}
        spans = [
            tolerated_span_us(
                self.profile, function, measure, percent, clock, is_completed=self._is_completed
            )
            for function, measure in sorted(found, key=str)
        ]
        return min(spans, default=0)

    @property
    def nbytes(self) -> int:
        """Bytes of the profile and of rows that wait."""
        return self.profile.nbytes + self._waiting.nbytes + self._cells.lanes.nbytes

    def snapshot(self) -> bytes:
        """All that has come, and the rows that wait."""
        state, codes = self.profile.state(), self._groups.known()
        columns = {f"g{i}": column for i, column in enumerate(self._groups.columns(codes))}
        header = {
            "pane_us": state.pane_us,
            "newest": state.newest,
            "earliest_us": state.earliest_us,
            "waiting_earliest_us": self._cells.earliest_us,
        }
        held = ArrivalCells(state.pane_us, 0, state.slot.astype(np.int64), state.group, state.cells)
        tables = {
            "groups": pa.table({"code": codes, **columns}),
            "arrivals": pa.table({"rows": state.arrivals}),
            "profile": cells_table(held),
            "waiting": cells_table(self._cells),
        }
        if self._waiting.times.size:
            tables["rows"] = self._waiting.table()
        return pack("watch", header, tables)

    def load(self, data: bytes) -> None:
        """Become the watch that snapshot() saved; groups may get other codes."""
        header, tables = unpack("watch", data)
        saved = tables["groups"]
        old = saved.column("code").to_numpy()
        new_code = np.zeros(int(old.max(initial=0)) + 1, np.int32)
        columns = [column.combine_chunks() for column in saved.columns[1:]]
        new_code[old] = self._groups.codes_of(columns, old.size)
        held = table_cells(tables["profile"], header["pane_us"], 0)
        arrivals = tables["arrivals"].column("rows").to_numpy().copy()
        where = (held.panes.astype(np.int32), new_code[held.groups])
        times = (header["pane_us"], header["newest"], header["earliest_us"])
        self.profile.load(ProfileState(*times, arrivals, *where, held.lanes))
        cells = table_cells(tables["waiting"], self._cells.pane_us, header["waiting_earliest_us"])
        self._cells = replace(cells, groups=new_code[cells.groups])
        if "rows" in tables:
            rows = _Rows.of(tables["rows"], len(self._inner.measures))
            self._waiting = _Rows(rows.times, new_code[rows.groups], rows.values, rows.valid)

    def _forget_silent(self, clock: int) -> None:
        if not self._groups.are_many:
            return
        known = self._groups.known()
        used = np.zeros(int(known.max(initial=-1)) + 1, np.bool_)
        used[known] = ~self.profile.is_silent(known, clock)
        used[self._waiting.groups] = True
        used[self._cells.groups] = True
        self.profile.forget(known[~used[known]])
        self._groups.forget_others(used)


class _Rows:
    """Rows in the order of time: entry instants, groups, values and flags of measures."""

    def __init__(
        self,
        times: Instants,
        groups: NDArray[np.int32],
        values: Floats,
        valid: NDArray[np.uint8],
    ) -> None:
        self.times, self.groups, self.values, self.valid = times, groups, values, valid

    @classmethod
    def none(cls, measures: int) -> _Rows:
        nothing = np.empty(0, np.int64), np.empty(0, np.int32)
        return cls(*nothing, np.empty((measures, 0)), np.empty((measures, 0), np.uint8))

    def table(self) -> pa.Table:
        columns = {"time": self.times, "group": self.groups}
        columns |= {f"v{number}": each.copy() for number, each in enumerate(self.values)}
        columns |= {f"f{number}": each.copy() for number, each in enumerate(self.valid)}
        return pa.table(columns)

    @classmethod
    def of(cls, table: pa.Table, measures: int) -> _Rows:
        def each(name: str) -> NDArray[Any]:
            found: NDArray[Any] = np.array(table.column(name).to_numpy())
            return found

        values, valid = np.empty((2, measures, table.num_rows))
        for number in range(measures):
            values[number], valid[number] = each(f"v{number}"), each(f"f{number}")
        return cls(each("time"), each("group"), values, valid.astype(np.uint8))

    def with_later(self, rows: _Rows) -> _Rows:
        times = np.concatenate([self.times, rows.times])
        order = np.argsort(times, kind="stable")
        return _Rows(
            times[order],
            np.concatenate([self.groups, rows.groups])[order],
            np.concatenate([self.values, rows.values], axis=1)[:, order],
            np.concatenate([self.valid, rows.valid], axis=1)[:, order],
        )

    def split(self, count: int) -> tuple[_Rows, _Rows]:
        parts = (slice(0, count), slice(count, None))
        first, rest = (
            _Rows(self.times[p], self.groups[p], self.values[:, p], self.valid[:, p]) for p in parts
        )
        return first, rest

    @property
    def nbytes(self) -> int:
        arrays = (self.times, self.groups, self.values, self.valid)
        return sum(array.nbytes for array in arrays)


def _no_cells(pane_us: int, measures: int) -> ArrivalCells:
    lanes = np.empty((0, kernels.MEASURES + kernels.MEASURE_LANES * measures))
    nothing = np.empty(0, np.int64), np.empty(0, np.int32)
    return ArrivalCells(pane_us, 0, *nothing, lanes)


def _named(table: pa.Table, name: str) -> Floats:
    return doubles_of(table.column(name).combine_chunks())
