"""Rows that all live equally long: a ring.

Purpose: results of the weakest non-monotonic pattern, such as a selection over one window.
Needs: rows enqueued in the order of their expiry.
Time: O(1) a row, copied in slices; O(log n) to find how many have expired.
Space: 16 bytes a row, up to twice that after growth, four times that after a burst.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from papers.rivals import kernels
from windrow.operators.expiry.expiry_queue import (
    EXPIRY_LIMIT,
    SHRINK_SHARE,
    Longs,
    as_batch,
    as_instant,
    as_limit,
    as_rows,
)

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
        expiries, items = as_rows(expiries, items)
        rows = expiries.size
        if rows == 0:
            return
        first, last = int(expiries[0]), int(expiries[-1])
        if not -EXPIRY_LIMIT < first <= last < EXPIRY_LIMIT:
            expiries, items = as_batch(expiries, items)
        if self._size + rows > self._expiries.size:
            self._set_capacity(max(self._size + rows, 2 * self._expiries.size))
        start = (self._first + self._size) % self._expiries.size
        is_ordered = kernels.push_in_order(
            start, self._latest, expiries, items, self._expiries, self._items
        )
        assert is_ordered, f"a FIFO queue takes rows in order of expiry: {first}, {self._latest}"
        self._latest = last
        self._size += rows

    def dequeue(self, until: int, limit: int | None = None) -> tuple[Longs, Longs]:
        """Give out the rows at or before the instant, at most `limit` of them."""
        expired = kernels.expired_in_order(
            self._first, self._size, as_instant(until), self._expiries
        )
        count = min(expired, as_limit(limit))
        result = self._copy(self._expiries, count), self._copy(self._items, count)
        self._first = (self._first + count) % self._expiries.size
        self._size -= count
        held = max(SMALLEST_RING, self._size)
        if self._expiries.size > SHRINK_SHARE * held:
            self._set_capacity(2 * held)
        return result

    def _copy(self, ring: Longs, count: int) -> Longs:
        end = self._first + count
        if end <= ring.size:
            return ring[self._first : end].copy()
        return np.concatenate([ring[self._first :], ring[: end - ring.size]])

    def _set_capacity(self, rows: int) -> None:
        for name in ("_expiries", "_items"):
            ring = np.empty(rows, np.int64)
            ring[: self._size] = self._copy(getattr(self, name), self._size)
            setattr(self, name, ring)
        self._first = 0
