"""A binary heap of rows by expiry: what every other structure has to beat."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.expiry import heap_kernels
from windrow.operators.expiry.expiry_queue import (
    Longs,
    as_batch,
    as_instant,
    as_limit,
    drain,
    grown,
    shrunk,
)

__all__ = ["BinaryHeap"]

SMALLEST_HEAP = 64


class BinaryHeap:
    """Rows in a heap, for any expiries.

    >>> queue = BinaryHeap()
    >>> queue.enqueue(np.array([7, 5, 7]), np.array([0, 1, 2]))
    >>> queue.dequeue(7)
    (array([5, 7, 7]), array([1, 0, 2]))
    """

    def __init__(self) -> None:
        self._heap = np.zeros((SMALLEST_HEAP, heap_kernels.HEAP_COLUMNS), np.int64)
        self._size = 0
        self._arrivals = 0
        self._expected = 0

    @property
    def size(self) -> int:
        """Rows held."""
        return self._size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._heap.nbytes

    def enqueue(self, expiries: Longs, items: NDArray[np.integer]) -> None:
        """Take rows in."""
        expiries, items = as_batch(expiries, items)
        self._heap = grown(self._heap, self._size + expiries.size)
        heap_kernels.push_rows(self._size, self._arrivals, expiries, items, self._heap)
        self._size += expiries.size
        self._arrivals += expiries.size

    def dequeue(self, until: int, limit: int | None = None) -> tuple[Longs, Longs]:
        """Give out the rows at or before the instant, at most `limit` of them."""
        until, most = as_instant(until), as_limit(limit)

        def take(expiries: Longs, items: Longs) -> tuple[int, bool]:
            count = int(heap_kernels.pop_rows(self._size, until, self._heap, expiries, items))
            self._size -= count
            return count, count < expiries.size

        expiries, items, _ = drain(take, self._expected, most)
        self._expected = expiries.size + 1
        self._heap = shrunk(self._heap, max(SMALLEST_HEAP, self._size))
        return expiries, items
