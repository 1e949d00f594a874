"""The rows of one window in columns: appended at the tail, expired at the head, in time order.

    rows   [free) head [held in the window) tail [waiting for the clock) end [spare capacity)

A row waits behind the tail until the clock reaches it, so this is the reorder buffer too: a batch
that comes out of order is merged into the waiting rows. Rows of equal time stay in order of
arrival.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME
from windrow.windows import kernels
from windrow.windows.codes import Codes

__all__ = ["ColumnWindow", "Rows"]

SMALLEST_BUFFER = 64
# One part in five is spare: moving the rows down then costs five copies of a row in its life.
SPARE_PARTS = 5

Rows = NDArray[np.int64]
NO_MATRIX: NDArray[np.uint8] = np.empty((0, 0), np.uint8)


class ColumnWindow:
    """Times, a code and `value_count` words for each row; flags of validity once a NULL was seen.

    >>> window = ColumnWindow(value_count=0)
    >>> window.append(np.array([3, 1]), np.array([0, 1], np.int32), np.empty((0, 2), np.int64))
    >>> window.times[window.tail : window.end].tolist()
    [1, 3]
    """

    def __init__(self, value_count: int, *, has_links: bool = False) -> None:
        self.times = np.full(SMALLEST_BUFFER, END_OF_TIME, np.int64)
        self.codes: Codes = np.empty(SMALLEST_BUFFER, np.int32)
        self.values = np.empty((value_count, SMALLEST_BUFFER), np.int64)
        self.valid: NDArray[np.uint8] = NO_MATRIX
        # For windows that count rows by partition: a second code, the number of the next row of the
        # partition, and whether the row is still held.
        linked = SMALLEST_BUFFER if has_links else 0
        self.partitions: Codes = np.empty(linked, np.int32)
        self.following = np.empty(linked, np.int64)
        self.alive = np.empty(linked, np.bool_)
        # head, tail, end, row that waits to be evicted
        self.cursor = np.array([0, 0, 0, kernels.EMPTY], np.int64)
        # The number of the row in place 0: numbers stay when rows move down.
        self.base = 0

    @property
    def head(self) -> int:
        """The first row held."""
        return int(self.cursor[0])

    @property
    def tail(self) -> int:
        """The first row that waits."""
        return int(self.cursor[1])

    @property
    def end(self) -> int:
        """Behind the last row."""
        return int(self.cursor[2])

    @property
    def nbytes(self) -> int:
        """Bytes held, spare capacity included."""
        return sum(column.nbytes for column in self._columns()) + self.cursor.nbytes

    def append(
        self,
        times: Rows,
        codes: Codes,
        values: Rows,
        valid: NDArray[np.uint8] = NO_MATRIX,
        partitions: Codes | None = None,
    ) -> None:
        """Take rows in order of arrival, all later than the clock."""
        count = times.size
        if count == 0:
            return
        self._make_room(count)
        if valid.size and not self.valid.size:
            self.valid = np.ones(self.values.shape, np.uint8)
        start, end = self.end, self.end + count
        self.times[start:end] = times
        self.times[end] = END_OF_TIME
        self.codes[start:end] = codes
        self.values[:, start:end] = values
        if self.valid.size:
            self.valid[:, start:end] = valid if valid.size else 1
        if partitions is not None:
            self.partitions[start:end] = partitions
        self.cursor[2] = end
        self._restore_order(start)

    def keep_alive(self) -> Rows:
        """Close the gaps between head and tail; returns the old places of the rows that stay."""
        held = np.flatnonzero(self.alive[self.head : self.tail]) + self.head
        kept = np.concatenate([held, np.arange(self.tail, self.end)])
        for column in self._columns():
            if column.size:
                column[..., : kept.size] = column[..., kept]
        self.cursor[:3] = (0, held.size, kept.size)
        self.times[kept.size] = END_OF_TIME
        self.base = 0
        return held

    def _columns(self) -> list[NDArray[Any]]:
        named = (self.times, self.codes, self.values, self.valid)
        return [*named, self.partitions, self.following, self.alive]

    def _make_room(self, count: int) -> None:
        head, end = self.head, self.end
        rows = end - head
        # One place more than rows: the sentinel behind the last one.
        if end + count + 1 <= self.times.size:
            return
        needed = rows + count + 1
        capacity = max(SMALLEST_BUFFER, needed + needed // SPARE_PARTS)
        has_room = needed + needed // (2 * SPARE_PARTS) <= self.times.size <= 2 * capacity
        moved = [
            _moved(column, head, end, None if has_room else capacity) if column.size else column
            for column in self._columns()
        ]
        self.times, self.codes, self.values, self.valid, *linked = moved
        self.partitions, self.following, self.alive = linked
        if self.values.shape[1] != self.times.size:  # no values: an empty column still has a length
            self.values = np.empty((0, self.times.size), np.int64)
        self.cursor[:3] -= head
        self.base += head

    def _restore_order(self, start: int) -> None:
        """Merge rows from `start` on into the waiting rows before them, where they are earlier."""
        end = self.end
        tail = self.tail
        fresh = self.times[start:end]
        if kernels.is_sorted(self.times[max(start - 1, tail) : end]):
            return
        low = tail + int(np.searchsorted(self.times[tail:start], fresh.min(), side="right"))
        order = np.argsort(self.times[low:end], kind="stable")
        for column in self._columns():
            if column.size:
                column[..., low:end] = column[..., low:end][..., order]


def _moved(column: NDArray[Any], head: int, end: int, capacity: int | None) -> NDArray[Any]:
    out = column
    if capacity is not None:
        out = np.empty((*column.shape[:-1], capacity), column.dtype)
    out[..., : end - head] = column[..., head:end]
    return out
