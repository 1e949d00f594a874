"""The value columns of prepared rows as words of 64 bits, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.windows.key_coder import array_of_words, words_of_array

__all__ = ["columns_of_kind", "value_columns", "value_words"]


def value_words(rows: pa.RecordBatch) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The values as rows of words, and their flags (no rows when every value is valid)."""
    columns = columns_of_kind(rows, "v")
    words = np.empty((len(columns), rows.num_rows), np.int64)
    flags: NDArray[np.uint8] = np.empty((0, 0), np.uint8)
    for index, column in enumerate(columns):
        if pa.types.is_floating(column.type):
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


def columns_of_kind(rows: pa.RecordBatch, letter: str) -> list[pa.Array]:
    """The columns of prepared rows whose names begin with a letter: keys, groups, values."""
    return [rows.column(name) for name in rows.schema.names if name[0] == letter and name != "live"]
