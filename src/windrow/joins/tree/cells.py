"""Cells of a node: rows that are alike in every code that a tree asks of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.windows.codes import NO_FLAGS, Codes, WordCodes

__all__ = ["FoldedCodes"]

_HIGH = 32
_LOW_MASK = (1 << _HIGH) - 1


class FoldedCodes:
    """Codes of tuples of codes: nothing is kept for tuples of none or one, which is its own code.

    >>> folded = FoldedCodes(2)
    >>> folded.acquire([np.array([5, 5, 7], np.int32), np.array([0, 1, 0], np.int32)]).tolist()
    [0, 1, 2]
    """

    def __init__(self, parts: int) -> None:
        self._parts = parts
        self._tables = [WordCodes() for _ in range(parts - 1)]

    def acquire(self, parts: Sequence[Codes]) -> Codes:
        """The code of each row's tuple, counted once for the row."""
        code = parts[0]
        for table, right in zip(self._tables, parts[1:], strict=True):
            code = table.encode((code.astype(np.int64) << _HIGH) | right, NO_FLAGS)
        self._retain(len(self._tables) - 1, code)
        return code

    def release(self, codes: Codes) -> None:
        """Count one row less of each code."""
        self._release(len(self._tables) - 1, codes)

    def parts(self, codes: Codes) -> list[Codes]:
        """The tuples of codes, as columns."""
        out = []
        for table in reversed(self._tables):
            words, _ = table.words(codes)
            out.append((words & _LOW_MASK).astype(np.int32))
            codes = (words >> _HIGH).astype(np.int32)
        return [codes, *out[::-1]]

    def capacity(self, of_first: int) -> int:
        """Every code is below this, where the first part's codes are below of_first."""
        return self._tables[-1].capacity if self._tables else of_first

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(table.nbytes for table in self._tables)

    def _retain(self, level: int, codes: Codes) -> None:
        while level >= 0:
            fresh = self._tables[level].retain(codes)
            words, _ = self._tables[level].words(fresh)
            codes = (words >> _HIGH).astype(np.int32)
            level -= 1

    def _release(self, level: int, codes: Codes) -> None:
        while level >= 0:
            table = self._tables[level]
            idle = table.release(codes)
            words, _ = table.words(idle)
            codes = (words >> _HIGH).astype(np.int32)
            table.forget(idle)
            level -= 1
