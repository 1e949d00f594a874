"""Times and values of rows, in columns, for all the windows that read them.

    rows   [free) first head [held by some window) [waiting for all clocks) end [spare capacity)

Rows are appended at the end and let go at the front, in time order, once no window holds them. A
window has places of its own in it (buffer.ColumnWindow) and columns of its own beside it, which
move with the rows. A batch that comes out of order is merged into the rows that wait behind every
clock, so this is the reorder buffer too. Rows of equal time stay in order of arrival.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME
from windrow.windows import kernels

__all__ = ["NO_MATRIX", "SMALLEST_BUFFER", "SPARE_PARTS", "Reader", "RowStore", "Rows", "moved"]

SMALLEST_BUFFER = 64
# One part in five is spare: moving the rows down then costs five copies of a row in its life.
SPARE_PARTS = 5

Rows = NDArray[np.int64]
Flags = NDArray[np.uint8]
NO_MATRIX: Flags = np.empty((0, 0), np.uint8)


class Reader(Protocol):
    """A window that reads rows of a store."""

    @property
    def head(self) -> int:
        """The first row that it holds."""

    @property
    def tail(self) -> int:
        """The first row that it waits for."""

    def expect(self, start: int, end: int) -> None:
        """Rows were written at these places; which of them they keep is not yet said."""

    def own_columns(self) -> list[NDArray[Any]]:
        """The columns that are its own and move with the rows."""

    def move_own(self, head: int, end: int, capacity: int | None) -> None:
        """The store moves its rows from `head` on to the front, in arrays of this capacity."""


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

    def join(self, window: Reader) -> None:
        """A window will read the rows from now on."""
        self._windows.append(window)

    def leave(self, window: Reader) -> None:
        """A window reads no more."""
        self._windows.remove(window)

    @property
    def reader_count(self) -> int:
        """Windows that read the rows."""
        return len(self._windows)

    @property
    def head(self) -> int:
        """The first row that a window holds or waits for."""
        return min((window.head for window in self._windows), default=self.end)

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
        self._make_room(count)
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

    def add_value(self) -> int:
        """Room for one more word a row, zero in the rows that are there; returns its number."""
        self.values = np.vstack([self.values, np.zeros((1, self.capacity), np.int64)])
        if self.valid.size:
            self.valid = np.vstack([self.valid, np.ones((1, self.capacity), np.uint8)])
        return self.values.shape[0] - 1

    def keep_values(self, numbers: list[int]) -> None:
        """Only these words of a row are needed, in this order."""
        self.values = np.ascontiguousarray(self.values[numbers])
        if self.valid.size:
            self.valid = np.ascontiguousarray(self.valid[numbers])

    def keep_places(self, kept: Rows) -> None:
        """Only the rows at these places stay, for a store of one window that closes its gaps."""
        for column in self._columns():
            if column.size:
                column[..., : kept.size] = column[..., kept]
        self.end = kept.size
        self.times[kept.size] = END_OF_TIME
        self.base = 0

    def trim(self) -> None:
        """Give memory back where much more is held than the rows need."""
        needed = self.row_count + 1
        capacity = max(SMALLEST_BUFFER, needed + needed // SPARE_PARTS)
        if self.capacity > capacity + needed // SPARE_PARTS:
            self._move(capacity)

    def bytes_after(self, count: int) -> tuple[int, int]:
        """What so many rows more make of all columns: bytes after it, and at most meanwhile."""
        held = self.nbytes_of_all
        if self.end + count + 1 <= self.capacity:
            return held, held
        capacity, is_new = self._room_for(count)
        if not is_new:
            return held, held
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
        """The capacity for so many rows more, and whether it takes new arrays."""
        needed = self.row_count + count + 1
        capacity = max(SMALLEST_BUFFER, needed + needed // SPARE_PARTS)
        has_room = needed + needed // (2 * SPARE_PARTS) <= self.capacity <= 2 * capacity
        return (self.capacity, False) if has_room else (capacity, True)

    def _make_room(self, count: int) -> None:
        # One place more than rows: the sentinel behind the last one.
        if self.end + count + 1 > self.capacity:
            capacity, _ = self._room_for(count)
            self._move(capacity)

    def _move(self, capacity: int) -> None:
        """Move the rows to the front of arrays of this capacity, one array after the other.

        So no more than one of them exists twice at any moment.
        """
        head, end = self.head, self.end
        grown = None if capacity == self.capacity else capacity
        self.times = moved(self.times, head, end, grown)
        self.times[end - head] = END_OF_TIME
        self.values = moved(self.values, head, end, grown)
        self.valid = moved(self.valid, head, end, grown)
        for window in self._windows:
            window.move_own(head, end, grown)
        self.end -= head
        self.base += head

    def _placed(self, start: int) -> Rows | slice:
        """Merge rows from `start` on into the waiting rows before them; where they then are."""
        end = self.end
        tail = max((window.tail for window in self._windows), default=start)
        fresh = self.times[start:end]
        if kernels.is_sorted(self.times[max(start - 1, tail) : end]):
            return slice(start, end)
        low = tail + int(np.searchsorted(self.times[tail:start], fresh.min(), side="right"))
        order = np.argsort(self.times[low:end], kind="stable")
        for column in self._columns():
            if column.size:
                column[..., low:end] = column[..., low:end][..., order]
        places = np.empty(order.size, np.int64)
        places[order] = np.arange(low, end)
        return places[start - low :]


def moved(column: NDArray[Any], head: int, end: int, capacity: int | None) -> NDArray[Any]:
    """The column with the rows from `head` on in front; a new array where a capacity is given."""
    if column.ndim == 2 and not column.shape[0] and capacity is not None:
        # No values: an empty column still has a length.
        return np.empty((0, capacity if column.shape[1] else 0), column.dtype)
    if not column.size:
        return column
    out = column
    if capacity is not None:
        out = np.empty((*column.shape[:-1], capacity), column.dtype)
    out[..., : end - head] = column[..., head:end]
    return out
