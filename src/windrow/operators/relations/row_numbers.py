"""Dense numbers for rows, used again in the order in which they were given back.

So rows that leave in the order in which they came are next to each other in arrays by number.
"""

from __future__ import annotations

import numpy as np

from windrow.windows.codes import Codes

__all__ = ["RowNumbers"]

_SMALLEST = 64


class RowNumbers:
    """Numbers from 0 on.

    >>> numbers = RowNumbers()
    >>> numbers.take(3).tolist()
    [0, 1, 2]
    >>> numbers.give_back(np.array([1, 0], np.int32))
    >>> numbers.take(3).tolist()
    [1, 0, 3]
    """

    def __init__(self) -> None:
        self._free: Codes = np.empty(_SMALLEST, np.int32)  # a ring
        self._begin = 0
        self._count = 0
        self._next = 0  # every number is below it

    def take(self, count: int) -> Codes:
        """So many numbers that no row has."""
        reused = min(count, self._count)
        out = np.empty(count, np.int32)
        out[:reused] = self._free[self._places(0, reused)]
        out[reused:] = np.arange(self._next, self._next + count - reused)
        self._begin = (self._begin + reused) % self._free.size
        self._count -= reused
        self._next += count - reused
        return out

    def give_back(self, numbers: Codes) -> None:
        """No row has these numbers any more."""
        needed = self._count + numbers.size
        if needed > self._free.size:
            free = np.empty(1 << (needed - 1).bit_length(), np.int32)
            free[: self._count] = self._free[self._places(0, self._count)]
            self._free, self._begin = free, 0
        self._free[self._places(self._count, needed)] = numbers
        self._count = needed

    def _places(self, begin: int, end: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        places = np.arange(self._begin + begin, self._begin + end)
        places &= self._free.size - 1
        return places

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._free.nbytes
