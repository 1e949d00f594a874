"""Times and values of rows, in columns, for all the windows that read them.

    rows   [free) first head [held by some window) [waiting for all clocks) end [spare capacity)

Rows are appended at the end and evicted at the front, in time order, once no window holds them. A
window has its own places in it (buffer.ColumnWindow) and its own columns in addition, which
move with the rows. A batch that comes out of order is merged into the rows that wait behind every
clock, so this is the reorder buffer too. Rows of equal time stay in order of arrival.

Few rows are in ordinary arrays with some spare capacity, which are copied to grow. Many are on
reserved addresses: there memory begins at `low`, ends behind the last row, and is not copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from windrow.event_time import END_OF_TIME
from windrow.windows import kernels
from windrow.windows.column_words import read_only
from windrow.windows.marks import Assignments, Pending
from windrow.windows.moving import PIECE, Move, MoveDown, Places, row_count
from windrow.windows.reserved import CAN_RESERVE, PAGE, give_back, held_bytes, memory_of, reserved

__all__ = [
    "FEW_ROWS",
    "NO_MATRIX",
    "SMALLEST_BUFFER",
    "SPARE_PARTS",
    "Reader",
    "RowStore",
    "Rows",
    "StoreMark",
    "spare_share",
]

SMALLEST_BUFFER = 64
# One part in five is spare: moving the rows down then costs five copies of a row in its life.
SPARE_PARTS = 5
# From so many rows on they are on reserved addresses: a mapping and pages of its own for each
# column are worth it.
FEW_ROWS = 1 << 13
# Addresses for so many times the rows: rows then move once in seven of their lives.
ADDRESS_PARTS = 8
# Rows that left keep their pages until they are this part of those held, and some pages.
GONE_PARTS = 128
GONE_ROWS = 1 << 10
# With those that leave during a push they may be this part.
FORESEEN_PARTS = 32
# A new page costs several times as much as copying one that is there: up to so many rows are moved
# down for each place that is used again.
MOVED_PER_PLACE = 4


def spare_share(rows: float) -> float:
    """The bytes that a store of so many rows takes beyond those of the rows, as a part of them."""
    if not CAN_RESERVE or rows < FEW_ROWS:
        return 1 / SPARE_PARTS
    return max(1 / FORESEEN_PARTS, GONE_ROWS / rows)


Rows = NDArray[np.int64]
Flags = NDArray[np.uint8]
NO_MATRIX: Flags = np.empty((0, 0), np.uint8)
_STORE_NAMES = ("times", "values", "valid")


class Reader(Protocol):
    """A window that reads rows of a store."""

    # head, tail and end among the rows, and one place more that is its own
    cursor: Rows
    # the names of the columns that are its own and move with the rows
    own_names: tuple[str, ...]

    @property
    def first_needed(self) -> int:
        """The first row that it holds, or may have to hold again."""

    @property
    def tail(self) -> int:
        """The first row that it waits for."""

    def expect(self, start: int, end: int) -> None:
        """Rows were written at these places; which of them they keep is not yet said."""

    def own_columns(self) -> list[NDArray[Any]]:
        """The columns that are its own and move with the rows."""


class StoreMark:
    """Where the rows of a store ended, and what was written over among those that wait."""

    __slots__ = ("end_number", "merged")

    def __init__(self, end_number: int) -> None:
        self.end_number = end_number
        self.merged: list[tuple[NDArray[Any], int, NDArray[Any]]] = []


class RowStore:
    """Times and `value_count` words for each row; flags of validity once a NULL was seen."""

    def __init__(self, value_count: int) -> None:
        self.times = np.full(SMALLEST_BUFFER, END_OF_TIME, np.int64)
        self.values = np.empty((value_count, SMALLEST_BUFFER), np.int64)
        self.valid: Flags = NO_MATRIX
        self.end = 0
        # The number of the row in place 0: numbers stay when rows move down.
        self.base = 0
        # Where the rows of the last append() are, in their order of arrival.
        self.appended: Rows | slice = slice(0, 0)
        self._windows: list[Reader] = []
        self.pending: Pending | None = None  # changes that were begun
        self._mark: StoreMark | None = None
        self.is_reserved = False
        # On reserved addresses: memory is between these places, or reaches as far as the rows do.
        self._low, self._high = 0, 0
        self._look_at = 0  # where the end is when it is next looked whether rows have left
        self._left = 0  # the first row held when that was last done
        self.may_reserve = CAN_RESERVE

    def join(self, window: Reader) -> None:
        """A window will read the rows from now on."""
        self._windows = [*self._windows, window]

    def leave(self, window: Reader) -> None:
        """A window reads no more."""
        self._windows = [each for each in self._windows if each is not window]

    def make(self, changes: Pending) -> None:
        """Make changes that are whole even if they are broken off: complete() goes on with them."""
        self.pending = changes
        self.complete()

    def complete(self) -> None:
        """Bring changes to their end that were broken off."""
        if self.pending is not None:
            self.pending.finish()
            self.pending = None

    def mark(self) -> StoreMark:
        """How the rows are now: rewind() goes back to it until keep() is called."""
        if self.pending is not None:
            self.complete()
        self._mark = StoreMark(self.base + self.end)
        return self._mark

    def keep(self) -> None:
        """The rows that were appended since the mark stay."""
        self._mark = None

    def rewind(self, mark: StoreMark) -> None:
        """The rows that were appended since the mark are gone, as if they had never come."""
        self.complete()
        for column, low, old in mark.merged:
            column[..., low : low + old.shape[-1]] = old
        self._high = self._written
        self.end = mark.end_number - self.base
        self.times[self.end] = END_OF_TIME
        self.appended = slice(self.end, self.end)
        for window in self._windows:
            window.cursor[2] = self.end

    @property
    def reader_count(self) -> int:
        """Windows that read the rows."""
        return len(self._windows)

    @property
    def head(self) -> int:
        """The first row that a window holds or waits for."""
        return min((window.first_needed for window in self._windows), default=self.end)

    @property
    def capacity(self) -> int:
        """Places for rows and the sentinel behind them."""
        return self.times.size

    @property
    def row_count(self) -> int:
        """Rows held or waiting."""
        return self.end - self.head

    @property
    def nbytes(self) -> int:
        """Bytes of times, values and flags, spare capacity included, and of a column on its way."""
        held = sum(self.bytes_of(column) for column in (self.times, self.values, self.valid))
        return held + self.pending.nbytes if isinstance(self.pending, _Moving) else held

    def bytes_of(self, column: NDArray[Any]) -> int:
        """Bytes of one column, of the store or of a window that reads it."""
        if not column.size:
            return 0
        if self.is_reserved:
            return held_bytes(column, self._low, self._written)
        # Of a move that goes on some columns are on reserved addresses already.
        is_ordinary = self.pending is None or memory_of(column) is None
        return column.nbytes if is_ordinary else held_bytes(column, 0, self.row_count + 1)

    @property
    def _written(self) -> int:
        """Behind the last place that was ever written."""
        return max(self._high, self.end + 1)

    @property
    def places_with_memory(self) -> int:
        """Places for rows that bytes are taken for."""
        return self._written - self._low if self.is_reserved else self.capacity

    def append(self, times: Rows, values: Rows, valid: Flags = NO_MATRIX) -> None:
        """Take rows in order of arrival, all later than the clock of any window."""
        count = times.size
        self.appended = slice(self.end, self.end)
        if count == 0:
            return
        # One place more than rows: the sentinel behind the last one.
        if self.end + count + 1 > self.times.size:
            self._move(self._room_for(count))
        elif self.end > self._look_at and self.is_reserved:
            self._reuse_gone(self.head, count)
        if valid.size and not self.valid.size:
            self.valid = self.new_column(np.uint8, 1, self.values.shape[0])
        start, end = self.end, self.end + count
        self.times[start:end] = times
        self.times[end] = END_OF_TIME
        self.values[:, start:end] = values
        if self.valid.size:
            self.valid[:, start:end] = valid if valid.size else 1
        self.end = end
        for window in self._windows:
            window.expect(start, end)
        self.appended = self._placed(start)

    def took_one(self) -> None:
        """A kernel has written a row behind the last one, and moved the window that reads it."""
        self.appended = slice(self.end, self.end + 1)
        self.end += 1
        if self.end > self._look_at and self.is_reserved:
            # Rows that left just now may still be read.
            self._give_back_gone(self._left)

    def new_column(self, dtype: DTypeLike, fill: int, rows: int | None = None) -> NDArray[Any]:
        """One more column, or a matrix of so many rows, with this in each place of a row held."""
        shape = (self.capacity,) if rows is None else (rows, self.capacity)
        out = reserved(shape, dtype) if self.is_reserved else None
        if out is None:
            out = np.empty(shape, dtype)
        first, end = (self._low, self.end + 1) if self.is_reserved else (0, self.capacity)
        out[..., first:end] = fill
        return out

    def add_value(self, changes: Assignments) -> None:
        """One more word a row, zero in the rows that are there, once `changes` are made."""
        numbers = [*range(self.values.shape[0]), None]
        changes.add(self, values=self._chosen(self.values, numbers, 0))
        if self.valid.size:
            changes.add(self, valid=self._chosen(self.valid, numbers, 1))

    def keep_values(self, numbers: list[int], changes: Assignments) -> None:
        """Only these words of a row are needed, in this order: from when `changes` are made on."""
        changes.add(self, values=self._chosen(self.values, numbers, 0))
        if self.valid.size:
            changes.add(self, valid=self._chosen(self.valid, numbers, 1))

    def _chosen(
        self, matrix: NDArray[Any], numbers: Sequence[int | None], fill: int
    ) -> NDArray[Any]:
        """These rows of a matrix, and filled ones where there is no number."""
        out = self.new_column(matrix.dtype, fill, len(numbers))
        for place, number in enumerate(numbers):
            if number is not None:
                out[place, self._low : self.end] = matrix[number, self._low : self.end]
        return out

    def keep_places(self, kept: Rows, tail: int, changes: Assignments) -> None:
        """Only the rows at these places stay, for a store of one window that closes its gaps.

        tail: how many of them are held. changes: made with it.
        """
        cursors = [(self._windows[0], np.array([0, tail, kept.size], np.int64))]
        capacity = self._spared(kept.size + 1) if self.is_reserved else self.capacity
        self.make(_Moving(self, kept, capacity, 0, cursors, changes))

    def trim(self) -> None:
        """Give memory back where much more is held than the rows need."""
        needed = self.row_count + 1
        if self.is_reserved and needed > FEW_ROWS // 2:
            self._give_back_gone(self.head, least=1)
            self._give_back_unused()
        elif self.capacity > self._spared(needed) + needed // SPARE_PARTS:
            self._move(self._spared(needed))

    def _reuse_gone(self, head: int, count: int) -> None:
        """Before so many rows come: use the pages of rows that left again, or give them back."""
        gone, held = head - self._low, self.end - head
        if held > MOVED_PER_PLACE * min(gone, count):
            self._give_back_gone(head)
        elif self.end + count >= self._written:
            self.make(_MovingDown(self, slice(head, self.end), gone))

    def _give_back_gone(self, head: int, least: int = GONE_ROWS) -> None:
        """Give back the pages of rows before `head`, if they are many or a part of those held."""
        self._left = self.head
        enough = max(least, (self.end - self._left) // GONE_PARTS) if least > 1 else least
        self._look_at = self.end + enough // 2
        if head - self._low < enough:
            return
        columns = [column for column in self._columns() if column.size]
        if all([give_back(column, self._low, head) for column in columns]):
            self._low = head

    def _give_back_unused(self) -> None:
        """Give back the pages behind the rows that were written and are no longer there."""
        is_done = True
        for column in [column for column in self._columns() if column.size]:
            page = PAGE // column.itemsize
            end = min(self._high + page, self.capacity)
            is_done &= give_back(column, self.end + page, end)
        if is_done:
            self._high = 0

    def bytes_after(self, count: int) -> tuple[int, int]:
        """Bytes of all columns with this many more rows: afterwards, and the peak meanwhile."""
        held, columns = self.nbytes_of_all, [each for each in self._columns() if each.size]
        end = self.end + count + 1
        if end <= self.capacity:
            if not self.is_reserved:
                return held, held
            end = max(end, self._high)
            after = sum(held_bytes(each, self._low, end) for each in columns)
            return after, after
        capacity = self._room_for(count)
        largest = max(columns, key=lambda each: each.nbytes)
        if self.may_reserve and capacity >= FEW_ROWS:
            needed = self.row_count + count + 1
            after = sum(held_bytes(each, 0, needed) for each in columns)
            piece = PIECE * largest.itemsize if self.is_reserved else largest.nbytes
            return after, max(held, after) + piece
        after = held * capacity // self.capacity
        return after, max(held, after) + largest.nbytes * capacity // self.capacity

    @property
    def nbytes_of_all(self) -> int:
        """Bytes of all columns, those of the windows too."""
        return sum(map(self.bytes_of, self._columns()))

    @property
    def row_bytes(self) -> int:
        """Bytes of one row in all columns, those of the windows too."""
        return sum(self._entry_bytes())

    def copied_bytes(self, held: float) -> float:
        """The most that exists twice while all columns together grow to so many bytes."""
        if self.is_reserved:
            return PIECE * max(column.itemsize for column in self._columns())
        entries = self._entry_bytes()
        largest = max(entries)
        copied = held * largest / sum(entries)
        if not self.may_reserve:
            return copied
        return min(copied, largest * FEW_ROWS * (1 + 1 / SPARE_PARTS))

    def _entry_bytes(self) -> list[int]:
        """Bytes of each column for one row; none while it is not used."""
        return [
            column.itemsize * (column.size // column.shape[-1]) if column.size else 0
            for column in self._columns()
        ]

    def _columns(self) -> list[NDArray[Any]]:
        own = [column for window in self._windows for column in window.own_columns()]
        return [self.times, self.values, self.valid, *own]

    def _room_for(self, count: int) -> int:
        """The capacity of ordinary arrays for this many more rows."""
        needed = self.row_count + count + 1
        capacity = self._spared(needed)
        has_room = needed + needed // (2 * SPARE_PARTS) <= self.capacity <= 2 * capacity
        return self.capacity if has_room else capacity

    def _spared(self, needed: int) -> int:
        """The capacity of ordinary arrays for so many places."""
        return max(SMALLEST_BUFFER, needed + needed // SPARE_PARTS)

    def _move(self, capacity: int) -> None:
        """Move the rows to the front of arrays of this capacity, or on addresses for many more."""
        head = self.head
        cursors = [(window, window.cursor[:3] - head) for window in self._windows]
        kept = slice(head, self.end)
        self.make(_Moving(self, kept, capacity, self.base + head, cursors, Assignments()))

    def _placed(self, start: int) -> Rows | slice:
        """Merge rows from `start` on into the waiting rows before them; where they then are."""
        end, times = self.end, self.times
        tail = 0 if self._windows else start
        for window in self._windows:
            tail = max(tail, int(window.cursor[1]))
        first = max(start - 1, tail)
        is_one = end - first == 2 and times[first] <= times[first + 1]
        if end - first < 2 or is_one or kernels.is_sorted(read_only(times[first:end])):
            return slice(start, end)
        fresh = times[start:end]
        low = tail + int(np.searchsorted(self.times[tail:start], fresh.min(), side="right"))
        order = np.argsort(self.times[low:end], kind="stable")
        columns = [column for column in self._columns() if column.size]
        if self._mark is not None:
            self._mark.merged = [(each, low, each[..., low:start].copy()) for each in columns]
        for column in columns:
            column[..., low:end] = column[..., low:end][..., order]
        places = np.empty(order.size, np.int64)
        places[order] = np.arange(low, end)
        return places[start - low :]


class _Moving:
    """The rows of a store on their way to the front of other arrays: pending until it is done."""

    def __init__(
        self,
        store: RowStore,
        kept: Places,
        capacity: int,
        base: int,
        cursors: list[tuple[Reader, Rows]],
        changes: Assignments,
    ) -> None:
        self._store, self._cursors, self._changes = store, cursors, changes
        self._end, self._base = row_count(kept), base
        columns: list[tuple[object, str]] = [(store, name) for name in _STORE_NAMES]
        columns += [(each, name) for each in store._windows for name in each.own_names]
        # Rows of a reserved store need so many addresses that they seldom move.
        wide = -(-capacity * ADDRESS_PARTS // PAGE) * PAGE
        wants_pages = store.may_reserve and capacity >= FEW_ROWS
        arrays = _reserved_columns(columns, wide) if wants_pages else []
        self._is_reserved = bool(arrays)
        self._may_reserve = store.may_reserve and bool(arrays) >= wants_pages
        self._columns = Move(columns, kept, wide if arrays else capacity, arrays)

    @property
    def nbytes(self) -> int:
        """Bytes of the column that is being moved, and is not where it was yet."""
        return self._columns.nbytes

    def finish(self) -> None:
        """Move what has not moved yet, and say where the rows are."""
        self._columns.finish()
        store = self._store
        store.times[self._end] = END_OF_TIME
        for window, cursor in self._cursors:
            window.cursor[:3] = cursor
        store.end, store.base = self._end, self._base
        store.is_reserved, store._low, store._high = self._is_reserved, 0, 0
        store._look_at, store._left = self._end, 0
        store.may_reserve = self._may_reserve
        self._changes.finish()


class _MovingDown:
    """The rows of a reserved store on their way to places that others have left."""

    def __init__(self, store: RowStore, kept: slice, places: int) -> None:
        self._store = store
        self._cursors = [(each, each.cursor[:3] - places) for each in store._windows]
        self._end, self._base = kept.stop - places, store.base + places
        self._written = store._written
        columns = [column for column in store._columns() if column.size]
        self._moves = [MoveDown(column, kept, places) for column in columns]

    def finish(self) -> None:
        """Move what has not moved yet, and say where the rows are."""
        for move in self._moves:
            move.finish()
        store = self._store
        store.times[self._end] = END_OF_TIME
        for window, cursor in self._cursors:
            window.cursor[:3] = cursor
        store.end, store.base, store._high = self._end, self._base, self._written
        store._look_at, store._left = self._end, 0


def _reserved_columns(
    columns: list[tuple[object, str]], capacity: int
) -> list[NDArray[Any] | None]:
    """Arrays on reserved addresses for all columns that have entries; none where it is refused."""
    out: list[NDArray[Any] | None] = []
    for owner, name in columns:
        column: NDArray[Any] = getattr(owner, name)
        array = reserved((*column.shape[:-1], capacity), column.dtype) if column.size else None
        if column.size and array is None:
            return []
        out.append(array)
    return out
