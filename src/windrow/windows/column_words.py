"""Values of Arrow columns as words of 64 bits, and back: what hash tables and sums work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = [
    "NO_FLAGS",
    "Flags",
    "ValueWords",
    "Words",
    "array_of_words",
    "read_only",
    "value_columns",
    "value_words",
    "words_of_array",
]

Words = NDArray[np.int64]
Flags = NDArray[np.uint8]
NO_FLAGS: Flags = np.empty(0, np.uint8)
NO_ROWS: Flags = np.empty((0, 0), np.uint8)
# Rows of words, and their flags of validity: no rows of flags while every value is valid.
ValueWords = tuple[Words, Flags]
_WORD = pa.int64()
_WHOLE = frozenset([pa.int8(), pa.int16(), pa.int32(), pa.int64()])


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The array, which is not to be written: a kernel is compiled for those of Arrow and others."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def words_of_array(column: pa.Array) -> tuple[Words, Flags]:
    """The values as words of 64 bits, and flags of validity (none when all are valid).

    Equal values give equal words: -0.0 counts as 0.0 and every NaN as the same one.
    """
    kind = column.type
    if kind in _WHOLE and not column.null_count:
        return column.cast(_WORD).to_numpy(), NO_FLAGS
    if pa.types.is_floating(kind):
        values = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN, not an incident
            values = np.where(np.isnan(values), np.nan, values + 0.0)
        words = values.view(np.int64)
    elif pa.types.is_decimal(kind):
        words = _unscaled(column)
    else:
        words = _integers(column)
    if column.null_count == 0:
        return words, NO_FLAGS
    return words, column.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False)


def _integers(column: pa.Array) -> Words:
    kind = column.type
    if pa.types.is_date32(kind):
        column = column.cast(pa.int32())
    if column.null_count:
        column = pc.fill_null(column.cast(pa.int64()), 0)
    words: Words = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return words


def _unscaled(column: pa.Array) -> Words:
    # A decimal of at most 18 digits is the low one of the two words that Arrow keeps.
    pairs = np.frombuffer(column.buffers()[1], np.int64)
    words = pairs[2 * column.offset : 2 * (column.offset + len(column)) : 2].copy()
    if column.null_count:
        words[~column.is_valid().to_numpy(zero_copy_only=False)] = 0
    return words


def array_of_words(words: Words, missing: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """Values of an Arrow type back from their words; NULL where flagged."""
    mask = missing if missing.any() else None
    if pa.types.is_floating(kind):
        return pa.array(words.view(np.float64), pa.float64(), mask=mask).cast(kind)
    if pa.types.is_decimal(kind):
        return _decimals(words, mask, kind)
    if pa.types.is_date32(kind):
        return pa.array(words.astype(np.int32), pa.int32(), mask=mask).cast(kind)
    return pa.array(words, pa.int64(), mask=mask).cast(kind)


def _decimals(words: Words, mask: NDArray[np.bool_] | None, kind: pa.DataType) -> pa.Array:
    pairs = np.empty((words.size, 2), np.int64)
    pairs[:, 0] = words
    pairs[:, 1] = words >> 63
    validity = None
    if mask is not None:
        validity = pa.array(~mask).buffers()[1]
    return pa.Array.from_buffers(kind, words.size, [validity, pa.py_buffer(pairs)])


def value_words(columns: Sequence[pa.Array], size: int) -> ValueWords:
    """The values of so many rows as words.

    >>> value_words([pa.array([1, None])], 2)[0].tolist()
    [[1, 0]]
    """
    if len(columns) == 1 and columns[0].type == _WORD and not columns[0].null_count:
        return columns[0].to_numpy()[None], NO_ROWS
    words = np.empty((len(columns), size), np.int64)
    flags = NO_ROWS
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


def value_columns(words: Words, valid: Flags, types: Sequence[pa.DataType]) -> list[pa.Array]:
    """The values back from their words and flags."""
    none = np.zeros(words.shape[1], np.bool_)
    return [
        array_of_words(words[i], valid[i] == 0 if valid.size else none, kind)
        for i, kind in enumerate(types)
    ]


def _double_bits(column: pa.Array) -> Words:
    if column.null_count:
        column = column.fill_null(0.0)
    values: NDArray[np.float64] = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    bits: Words = values.view(np.int64)
    return bits
