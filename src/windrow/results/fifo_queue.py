"""Rows that all live equally long: a ring.

Purpose: results of the weakest non-monotonic pattern, such as a selection over one window.
Needs: rows enqueued in the order of their expiry.
Time: O(1) a row, copied in slices; O(log n) to find how many have expired.
Space: 16 bytes a row, up to twice that after growth, four times that after a burst.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.results.expiry_queue import EXPIRY_LIMIT, SHRINK_SHARE, Longs, as_batch, as_limit

__all__ = ["FifoQueue"]

SMALLEST_RING = 64


class FifoQueue:
    """First in, first out.

    >>> queue = FifoQueue()
    >>> queue.enqueue(np.array([5, 7, 7]), np.array([0, 1, 2]))
    >>> queue.dequeue(6)
    (array([5]), array([0]))
    """

    def __init__(self) -> None:
        self._expiries = np.empty(SMALLEST_RING, np.int64)
        self._items = np.empty(SMALLEST_RING, np.int64)
        self._first = 0
        self._size = 0
        self._latest = -EXPIRY_LIMIT

    @property
    def size(self) -> int:
        """Rows held."""
        return self._size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._expiries.nbytes + self._items.nbytes

    def enqueue(self, expiries: Longs, items: NDArray[np.integer]) -> None:
        """Take rows in, none of which expires before one that came earlier."""
        expiries, items = as_batch(expiries, items)
        if expiries.size == 0:
            return
        first = int(expiries[0])
        is_ordered = first >= self._latest and bool((expiries[1:] >= expiries[:-1]).all())
        assert is_ordered, f"a FIFO queue takes rows in order of expiry: {first}, {self._latest}"
        self._latest = int(expiries[-1])
        self._make_room(self._size + expiries.size)
        capacity = self._expiries.size
        start = (self._first + self._size) % capacity
        head = min(expiries.size, capacity - start)
        for ring, batch in ((self._expiries, expiries), (self._items, items)):
            ring[start : start + head] = batch[:head]
            ring[: batch.size - head] = batch[head:]
        self._size += expiries.size

    def dequeue(self, until: int, limit: int | None = None) -> tuple[Longs, Longs]:
        """Give out the rows at or before the instant, at most `limit` of them."""
        count = min(self._expired(until), as_limit(limit))
        result = self._copy(self._expiries, count), self._copy(self._items, count)
        self._first = (self._first + count) % self._expiries.size
        self._size -= count
        held = max(SMALLEST_RING, self._size)
        if self._expiries.size > SHRINK_SHARE * held:
            self._set_capacity(2 * held)
        return result

    def _expired(self, until: int) -> int:
        stop = min(self._first + self._size, self._expiries.size)
        count = int(np.searchsorted(self._expiries[self._first : stop], until, side="right"))
        if count < stop - self._first:
            return count
        wrapped = self._expiries[: self._size - count]
        return count + int(np.searchsorted(wrapped, until, side="right"))

    def _copy(self, ring: Longs, count: int) -> Longs:
        copy = np.empty(count, np.int64)
        head = min(count, ring.size - self._first)
        copy[:head] = ring[self._first : self._first + head]
        copy[head:] = ring[: count - head]
        return copy

    def _make_room(self, rows: int) -> None:
        capacity = self._expiries.size
        if rows <= capacity:
            return
        self._set_capacity(max(rows, 2 * capacity))

    def _set_capacity(self, rows: int) -> None:
        for name in ("_expiries", "_items"):
            ring = np.empty(rows, np.int64)
            ring[: self._size] = self._copy(getattr(self, name), self._size)
            setattr(self, name, ring)
        self._first = 0
