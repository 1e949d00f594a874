"""The rows of one window as changes: each enters with its values, and leaves with them.

Values are kept as words of 64 bits next to the times of the rows, texts as codes; nothing is
hashed, and equal rows stay apart.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.operators.relations.changes import Changes, Vector, no_changes
from windrow.operators.relations.row_numbers import RowNumbers
from windrow.operators.relations.session_bounds import SessionBounds
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import prepared_columns, window_of
from windrow.rows.prepared_names import TAKES_PART
from windrow.rows.prepared_rows import PreparedRows
from windrow.windows.codes import NO_CODE, KeyCoder, TextCodes
from windrow.windows.column_words import array_of_words, words_of_array
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import is_wide_decimal
from windrow.windows.window import EventColumns, Window

__all__ = ["WindowScan"]

# Events that are turned into changes at once.
EVENTS_AT_ONCE = 1 << 16
_NO_INSTANTS: Vector = np.empty(0, np.int64)
NO_FLAGS: NDArray[np.uint8] = np.empty((0, 0), np.uint8)


class WindowScan:
    """One window; plan: a select of it alone. grid_us: rows come and go at its multiples only.

    sessions: where it is one of sessions, which rows of them, and which bounds they have.
    by_number: nobody reads what rows that leave were.
    """

    def __init__(
        self,
        plan: QueryPlan,
        grid_us: int = 1,
        sessions: SessionBounds | None = None,
        *,
        by_number: bool = False,
    ) -> None:
        self._by_number = by_number
        self._prepared = prepared_columns(plan, 0)
        self._sessions = sessions
        self.entered = _NO_INSTANTS  # when rows entered in the last step, where that is noted
        self._types = [column.type.arrow for column in plan.select]
        self._grid_us = grid_us
        # Where a row is known by: a number that is used again once the row has left.
        self._numbers = RowNumbers()
        self._texts = {
            place: TextCodes(kind)
            for place, kind in enumerate(self._types)
            if is_coded(kind) or is_wide_decimal(kind)
        }
        entry = plan.inputs[0]
        count = len(self._types)
        if sessions is None:
            self.window = window_of(entry.window, count)
        else:
            self.window = Window(count, eviction=sessions.schedule(entry.window.length_us))
        self._notes_entries = entry.window.traits.enters_later or sessions is not None
        self._is_scheduled = entry.window.traits.is_scheduled
        self._ran_until = START_OF_TIME
        partition_types = [part.type.arrow for part in entry.window.partition_by]
        self._partitions = KeyCoder(partition_types) if partition_types else None

    def append(self, rows: PreparedRows) -> None:
        """Rows in order of arrival, all later than the clock, wait for it."""
        rows = rows.expanded()
        if self._sessions is not None:
            rows = rows.taking_part()  # others are in no session, and do not keep one open
        if not rows.size:
            return
        words = np.empty((len(self._types), rows.size), np.int64)
        flags = NO_FLAGS
        for place, column in enumerate(rows.groups):
            if place in self._texts:
                words[place] = self._texts[place].acquire(column)
                continue
            words[place], valid = words_of_array(column)
            if valid.size:
                flags = flags if flags.size else np.ones(words.shape, np.uint8)
                flags[place] = valid
        if rows.takes_part is None:
            codes = self._numbers.take(rows.size)
        else:
            codes = np.full(rows.size, NO_CODE, np.int32)
            codes[rows.takes_part] = self._numbers.take(int(np.count_nonzero(rows.takes_part)))
        partitions = None
        if self._partitions is not None:
            partitions = self._partitions.acquire(rows.partitions)
        elif self._is_scheduled:
            partitions = np.zeros(rows.size, np.int32)
        self.window.append(rows.times, codes, words, flags, partitions)

    def run(self, until: int) -> Changes:
        """The rows that enter and leave up to and including `until`."""
        self.window.open(until)
        self._ran_until, self.entered = until, _NO_INSTANTS
        parts: list[tuple[Vector, Vector, Vector]] = []
        events = EventColumns(EVENTS_AT_ONCE)
        count = EVENTS_AT_ONCE
        while count == EVENTS_AT_ONCE:
            count = self.window.fill(events, 0, EVENTS_AT_ONCE, until, self._grid_us)
            at, row = events.at[:count].copy(), events.row[:count].copy()
            parts.append((at, row, events.sign[:count].astype(np.int64)))
        # The rows are read once for all events: to join columns costs as much as to read them.
        found = self._changes(*(np.concatenate(each) for each in zip(*parts, strict=True)))
        self._reclaim()
        return found

    def _changes(self, at: Vector, row: Vector, weight: Vector) -> Changes:
        if not at.size:
            return no_changes(self._all_types)
        numbers = self.window.columns.codes[row]
        live = numbers != NO_CODE
        if self._notes_entries:
            self.entered = np.unique(at[weight > 0])
        if not live.all():
            at, row, weight, numbers = at[live], row[live], weight[live], numbers[live]
        if self._by_number:
            return Changes(at, weight, (), numbers, self._rows_at(row[weight > 0]))
        columns = (*self._rows_at(row), *self._bounds(row, at, weight))
        return Changes(at, weight, columns, numbers)

    def _bounds(self, row: Vector, at: Vector, weight: Vector) -> list[pa.Array]:
        """The bounds of the sessions of rows that enter or leave at these instants."""
        if self._sessions is None:
            return []
        return self._sessions.columns(self.window.columns, row, np.where(weight > 0, at, at - 1))

    def _rows_at(self, places: Vector) -> tuple[pa.Array, ...]:
        columns = self.window.columns
        words, valid = columns.store.values, columns.store.valid
        none = np.zeros(places.size, np.bool_)
        found = []
        for number, kind in enumerate(self._types):
            own = words[number][places]
            if number in self._texts:
                found.append(self._texts[number].texts(own.astype(np.int32)))
            else:
                missing = valid[number][places] == 0 if valid.size else none
                found.append(array_of_words(own, missing, kind))
        return tuple(found)

    def _reclaim(self) -> None:
        gone = self.window.close()
        if gone is None:
            return
        columns = self.window.columns
        numbers = columns.codes[gone]
        self._numbers.give_back(numbers[numbers != NO_CODE])
        for number, texts in self._texts.items():
            texts.forget(texts.release(columns.store.values[number][gone].astype(np.int32)))
        if self._partitions is not None:
            empty = self._partitions.release(columns.partitions[gone])
            self.window.forget_partitions(empty)
        self.window.reclaim(gone)

    def held(self, at: int) -> Changes:
        """The rows in the window, as if all had entered at that instant."""
        places = self.window.held()
        numbers = self.window.columns.codes[places]
        live = numbers != NO_CODE
        places, numbers = places[live], numbers[live]
        weight = np.ones(places.size, np.int64)
        since = np.full(places.size, self._ran_until, np.int64)
        columns = (*self._rows_at(places), *self._bounds(places, since, weight))
        return Changes(np.full(places.size, at, np.int64), weight, columns, numbers)

    @property
    def _all_types(self) -> list[pa.DataType]:
        bounds = [] if self._sessions is None else self._sessions.types
        return [*self._types, *bounds]

    def rows(self) -> pa.RecordBatch:
        """The rows held and waiting, as prepared rows in their order: all that a rebuild needs."""
        window, schema = self.window, self._prepared.schema
        places = np.concatenate([window.kept(), window.waiting()])
        columns = window.columns
        arrays = [pa.array(columns.times[places]), *self._rows_at(places)]
        if self._partitions is not None:
            arrays += self._partitions.columns(columns.partitions[places])
        if TAKES_PART in schema.names:
            arrays.append(pa.array(columns.codes[places] != NO_CODE))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    @property
    def nbytes(self) -> int:
        """Bytes of the window and of what its texts and partitions are known by."""
        coded = 0 if self._partitions is None else self._partitions.nbytes
        texts = sum(each.nbytes for each in self._texts.values())
        return self.window.nbytes + coded + texts + self._numbers.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the window, that this many rows may need."""
        beside = self.nbytes - self.window.nbytes
        return 0 if not beside else 2 * beside + 256 * rows * len(self._texts)
