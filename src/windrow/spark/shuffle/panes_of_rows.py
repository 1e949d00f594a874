"""Which prepared rows no tick can distinguish: those of one pane with equal keys and groups."""

from __future__ import annotations

from collections.abc import Container

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.windows.codes import needs_codes
from windrow.windows.column_words import words_of_array
from windrow.windows.lifetime import Lifetime
from windrow.windows.value_bytes import bytes_of_values

__all__ = ["LEAST_RATIO", "Words", "dense", "identity", "panes_of"]

# Rows are combined where at least this many become one that crosses the shuffle.
LEAST_RATIO = 3
# Panes and keys are counted in a table of at most this many places per row; cleared every time.
PLACES_PER_ROW = 4

Words = NDArray[np.int64]


def panes_of(times: pa.Array, lifetime: Lifetime, grid_us: int) -> list[Words]:
    """At which tick rows show first, and how many ticks later they are gone."""
    times_us = times.to_numpy(zero_copy_only=False)
    enter = -(-lifetime.enter(times_us) // grid_us)
    leave = -(-lifetime.leave(times_us) // grid_us)
    return [enter, leave - enter]


def identity(rows: pa.RecordBatch, left_out: Container[str]) -> list[Words]:
    """What indistinguishable rows of one pane have in common: keys, groups and values."""
    words: list[Words] = []
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if name == "ts" or name in left_out:
            continue
        if needs_codes(column.type):
            values = bytes_of_values(column) if pa.types.is_nested(column.type) else column
            encoded = pc.dictionary_encode(values, null_encoding="encode")
            words.append(encoded.indices.cast(pa.int64()).to_numpy(zero_copy_only=False))
            continue
        found, valid = words_of_array(column)
        words.append(found)
        if valid.size:
            words.append(valid.astype(np.int64))
    return words


def dense(words: list[Words]) -> Words | None:
    """One small number for the words of each row; None where there is none that is small enough."""
    code = np.zeros(words[0].size, np.int64)
    places, limit = 1, PLACES_PER_ROW * words[0].size
    for column in words:
        lowest, highest = int(column.min()), int(column.max())
        if lowest == highest:
            continue
        if places * (highest - lowest + 1) <= limit:
            code = code * (highest - lowest + 1) + (column - lowest)
            places *= highest - lowest + 1
            continue
        known = pc.dictionary_encode(pa.array(column))
        if places * len(known.dictionary) > limit:
            return None
        code = code * len(known.dictionary) + known.indices.to_numpy()
        places *= len(known.dictionary)
    return code
