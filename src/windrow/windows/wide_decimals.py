"""Decimals beyond 18 digits, such as sums, as two words of 64 bits, and back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.schema import MAX_DECIMAL_DIGITS

__all__ = ["is_wide_decimal", "wide_of_words", "words_of_wide"]

Words = NDArray[np.int64]


def is_wide_decimal(kind: pa.DataType) -> bool:
    """Whether values of the type may need more than one word.

    >>> is_wide_decimal(pa.decimal128(18, 2)), is_wide_decimal(pa.decimal128(19, 2))
    (False, True)
    """
    return bool(pa.types.is_decimal(kind)) and kind.precision > MAX_DECIMAL_DIGITS


def words_of_wide(column: pa.Array) -> Words:
    """The high word and the low word, which has no sign, of each value; zeros for NULL."""
    pairs = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
    words = pairs[column.offset : column.offset + len(column), ::-1].copy()
    if column.null_count:
        words[~column.is_valid().to_numpy(zero_copy_only=False)] = 0
    return words


def wide_of_words(high: pa.Array, low: pa.Array, kind: pa.DataType) -> pa.Array:
    """The decimals back from columns of their words; NULL where the high one is."""
    pairs = np.empty((len(high), 2), np.int64)
    pairs[:, 0] = low.fill_null(0).to_numpy(zero_copy_only=False)
    pairs[:, 1] = high.fill_null(0).to_numpy(zero_copy_only=False)
    validity = high.is_valid().buffers()[1] if high.null_count else None
    return pa.Array.from_buffers(kind, len(high), [validity, pa.py_buffer(pairs)])
