"""Values as ranks for MIN and MAX: 64-bit integers of which the largest is the best.

Numbers, times, dates and booleans keep their order. NaN ranks above all other numbers and -0.0 as
0.0. For MIN the bits are complemented, so that extremes are always maxima.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.windows.column_words import array_of_words, words_of_array

__all__ = ["ranks_of_values", "values_of_ranks"]

Words = NDArray[np.int64]
_ALL_BUT_SIGN = np.int64((1 << 63) - 1)


def ranks_of_values(column: pa.Array, *, is_max: bool) -> tuple[Words, NDArray[np.uint8]]:
    """Ranks and flags of those that are not NULL (no flags when none is).

    >>> ranks, _ = ranks_of_values(pa.array([2.0, -1.0, float("nan")]), is_max=True)
    >>> np.argsort(ranks).tolist()
    [1, 0, 2]
    """
    words, present = words_of_array(column)
    if pa.types.is_floating(column.type):
        words = _turned(words)
    return (words if is_max else ~words), present


def values_of_ranks(
    ranks: Words, present: NDArray[np.bool_], kind: pa.DataType, *, is_max: bool
) -> pa.Array:
    """The values back; NULL where there is none."""
    words = ranks if is_max else ~ranks
    if pa.types.is_floating(kind):
        words = _turned(words)
    return array_of_words(np.where(present, words, 0), ~present, kind)


def _turned(words: Words) -> Words:
    """Bits of doubles as integers in the same order, and back."""
    turned: Words = words ^ ((words >> 63) & _ALL_BUT_SIGN)
    return turned
