"""Watches the rows of a query with ERROR: what its answers may lack when its window is narrowed.

Rows are added as the clock reaches them, whether the window holds them long or not.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.entities import Entities
from windrow.engine.evaluate import evaluate, evaluate_filter
from windrow.engine.inner_plan import InnerPlan, JudgedAggregate
from windrow.engine.prepare import leaf_of, lifetime_of
from windrow.governor.error_bounds.arrival_profile import ArrivalProfile
from windrow.governor.error_bounds.bounds import relative_error_bounds
from windrow.governor.error_bounds.tail import HeldValues
from windrow.governor.error_bounds.tolerance import tolerated_span_us
from windrow.schema import DOUBLE

__all__ = ["ArrivalWatch"]

Instants = NDArray[np.int64]
Floats = NDArray[np.float64]


class ArrivalWatch:
    """The arrival profile of one query, by its groups."""

    def __init__(self, inner: InnerPlan) -> None:
        plan = inner.plan
        self._inner, self._entry = inner, plan.inputs[0]
        self._lifetime = lifetime_of(self._entry.window)
        # Rows are known by the instant at which they enter: t - range <= it <= t is the window.
        self.range_us = self._lifetime.hold_us - 1
        self.profile = ArrivalProfile(max(1, self.range_us), len(inner.measures))
        self._groups = Entities([part.type.arrow for part in plan.group_by])
        self._waiting = _Rows.none(len(inner.measures))

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
            values[number] = _doubles(column)
            if column.null_count:
                valid[number] = column.is_valid().to_numpy(zero_copy_only=False)
        rows = _Rows(self._lifetime.enter(times), groups, values, valid)
        self._waiting = self._waiting.with_later(rows)

    def next_stop(self, until: int) -> int:
        """How far the clock may go at once for every answer to be judged."""
        waiting = self._waiting.times
        return min(until, int(waiting[0]) + self.profile.range_us) if waiting.size else until

    def advance(self, until: int) -> None:
        """The clock has come so far."""
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
        columns = [answers.column(name).combine_chunks() for name in self._inner.groups]
        groups = self._groups.codes_of(columns, answers.num_rows)
        bound = np.zeros(answers.num_rows)
        for judged in self._inner.judged:
            bound = np.maximum(bound, self._bound(judged, answers, at, edges, groups))
        return bound

    def _bound(
        self,
        judged: JudgedAggregate,
        answers: pa.Table,
        at: Instants,
        edges: Instants,
        groups: NDArray[np.int32],
    ) -> Floats:
        held = HeldValues(*(_named(answers, name) for name in (judged.count, judged.value)))
        centers = _named(answers, judged.mean) if judged.mean else None
        tail = self.profile.tail(at, edges, groups, judged.measure, centers)
        return relative_error_bounds(judged.function, tail, held)

    def tolerated_span_us(self, percent: float, clock: int) -> int:
        """How much narrower the window may be for all aggregates to stay within the error."""
        found = {(each.function, each.measure) for each in self._inner.judged}
        spans = [
            tolerated_span_us(self.profile, function, measure, percent, clock)
            for function, measure in sorted(found, key=str)
        ]
        return min(spans, default=0)

    @property
    def nbytes(self) -> int:
        """Bytes of the profile and of rows that wait."""
        return self.profile.nbytes + self._waiting.nbytes

    def _forget_silent(self, clock: int) -> None:
        if not self._groups.are_many:
            return
        known = self._groups.known()
        used = np.zeros(int(known.max(initial=-1)) + 1, np.bool_)
        used[known] = ~self.profile.is_silent(known, clock)
        used[self._waiting.groups] = True
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


def _doubles(column: pa.Array) -> Floats:
    """Values as doubles, 0 for NULL; of what is no number only whether it is NULL counts."""
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        return np.zeros(len(column))
    filled = column.cast(DOUBLE.arrow).fill_null(0.0)
    values: Floats = filled.to_numpy(zero_copy_only=False)
    return values


def _named(table: pa.Table, name: str) -> Floats:
    return _doubles(table.column(name).combine_chunks())
