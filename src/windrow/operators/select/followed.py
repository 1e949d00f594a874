"""The operator of a select that is followed by its changes: its windows are all that it holds.

A row of the result comes and goes with rows of windows, so the result follows from these at any
time, and what is told of it are the changes alone. Others know the rows of a result by codes and
count equal ones; that is needed where rows of several shards, or of windows that count, meet.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.lanes import LaneLayout
from windrow.operators.operator import Operator, WorkDone
from windrow.operators.partial import Partial
from windrow.operators.select.followers import (
    DifferentRows,
    Follower,
    JoinedPairs,
    UnmatchedRows,
    WindowEvents,
    WindowRows,
)
from windrow.operators.select.kept_columns import KeptColumns
from windrow.operators.select.ordered_changes import ShownColumn, ordered_changes, shown_columns
from windrow.plan.expressions import ColumnRef
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import prepared_columns, window_of
from windrow.rows.prepared_names import TIME
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import QueryShape
from windrow.windows.row_store import NO_MATRIX
from windrow.windows.window import EventColumns

__all__ = ["FollowedSelect"]

Vector = NDArray[np.int64]
NO_LINKS: Vector = np.empty(0, np.int64)
# Room for events at first: most steps have a row that leaves for each that comes.
SMALLEST_STEP = 64


class FollowedSelect(Operator):
    """Rows of a select over one window or two, by the changes of their windows."""

    def __init__(self, plan: QueryPlan, shape: QueryShape) -> None:
        self._follower = _follower(shape)
        numbers = range(len(plan.inputs))
        columns = [prepared_columns(plan, number) for number in numbers]
        self._kept = [KeptColumns(shape.inputs[i], columns[i]) for i in numbers]
        super().__init__(
            (
                window_of(entry.window, kept.count + is_linked)
                for entry, kept, is_linked in zip(
                    plan.inputs, self._kept, self._follower.linked, strict=True
                )
            ),
            columns,
        )
        # The rows that are shown are on the left, those that only match on the right.
        self._sides = list(numbers)
        if shape.negations:
            self._sides = [shape.negations[0].of, shape.negations[0].negated]
        self._shown = [self._column(part) for part in shape.group_columns]
        self._layout = LaneLayout.smallest(shape.kinds)
        self._entered = [0] * len(self._windows)
        self._live = 0

    def _column(self, part: object) -> ShownColumn:
        assert isinstance(part, ColumnRef)
        store = self._windows[part.source].columns.store
        side = self._sides.index(part.source)
        return ShownColumn(side, self._kept[part.source], part.column, store)

    def append(self, input_index: int, rows: PreparedRows) -> None:
        """Take prepared rows in order of arrival, all later than the clock."""
        if not rows.size:
            return
        kept, window = self._kept[input_index], self._windows[input_index]
        words = np.empty((kept.count + self._follower.linked[input_index], rows.size), np.int64)
        if self._follower.linked[input_index]:
            words[-1] = 0
        valid = kept.write(rows, words) if kept.count else NO_MATRIX
        codes = self._follower.codes(input_index, rows)
        window.append(rows.times, codes, words, valid)
        self._entered[input_index] += rows.size

    def run(self, until: int) -> Partial:
        """Run the windows up to and including `until`."""
        found = self._follower.follow([self._events(side, until) for side in self._sides])
        rows = ordered_changes(found, self._shown)
        self._live += int(rows.sign.sum())
        self._reclaim()
        none = np.empty(0, np.int64)
        lanes = np.zeros((0, self._layout.lane_count), np.int64)
        groups = pa.RecordBatch.from_arrays([], names=[])
        return Partial(none, none.astype(np.int32), none, lanes, self._layout, groups, 0, rows=rows)

    def _events(self, input_index: int, until: int) -> WindowEvents:
        """All events of a window up to `until`."""
        window = self._windows[input_index]
        window.open(until)
        size = 2 * (window.columns.end - window.columns.tail) + SMALLEST_STEP
        events, count = EventColumns(size), 0
        while True:
            count += window.fill(events, count, events.at.size - count, until, 1)
            if count < events.at.size:
                break
            events = _doubled(events)
        at, row, sign = events.at[:count], events.row[:count], events.sign[:count]
        return self._with_rows(input_index, at, row, sign)

    def _with_rows(
        self, input_index: int, at: Vector, row: Vector, sign: NDArray[np.int8]
    ) -> WindowEvents:
        columns, is_linked = self._windows[input_index].columns, self._follower.linked[input_index]
        links = columns.store.values[-1] if is_linked else NO_LINKS
        return WindowEvents(at, row, sign, columns.codes, links, columns.base)

    def _reclaim(self) -> None:
        """Free what rows that have left had."""
        for kept, window in zip(self._kept, self._windows, strict=True):
            gone = window.close()
            if gone is not None:
                self._follower.release(window.columns.codes[gone])
                kept.release(window.columns.store.values[:, gone])
                window.reclaim(gone)

    def live_columns(self) -> tuple[list[pa.Array], int]:
        """The values of the select list in all rows of the result, in any order; how many."""
        none = np.empty(0, np.int64)
        columns = [self._windows[side].columns for side in self._sides]
        events = [self._with_rows(side, none, none, none.astype(np.int8)) for side in self._sides]
        left, right = self._follower.live(events, columns)
        return shown_columns(self._shown, left, right), left.size

    def put_out_all(self, at: int) -> None:
        """Only states on a grid are put out again."""
        raise AssertionError(f"changes are told when they come, and not at {at} on a grid")

    def rows(self, input_index: int) -> pa.RecordBatch:
        """The rows held and waiting, as prepared rows in their order."""
        window, prepared = self._windows[input_index], self._columns[input_index]
        columns, kept = window.columns, self._kept[input_index]
        places = np.concatenate([window.held(), window.waiting()])
        named = {TIME: pa.array(columns.times[places])}
        keys = prepared.schema.names[prepared.keys]
        if keys:
            named |= zip(keys, self._follower.key_columns(columns.codes[places]), strict=True)
        words, valid = columns.words_at(places)
        none = np.empty(0, np.uint8)
        arrays = []
        for name in prepared.schema.names:
            if name not in named:
                place = kept.place(name)
                named[name] = kept.array(place, words[place], valid[place] if valid.size else none)
            arrays.append(named[name])
        return pa.RecordBatch.from_arrays(arrays, schema=prepared.schema)

    def window_bytes(self) -> list[int]:
        """Bytes of each input's rows, with what codes in them stand for."""
        return [
            window.nbytes + kept.nbytes
            for window, kept in zip(self._windows, self._kept, strict=True)
        ]

    @property
    def nbytes(self) -> int:
        """Bytes of windows and of what is known by key."""
        return sum(self.window_bytes()) + self._follower.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""
        kept = sum(each.growth_bytes(rows) for each in self._kept)
        return kept + self._follower.growth_bytes(rows)

    def joined_rows(self) -> int:
        """Rows of the result."""
        return self._live

    def work_done(self) -> WorkDone:
        """Rows that entered."""
        return WorkDone(tuple(self._entered))


def _follower(shape: QueryShape) -> Follower:
    if shape.negations:
        (negation,) = shape.negations
        keys = shape.inputs[negation.negated].keys[: len(negation.of_columns)]
        types = [key.type.arrow for key in keys]
        return UnmatchedRows(types, negation.of_columns, negation.negated)
    if len(shape.inputs) > 1:
        return JoinedPairs([key.type.arrow for key in shape.inputs[0].keys])
    if not shape.is_distinct:
        return WindowRows()
    parts = [part for part in shape.group_columns if isinstance(part, ColumnRef)]
    return DifferentRows([part.column for part in parts], [part.type.arrow for part in parts])


def _doubled(events: EventColumns) -> EventColumns:
    size = events.at.size
    more = EventColumns(2 * size)
    more.at[:size], more.row[:size], more.sign[:size] = events.at, events.row, events.sign
    return more
