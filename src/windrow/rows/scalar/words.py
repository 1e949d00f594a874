"""The words of exact sums: integers of any size as 31 bits and the rest, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.scalar.values import Function, from_numpy, numbers, over_arrays
from windrow.schema import ColumnType

__all__ = ["WORDS", "words_of_integers"]

_LOW_BITS = 31
_LOW_MASK = (1 << _LOW_BITS) - 1
_MIN, _MAX = -(2**63), 2**63 - 1


@over_arrays
def _high(arguments: list[Any], kind: ColumnType) -> Any:
    (column,) = arguments
    return from_numpy(numbers(column) >> _LOW_BITS, kind, arguments)


@over_arrays
def _low(arguments: list[Any], kind: ColumnType) -> Any:
    (column,) = arguments
    return from_numpy(numbers(column) & _LOW_MASK, kind, arguments)


@over_arrays
def _whole(arguments: list[Any], kind: ColumnType) -> Any:
    high, low = (numbers(column) for column in arguments)
    limit = 1 << (63 - _LOW_BITS)
    # The low words add up to at most 63 bits, so that a high one beyond these is beyond all.
    near = (high >= -(2**34)) & (high < 2**34)
    carried = np.where(near, high, 0) + (low >> _LOW_BITS)
    fits = near & (carried >= -limit) & (carried < limit)
    whole = (np.where(fits, carried, 0) << _LOW_BITS) | (low & _LOW_MASK)
    return from_numpy(whole, kind, arguments, fits)


def words_of_integers(values: list[int | None], *, is_high: bool) -> pa.Array:
    """The words of integers of any size; NULL where not even the rest is a BIGINT."""
    found: list[int | None] = []
    for value in values:
        if value is None or not _MIN <= value >> _LOW_BITS <= _MAX:
            found.append(None)
        else:
            found.append(value >> _LOW_BITS if is_high else value & _LOW_MASK)
    return pa.array(found, pa.int64())


WORDS: dict[str, Function] = {"high_word": _high, "low_word": _low, "from_words": _whole}
