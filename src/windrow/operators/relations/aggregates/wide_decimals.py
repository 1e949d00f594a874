"""Decimals of more than 18 digits, which need two words, as columns of one word each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["halves", "is_wide_decimal", "key_columns", "key_types", "values_of_keys"]

Words = NDArray[np.int64]
_WORD_DIGITS = 18


def is_wide_decimal(kind: pa.DataType) -> bool:
    """Whether values of the type need more than a word.

    >>> is_wide_decimal(pa.decimal128(18, 2)), is_wide_decimal(pa.decimal128(19, 2))
    (False, True)
    """
    return bool(pa.types.is_decimal(kind) and kind.precision > _WORD_DIGITS)


def halves(column: pa.Array) -> tuple[Words, Words]:
    """The high words, with the sign, and the low ones, without; 0 for NULL."""
    pairs = np.frombuffer(column.buffers()[1], np.int64)
    pairs = pairs[2 * column.offset : 2 * (column.offset + len(column))].reshape(-1, 2).copy()
    if column.null_count:
        pairs[~column.is_valid().to_numpy(zero_copy_only=False)] = 0
    return np.ascontiguousarray(pairs[:, 1]), np.ascontiguousarray(pairs[:, 0])


def key_types(kind: pa.DataType) -> list[pa.DataType]:
    """The types of columns that stand for one of this type in keys."""
    return [pa.int64(), pa.int64()] if is_wide_decimal(kind) else [kind]


def key_columns(column: pa.Array) -> list[pa.Array]:
    """The column as columns whose values are a word or a text."""
    if not is_wide_decimal(column.type):
        return [column]
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return [pa.array(words, mask=missing) for words in halves(column)]


def values_of_keys(columns: list[pa.Array], kind: pa.DataType) -> pa.Array:
    """The column back from those that stand for it."""
    if not is_wide_decimal(kind):
        return columns[0]
    high, low = columns
    pairs = np.empty((len(low), 2), np.int64)
    pairs[:, 0] = low.fill_null(0).to_numpy()
    pairs[:, 1] = high.fill_null(0).to_numpy()
    validity = low.is_valid().buffers()[1] if low.null_count else None
    return pa.Array.from_buffers(kind, len(low), [validity, pa.py_buffer(pairs)])
