"""Rows that a query never got: for how long its answers are not what they should be.

Rows for which there is no room are refused. Every answer in whose windows they would have been
lacks them, and says so:

    [T], [RANGE .. SLIDE ..]   from when the row would have entered until it would have left
    [ROWS n]                   until n rows of a later time have entered
    [UNBOUNDED]                for ever
    [PARTITION BY .. ROWS n]   for ever: nobody knows when n rows of the same partition have come
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME
from windrow.plan.model import WindowSpec
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.rows.prepare import lifetime_of
from windrow.service_levels import INCOMPLETE
from windrow.windows.instant_spans import InstantSpans

__all__ = ["MissedRows", "marked_incomplete"]

Instants = NDArray[np.int64]


class MissedRows:
    """The instants at which answers of one query lack rows that were refused."""

    def __init__(self, plan: RunnablePlan) -> None:
        self._windows = [entry.window for entry in plan.inputs]
        self._spans = InstantSpans()
        self._gaps: dict[int, _RowsGap] = {}

    def saved(self) -> dict[str, Any]:
        """All that it knows, as JSON can hold it."""
        gaps = {str(number): gap.saved() for number, gap in self._gaps.items()}
        return {"spans": self._spans.listed(), "gaps": gaps}

    @classmethod
    def of(cls, plan: RunnablePlan, saved: dict[str, Any]) -> MissedRows:
        """What saved() gave."""
        missed = cls(plan)
        for first, last in saved["spans"]:
            missed._spans.add(first, last)
        missed._gaps = {int(number): _RowsGap.of(each) for number, each in saved["gaps"].items()}
        return missed

    @property
    def is_empty(self) -> bool:
        """Whether nothing is lacking, at any instant that it knows of."""
        return self._spans.is_empty and not self._gaps

    def miss(self, input_index: int, times: Instants) -> None:
        """Rows of an input with these times were refused; all are later than the clock."""
        if not times.size:
            return
        window = self._windows[input_index]
        if window.traits.counts_whole_stream:
            gap = self._gaps.setdefault(input_index, _RowsGap(window.rows, int(times.min())))
            gap.widen(times)
            return
        for first, last in _spans_of(window, np.sort(times)):
            self._spans.add(first, last)

    def entered(self, input_index: int, times: Instants) -> None:
        """The clock has passed rows of an input with these times, in order."""
        gap = self._gaps.get(input_index)
        end = None if gap is None else gap.end(times)
        if gap is not None and end is not None:
            del self._gaps[input_index]
            self._spans.add(gap.first, end)

    def lose(self, first: int, last: int) -> None:
        """Answers from the first to the last instant lack rows that were evicted."""
        self._spans.add(first, last)

    def marked(self, answers: pa.Table, clock: int) -> pa.Table:
        """Answers up to the clock, with their level; what is asked next is later."""
        if self.is_empty:
            return answers
        lacking = self.lacking(answers.column("at").cast(pa.int64()).to_numpy())
        self._spans.forget_before(clock)
        return marked_incomplete(answers, lacking) if lacking.any() else answers

    def lacking(self, at: Instants) -> NDArray[np.bool_]:
        """Which answers at these instants lack rows."""
        found = self._spans.covers(at)
        for gap in self._gaps.values():
            found |= at >= gap.first
        return found

    def is_complete(self, instant: int) -> bool:
        """Whether an answer at the instant lacks no row."""
        if any(instant >= gap.first for gap in self._gaps.values()):
            return False
        return not self._spans.has(instant)

    def next_end(self, clock: int) -> int | None:
        """The last instant of the first span after the clock at which answers lack rows."""
        ends = [END_OF_TIME] if self._gaps else []
        end = self._spans.first_end(clock)
        return min(ends if end is None else [*ends, end], default=None)


class _RowsGap:
    """Rows that a window of the last `rows` rows lacks: from `first` on, as long as it is open."""

    def __init__(self, rows: int, first: int) -> None:
        self.first, self._rows = first, rows
        self._newest, self._followed = first, 0

    def saved(self) -> list[int]:
        return [self._rows, self.first, self._newest, self._followed]

    @classmethod
    def of(cls, saved: list[int]) -> _RowsGap:
        gap = cls(*saved[:2])
        gap._newest, gap._followed = saved[2:]
        return gap

    def widen(self, times: Instants) -> None:
        self.first = min(self.first, int(times.min()))
        newest = int(times.max())
        if newest >= self._newest:  # rows that have entered are older than all that are missed now
            self._newest, self._followed = newest, 0

    def end(self, times: Instants) -> int | None:
        """The last instant at which rows are lacking, once enough others have followed."""
        later = times[np.searchsorted(times, self._newest, side="right") :]
        needed = self._rows - self._followed
        self._followed += later.size
        return int(later[needed - 1]) - 1 if later.size >= needed else None


def _spans_of(window: WindowSpec, times: Instants) -> list[tuple[int, int]]:
    """When rows of these times, in order, would have been in a window."""
    if window.traits.counts_by_partition:
        return [(int(times[0]), END_OF_TIME)]
    lifetime = lifetime_of(window)
    first = lifetime.enter(times)
    last = np.minimum(lifetime.leave(times) - 1, END_OF_TIME)
    breaks = np.flatnonzero(first[1:] > last[:-1] + 1)
    firsts, lasts = first[[0, *(breaks + 1)]], last[[*breaks, -1]]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))


def marked_incomplete(answers: pa.Table, lacking: NDArray[np.bool_]) -> pa.Table:
    """Answers, of which some lack rows: of these nothing is certain."""
    chosen = pa.array(lacking)
    for name, value in (("level", pa.scalar(INCOMPLETE)), ("error_bound", pa.scalar(np.inf))):
        place = answers.schema.get_field_index(name)
        kept = answers.column(place).combine_chunks()
        marked = pc.if_else(chosen, value.cast(kept.type), kept)
        answers = answers.set_column(place, answers.schema.field(place), marked)
    return answers
