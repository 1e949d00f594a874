"""The timing wheel of chunked arrays: rows are never linked one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.results.expiry_queue import Longs, as_batch, as_instant, drain, grown
from windrow.results.overdue import OverdueRows
from windrow.results.wheel import kernels
from windrow.windows.kernels import EMPTY

__all__ = ["TimingWheel"]

FEWEST_CHUNKS = 8


class TimingWheel:
    """Slots of chunks, finer ones where rows are many.

    >>> queue = TimingWheel()
    >>> queue.enqueue(np.array([7, 5, 7]), np.array([0, 1, 2]))
    >>> queue.dequeue(7)
    (array([5, 7, 7]), array([1, 0, 2]))
    """

    def __init__(self) -> None:
        slots = kernels.LEVELS * kernels.SLOTS
        self._slots = np.zeros((slots, kernels.SLOT_COLUMNS), np.int32)
        self._words = np.zeros(kernels.WORDS, np.uint64)
        self._chunks = np.zeros((FEWEST_CHUNKS, kernels.CHUNK_ROWS, 2), np.int64)
        self._following = np.zeros(FEWEST_CHUNKS, np.int32)
        self._bottom = np.zeros((2 * kernels.BOTTOM_ROWS, 2), np.int64)
        self._control = np.zeros(kernels.CONTROL_ENTRIES, np.int64)
        self._control[kernels.FIRST_FREE] = EMPTY
        self._overdue = OverdueRows()
        self._size = 0
        self._expected = 0

    @property
    def size(self) -> int:
        """Rows held."""
        return self._size + self._overdue.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(array.nbytes for array in self._arrays()) + self._overdue.nbytes

    def enqueue(self, expiries: Longs, items: NDArray[np.integer]) -> None:
        """Take rows in."""
        expiries, items = self._overdue.keep(*as_batch(expiries, items))
        done = 0
        while done < expiries.size:
            done = kernels.insert_rows(done, expiries, items, *self._arrays())
            self._make_room()
        self._size += expiries.size

    def dequeue(self, until: int) -> tuple[Longs, Longs]:
        """Give out the rows at or before the instant."""
        until = as_instant(until)

        def take(expiries: Longs, items: Longs) -> tuple[int, bool]:
            count, is_done = kernels.remove_rows(until, *self._arrays(), expiries, items)
            self._make_room()
            return int(count), bool(is_done)

        expiries, items = drain(take, self._expected)
        self._expected = expiries.size + kernels.CHUNK_ROWS
        self._size -= expiries.size
        late = self._overdue.take(until)
        self._overdue.pass_to(until)
        if late[0].size:
            return np.concatenate([late[0], expiries]), np.concatenate([late[1], items])
        return expiries, items

    def _arrays(self) -> tuple[NDArray[np.generic], ...]:
        return (
            self._slots, self._words, self._chunks, self._following, self._bottom, self._control,
        )  # fmt: skip

    def _make_room(self) -> None:
        needed = int(self._control[kernels.NEEDED])
        if needed:
            chunks = int(self._control[kernels.NEXT_FRESH] - self._control[kernels.FREE]) + needed
            self._chunks = grown(self._chunks, chunks)
            self._following = grown(self._following, self._chunks.shape[0])
            self._control[kernels.NEEDED] = 0
