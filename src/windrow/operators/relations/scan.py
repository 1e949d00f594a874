"""The rows of one window as changes: each enters with its values, and leaves with them.

Values are kept as words of 64 bits next to the times of the rows, texts as codes; nothing is
hashed, and equal rows stay apart.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.changes import Changes, Vector, no_changes
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import prepared_columns, window_of
from windrow.rows.prepared_names import TAKES_PART
from windrow.rows.prepared_rows import PreparedRows
from windrow.windows.codes import NO_CODE, KeyCoder, TextCodes
from windrow.windows.column_words import array_of_words, words_of_array
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import is_wide_decimal
from windrow.windows.window import EventColumns

__all__ = ["WindowScan"]

# Events that are turned into changes at once.
EVENTS_AT_ONCE = 1 << 16
NO_FLAGS: NDArray[np.uint8] = np.empty((0, 0), np.uint8)


class WindowScan:
    """One window; plan: a select of it alone. grid_us: rows come and go at its multiples only."""

    def __init__(self, plan: QueryPlan, grid_us: int = 1) -> None:
        self._prepared = prepared_columns(plan, 0)
        self._types = [column.type.arrow for column in plan.select]
        self._grid_us = grid_us
        self._texts = {
            place: TextCodes(kind)
            for place, kind in enumerate(self._types)
            if is_coded(kind) or is_wide_decimal(kind)
        }
        entry = plan.inputs[0]
        self.window = window_of(entry.window, len(self._types))
        partition_types = [part.type.arrow for part in entry.window.partition_by]
        self._partitions = KeyCoder(partition_types) if partition_types else None

    def append(self, rows: PreparedRows) -> None:
        """Rows in order of arrival, all later than the clock, wait for it."""
        rows = rows.expanded()
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
        codes = np.zeros(rows.size, np.int32)
        if rows.takes_part is not None:
            codes[~rows.takes_part] = NO_CODE
        partitions = None
        if self._partitions is not None:
            partitions = self._partitions.acquire(rows.partitions)
        self.window.append(rows.times, codes, words, flags, partitions)

    def run(self, until: int) -> Changes:
        """The rows that enter and leave up to and including `until`."""
        self.window.open(until)
        parts: list[Changes] = []
        events = EventColumns(EVENTS_AT_ONCE)
        count = EVENTS_AT_ONCE
        while count == EVENTS_AT_ONCE:
            count = self.window.fill(events, 0, EVENTS_AT_ONCE, until, self._grid_us)
            parts.append(self._changes(events, count))
        self._reclaim()
        return _joined(parts)

    def _changes(self, events: EventColumns, count: int) -> Changes:
        if not count:
            return no_changes(self._types)
        at, row = events.at[:count].copy(), events.row[:count]
        weight = events.sign[:count].astype(np.int64)
        live = self.window.columns.codes[row] != NO_CODE
        if not live.all():
            at, row, weight = at[live], row[live], weight[live]
        return Changes(at, weight, self._rows_at(row))

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
        for number, texts in self._texts.items():
            texts.forget(texts.release(columns.store.values[number][gone].astype(np.int32)))
        if self._partitions is not None:
            empty = self._partitions.release(columns.partitions[gone])
            self.window.forget_partitions(empty)
        self.window.reclaim(gone)

    def held(self, at: int) -> Changes:
        """The rows in the window, as if all had entered at that instant."""
        places = self.window.held()
        places = places[self.window.columns.codes[places] != NO_CODE]
        weight = np.ones(places.size, np.int64)
        return Changes(np.full(places.size, at, np.int64), weight, self._rows_at(places))

    def rows(self) -> pa.RecordBatch:
        """The rows held and waiting, as prepared rows in their order: all that a rebuild needs."""
        window, schema = self.window, self._prepared.schema
        places = np.concatenate([window.held(), window.waiting()])
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
        return self.window.nbytes + coded + sum(each.nbytes for each in self._texts.values())

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the window, that this many rows may need."""
        beside = self.nbytes - self.window.nbytes
        return 0 if not beside else 2 * beside + 256 * rows * len(self._texts)


def _joined(parts: list[Changes]) -> Changes:
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(part.columns for part in parts), strict=True)
    return Changes(
        np.concatenate([part.at for part in parts]),
        np.concatenate([part.weight for part in parts]),
        tuple(pa.concat_arrays(each) for each in columns),
    )
