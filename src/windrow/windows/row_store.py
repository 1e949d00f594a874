"""Times and values of rows, in columns, for all the windows that read them.

    rows   [free) first head [held by some window) [waiting for all clocks) end [spare capacity)

Rows are appended at the end and evicted at the front, in time order, once no window holds them. A
window has its own places in it (buffer.ColumnWindow) and its own columns in addition, which
move with the rows. A batch that comes out of order is merged into the rows that wait behind every
clock, so this is the reorder buffer too. Rows of equal time stay in order of arrival.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME
from windrow.windows import kernels
from windrow.windows.marks import Assignments, Pending

__all__ = ["NO_MATRIX", "SMALLEST_BUFFER", "SPARE_PARTS", "Reader", "RowStore", "Rows", "StoreMark"]

SMALLEST_BUFFER = 64
# One part in five is spare: moving the rows down then costs five copies of a row in its life.
SPARE_PARTS = 5

Rows = NDArray[np.int64]
Flags = NDArray[np.uint8]
NO_MATRIX: Flags = np.empty((0, 0), np.uint8)


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
        """Bytes of times, values and flags, spare capacity included."""
        return self.times.nbytes + self.values.nbytes + self.valid.nbytes

    def append(self, times: Rows, values: Rows, valid: Flags = NO_MATRIX) -> None:
        """Take rows in order of arrival, all later than the clock of any window."""
        count = times.size
        self.appended = slice(self.end, self.end)
        if count == 0:
            return
        # One place more than rows: the sentinel behind the last one.
        if self.end + count + 1 > self.times.size:
            self._move(self._room_for(count)[0])
        if valid.size and not self.valid.size:
            self.valid = np.ones(self.values.shape, np.uint8)
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

    def add_value(self, changes: Assignments) -> None:
        """One more word a row, zero in the rows that are there, once `changes` are made."""
        more = np.zeros((1, self.capacity), np.int64)
        changes.add(self, values=np.vstack([self.values, more]))
        if self.valid.size:
            more_flags = np.ones((1, self.capacity), np.uint8)
            changes.add(self, valid=np.vstack([self.valid, more_flags]))

    def keep_values(self, numbers: list[int], changes: Assignments) -> None:
        """Only these words of a row are needed, in this order: from when `changes` are made on."""
        changes.add(self, values=np.ascontiguousarray(self.values[numbers]))
        if self.valid.size:
            changes.add(self, valid=np.ascontiguousarray(self.valid[numbers]))

    def keep_places(self, kept: Rows, tail: int, changes: Assignments) -> None:
        """Only the rows at these places stay, for a store of one window that closes its gaps.

        tail: how many of them are held. changes: made with it.
        """
        move = _Move(self, kept, self.capacity, base=0, changes=changes)
        move.cursors = [(self._windows[0], np.array([0, tail, kept.size], np.int64))]
        self.make(move)

    def trim(self) -> None:
        """Give memory back where much more is held than the rows need."""
        needed = self.row_count + 1
        capacity = max(SMALLEST_BUFFER, needed + needed // SPARE_PARTS)
        if self.capacity > capacity + needed // SPARE_PARTS:
            self._move(capacity)

    def bytes_after(self, count: int) -> tuple[int, int]:
        """Bytes of all columns with this many more rows: afterwards, and the peak meanwhile."""
        held = self.nbytes_of_all
        if self.end + count + 1 <= self.capacity:
            return held, held
        capacity, _ = self._room_for(count)
        after = held * capacity // self.capacity
        largest = max(column.nbytes for column in self._columns()) * capacity // self.capacity
        return after, max(held, after) + largest

    @property
    def nbytes_of_all(self) -> int:
        """Bytes of all columns, those of the windows too."""
        return sum(column.nbytes for column in self._columns())

    @property
    def largest_share(self) -> float:
        """The part of all bytes that the largest column has: it exists twice while it grows."""
        return max(column.nbytes for column in self._columns()) / self.nbytes_of_all

    def _columns(self) -> list[NDArray[Any]]:
        own = [column for window in self._windows for column in window.own_columns()]
        return [self.times, self.values, self.valid, *own]

    def _room_for(self, count: int) -> tuple[int, bool]:
        """The capacity for this many more rows, and whether it takes new arrays."""
        needed = self.row_count + count + 1
        capacity = max(SMALLEST_BUFFER, needed + needed // SPARE_PARTS)
        has_room = needed + needed // (2 * SPARE_PARTS) <= self.capacity <= 2 * capacity
        return (self.capacity, False) if has_room else (capacity, True)

    def _move(self, capacity: int) -> None:
        """Move the rows to the front of arrays of this capacity."""
        head = self.head
        move = _Move(self, slice(head, self.end), capacity, base=self.base + head)
        move.cursors = [(window, window.cursor[:3] - head) for window in self._windows]
        self.make(move)

    def _placed(self, start: int) -> Rows | slice:
        """Merge rows from `start` on into the waiting rows before them; where they then are."""
        end, times = self.end, self.times
        tail = 0 if self._windows else start
        for window in self._windows:
            tail = max(tail, int(window.cursor[1]))
        first = max(start - 1, tail)
        is_one = end - first == 2 and times[first] <= times[first + 1]
        if end - first < 2 or is_one or kernels.is_sorted(times[first:end]):
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


class _Move:
    """Rows on their way to the front of new arrays, one array after the other.

    So no more than one of them exists twice at any moment, and an interrupted move can continue:
    an array is read for the last time before its successor is noted.
    """

    def __init__(
        self,
        store: RowStore,
        kept: Rows | slice,
        capacity: int,
        base: int,
        changes: Assignments | None = None,
    ) -> None:
        self._store, self._kept, self._capacity, self._base = store, kept, capacity, base
        self._end = kept.size if isinstance(kept, np.ndarray) else kept.stop - kept.start
        self._columns: list[tuple[object, str]] = [
            (store, name) for name in ("times", "values", "valid")
        ]
        self._columns += [(each, name) for each in store._windows for name in each.own_names]
        self._moved: list[NDArray[Any]] = []
        self._changes = changes or Assignments()
        self.cursors: list[tuple[Reader, Rows]] = []

    def finish(self) -> None:
        """Move what has not moved yet."""
        for number, (owner, name) in enumerate(self._columns):
            if len(self._moved) == number:
                column = getattr(owner, name)
                self._moved.append(_moved(column, self._kept, self._end, self._capacity))
            setattr(owner, name, self._moved[number])
        store = self._store
        store.times[self._end] = END_OF_TIME
        for window, cursor in self.cursors:
            window.cursor[:3] = cursor
        store.end, store.base = self._end, self._base
        self._changes.finish()


def _moved(column: NDArray[Any], kept: Rows | slice, end: int, capacity: int) -> NDArray[Any]:
    """A new array of that capacity with the rows that are kept in front."""
    if not column.size:
        # No values: an empty column still has a length.
        is_wide = column.ndim == 2 and column.shape[1]
        return np.empty((0, capacity), column.dtype) if is_wide else column
    out = np.empty((*column.shape[:-1], capacity), column.dtype)
    out[..., :end] = column[..., kept]
    return out
