"""The value columns of prepared rows as words of 64 bits, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.windows.column_words import array_of_words, words_of_array

__all__ = ["ValueWords", "value_columns", "value_words"]

# Rows of words, and their flags of validity: no rows of flags while every value is valid.
ValueWords = tuple[NDArray[np.int64], NDArray[np.uint8]]

_WORD = pa.int64()


def value_words(columns: Sequence[pa.Array], size: int) -> ValueWords:
    """The values of so many rows as words.

    >>> value_words([pa.array([1, None])], 2)[0].tolist()
    [[1, 0]]
    """
    words = np.empty((len(columns), size), np.int64)
    flags: NDArray[np.uint8] = np.empty((0, 0), np.uint8)
    for index, column in enumerate(columns):
        if column.type == _WORD and not column.null_count:
            words[index] = column.to_numpy()
        elif pa.types.is_floating(column.type):
            words[index] = _double_bits(column)
        else:
            words[index] = words_of_array(column)[0]
        if column.null_count:
            if not flags.size:
                flags = np.ones(words.shape, np.uint8)
            flags[index] = column.is_valid().to_numpy(zero_copy_only=False)
    return words, flags


def value_columns(
    words: NDArray[np.int64], valid: NDArray[np.uint8], types: Sequence[pa.DataType]
) -> list[pa.Array]:
    """The values back from their words and flags."""
    none = np.zeros(words.shape[1], np.bool_)
    return [
        array_of_words(words[i], valid[i] == 0 if valid.size else none, kind)
        for i, kind in enumerate(types)
    ]


def _double_bits(column: pa.Array) -> NDArray[np.int64]:
    if column.null_count:
        column = column.fill_null(0.0)
    bits: NDArray[np.int64] = column.to_numpy(zero_copy_only=False).view(np.int64)
    return bits
