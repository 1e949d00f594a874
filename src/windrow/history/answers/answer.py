"""The answer for an interval: states of its groups, read as values with bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.history.aggregates import Aggregate, Bounded
from windrow.history.answers.finish import Finished, finished
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import Reals, States
from windrow.history.cells.kernels import EXACT, LEFT, PARTS, RIGHT
from windrow.history.spec import HistorySpec
from windrow.history.state_kernels import ROWS

__all__ = ["Answer", "Interval"]


@dataclass(frozen=True)
class Interval:
    """From since_us, included, to until_us, not included."""

    since_us: int
    until_us: int

    def __contains__(self, other: Interval) -> bool:
        return self.since_us <= other.since_us and other.until_us <= self.until_us


@dataclass(frozen=True)
class Answer:
    """States of an interval; one group without keys, or one for each row of `keys`.

    inside: the largest interval within the one asked for that has an exact answer, None where there
    is none. outside: the smallest one around it. shares: how much of the nodes cut at either end
    lies in the interval. forgotten: one state in doubt for all groups, for those too that are
    not there any more. sketches: for each quantile or distinct column what its sketches say.
    """

    spec: HistorySpec
    asked: Interval
    inside: Interval | None
    outside: Interval
    keys: pa.Table
    whole: Longs
    real: Reals
    shares: Reals
    forgotten: States | None = None
    sketches: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def is_exact(self) -> bool:
        """Whether no row is in doubt."""
        rows = self.whole[ROWS]
        is_cut = rows[LEFT::PARTS].any() or rows[RIGHT::PARTS].any()
        return not is_cut and self.forgotten is None

    @property
    def rows(self) -> int:
        """Rows that are surely in the interval, of all groups."""
        return int(self.whole[ROWS, EXACT::PARTS].sum())

    def columns(self, aggregate: Aggregate) -> list[pa.Array]:
        """Value, lower and upper bound of one aggregate, for each group."""
        aggregate.check(self.spec)
        if aggregate.traits.laws.in_sketch:
            sketches = self.sketches[f"{aggregate.measure}_{aggregate.function}"]
            columns: list[pa.Array] = sketches.columns(aggregate)
            return columns
        return self._finished(aggregate).columns()

    def bounds(
        self, function: str, measure: str | None = None, rank: float | None = None
    ) -> Bounded:
        """One aggregate of an answer with one group."""
        aggregate = _aggregate(function, measure, rank)
        if aggregate.traits.laws.in_sketch:
            return Bounded(*(column[0].as_py() for column in self.columns(aggregate)))
        return Bounded(*self._finished(aggregate).first())

    def table(
        self, aggregates: Sequence[Aggregate], names: Sequence[str] | None = None
    ) -> pa.Table:
        """A row for each group: its keys, then value, lower and upper bound of each aggregate."""
        names = [each.label for each in aggregates] if names is None else names
        columns = dict(zip(self.keys.column_names, self.keys.columns, strict=True))
        for name, aggregate in zip(names, aggregates, strict=True):
            for ending, column in zip(("", "_low", "_high"), self.columns(aggregate), strict=True):
                columns[name + ending] = column
        return pa.table(columns)

    def _finished(self, aggregate: Aggregate) -> Finished:
        return finished(aggregate, self.spec, self.whole, self.real, self.shares)

    def cut_rows(self) -> Reals:
        """Rows cut at either end, by group: the weights of shares when answers are merged."""
        rows = self.whole[ROWS]
        return np.stack([rows[LEFT::PARTS], rows[RIGHT::PARTS]], axis=1).astype(np.float64)


@lru_cache
def _aggregate(function: str, measure: str | None, rank: float | None) -> Aggregate:
    return Aggregate(function, measure, rank)
