"""Tuples of codes to one dense code; those without use are forgotten many at a time.

A tuple that is no longer used means no harm as long as nothing is counted under its code, so that
no use is counted here: whoever has the codes says now and then which ones are live.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.windows.codes import NO_FLAGS, Codes, WordCodes

__all__ = ["FoldedCodes"]

_HIGH = 32
_LOW_MASK = (1 << _HIGH) - 1
# Codes are looked through when they are twice as many as were live the last time, and these.
SPARE_CODES = 1024


class FoldedCodes:
    """Codes of tuples of so many columns: the first two make a code, which the third joins, ...

    >>> codes = FoldedCodes(2)
    >>> codes.encode([np.array([7, 7, 8]), np.array([1, 2, 1])]).tolist()
    [0, 1, 2]
    """

    def __init__(self, columns: int) -> None:
        self._tables = [WordCodes() for _ in range(columns - 1)]
        self._is_used = [np.zeros(0, np.bool_) for _ in self._tables]
        self._live = 0

    def encode(self, columns: Sequence[NDArray[Any]]) -> Codes:
        """The code of each row's tuple; the parts are not negative and below 2**31."""
        codes = columns[0]
        for level, table in enumerate(self._tables):
            words = (codes.astype(np.int64) << _HIGH) | columns[level + 1]
            codes = table.encode(words, NO_FLAGS)
            if self._is_used[level].size < table.capacity:
                more = table.capacity - self._is_used[level].size
                self._is_used[level] = np.pad(self._is_used[level], (0, more))
            self._is_used[level][codes] = True
        return codes

    def columns(self, codes: Codes) -> list[Codes]:
        """The parts of codes."""
        out = []
        for table in reversed(self._tables):
            words, _ = table.words(codes)
            out.append((words & _LOW_MASK).astype(np.int32))
            codes = (words >> _HIGH).astype(np.int32)
        return [codes, *out[::-1]]

    @property
    def is_due(self) -> bool:
        """Whether so many codes were given that a sweep pays."""
        return self._tables[-1].size > 2 * self._live + SPARE_CODES

    def sweep(self, live: Codes) -> None:
        """Forget all codes but these."""
        self._live = live.size
        for table, is_used in zip(self._tables[::-1], self._is_used[::-1], strict=True):
            is_used[live] = False
            table.forget(np.flatnonzero(is_used).astype(np.int32))
            is_used[:] = False
            is_used[live] = True
            words, _ = table.words(live)
            live = np.unique(words >> _HIGH).astype(np.int32)

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._tables[-1].capacity

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        tables = sum(table.nbytes for table in self._tables)
        return tables + sum(flags.nbytes for flags in self._is_used)
