"""Tuples of codes to one dense code, by folding: two make a code, which the third joins, and so on.

Codes of tuples that nobody uses must be freed. CountedTuples count the rows of each; SweptTuples
count nothing, and learn from time to time which ones are live: fewer passes where a tuple is met
far more often than it comes and goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.windows.codes import NO_FLAGS, Codes, WordCodes
from windrow.windows.growing import enlarged

__all__ = ["SPARE_CODES", "CountedTuples", "SweptTuples"]

_HIGH = 32
_LOW_MASK = (1 << _HIGH) - 1
# Codes are looked through when they are twice as many as were live the last time, and these.
SPARE_CODES = 1024


class _CodeTuples:
    """Tables for tuples of this many parts: none for one, which is its own code."""

    def __init__(self, parts: int) -> None:
        self._tables = [WordCodes() for _ in range(parts - 1)]

    def parts(self, codes: Codes) -> list[Codes]:
        """The tuples of codes, as columns."""
        out = []
        for table in reversed(self._tables):
            words, _ = table.words(codes)
            out.append((words & _LOW_MASK).astype(np.int32))
            codes = (words >> _HIGH).astype(np.int32)
        return [codes, *out[::-1]]

    def capacity(self, of_first: int = 0) -> int:
        """Every code is below this, where the first part's codes are below of_first."""
        return self._tables[-1].capacity if self._tables else of_first

    def capacity_after(self, rows: int, of_first: int = 0) -> int:
        """The same once so many tuples came, at most."""
        return self._tables[-1].capacity_after(rows) if self._tables else of_first

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while so many tuples come, at most."""
        return sum(table.growth_bytes(rows) for table in self._tables)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(table.nbytes for table in self._tables)

    def _fold(self, level: int, left: NDArray[Any], right: NDArray[Any]) -> Codes:
        return self._tables[level].encode((left.astype(np.int64) << _HIGH) | right, NO_FLAGS)

    def _firsts(self, level: int, codes: Codes) -> Codes:
        """What the tuples of a level begin with: codes of the level below."""
        words, _ = self._tables[level].words(codes)
        return (words >> _HIGH).astype(np.int32)


class CountedTuples(_CodeTuples):
    """Codes that are freed when the last row of their tuple is released.

    >>> tuples = CountedTuples(2)
    >>> tuples.acquire([np.array([5, 5, 7], np.int32), np.array([0, 1, 0], np.int32)]).tolist()
    [0, 1, 2]
    """

    def acquire(self, parts: Sequence[Codes]) -> Codes:
        """The code of each row's tuple, counted once for the row."""
        code = parts[0]
        for level, right in enumerate(parts[1:]):
            code = self._fold(level, code, right)
        counted = code
        for level in reversed(range(len(self._tables))):
            counted = self._firsts(level, self._tables[level].retain(counted))
        return code

    def release(self, codes: Codes) -> None:
        """Count one row less of each code."""
        for level in reversed(range(len(self._tables))):
            idle = self._tables[level].release(codes)
            codes = self._firsts(level, idle)
            self._tables[level].forget(idle)


class SweptTuples(_CodeTuples):
    """Codes that stay until a sweep does not name them; of at least two parts.

    >>> tuples = SweptTuples(2)
    >>> tuples.encode([np.array([7, 7, 8]), np.array([1, 2, 1])]).tolist()
    [0, 1, 2]
    """

    def __init__(self, parts: int) -> None:
        super().__init__(parts)
        self._is_used = [np.zeros(0, np.bool_) for _ in self._tables]
        self._live = 0

    def encode(self, parts: Sequence[NDArray[Any]]) -> Codes:
        """The code of each row's tuple; the parts are not negative and below 2**31."""
        code: Codes = parts[0].astype(np.int32)
        for level, right in enumerate(parts[1:]):
            code = self._fold(level, code, right)
            self._is_used[level] = enlarged(self._is_used[level], self._tables[level].capacity)
            self._is_used[level][code] = True
        return code

    @property
    def is_due(self) -> bool:
        """Whether enough codes were assigned for a sweep to pay off."""
        return self._tables[-1].size > 2 * self._live + SPARE_CODES

    def sweep(self, live: Codes) -> None:
        """Forget all codes but these."""
        self._live = live.size
        for level in reversed(range(len(self._tables))):
            is_used = self._is_used[level]
            is_used[live] = False
            self._tables[level].forget(np.flatnonzero(is_used).astype(np.int32))
            is_used[:] = False
            is_used[live] = True
            if level:
                is_first = np.zeros(self._tables[level - 1].capacity, np.bool_)
                is_first[self._firsts(level, live)] = True
                live = np.flatnonzero(is_first).astype(np.int32)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return super().nbytes + sum(flags.nbytes for flags in self._is_used)
