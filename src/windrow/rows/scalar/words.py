"""The words of exact sums: integers in parts of 31 and 33 bits and the rest, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.scalar.values import Function, from_numpy, numbers, over_arrays
from windrow.schema import ColumnType

__all__ = ["WORDS", "words_of_integers"]

_LOW, _MIDDLE = 31, 33  # bits
_LOW_MASK, _MIDDLE_MASK = (1 << _LOW) - 1, (1 << _MIDDLE) - 1
_MIN, _MAX = -(2**63), 2**63 - 1
# What a word is of an integer of Python, or of an array of them that have 64 bits.
_PARTS: dict[str, Callable[[Any], Any]] = {
    "top_word": lambda value: value >> _LOW >> _MIDDLE,
    "high_word": lambda value: value >> _LOW,
    "middle_word": lambda value: (value >> _LOW) & _MIDDLE_MASK,
    "low_word": lambda value: value & _LOW_MASK,
}


def _word(name: str) -> Function:
    part = _PARTS[name]

    @over_arrays
    def word(arguments: list[Any], kind: ColumnType) -> Any:
        (column,) = arguments
        return from_numpy(part(numbers(column)), kind, arguments)

    return word


@over_arrays
def _whole(arguments: list[Any], kind: ColumnType) -> Any:
    """The integer of which the words are summed; no value where it is beyond 64 bits."""
    words = [numbers(column) for column in arguments]
    whole, fits = _of_two(*words) if len(words) == 2 else _of_three(*words)
    return from_numpy(np.where(fits, whole, 0), kind, arguments, fits)


def _of_two(high: Any, low: Any) -> tuple[Any, Any]:
    limit = 1 << (63 - _LOW)
    # The low words carry less than the limit: far beyond it nothing brings the sum back.
    near = (high >= -2 * limit) & (high < 2 * limit)
    carried = np.where(near, high, 0) + (low >> _LOW)
    fits = near & (carried >= -limit) & (carried < limit)
    return (np.where(fits, carried, 0) << _LOW) | (low & _LOW_MASK), fits


def _of_three(top: Any, middle: Any, low: Any) -> tuple[Any, Any]:
    near = (middle < 1 << 62) & (top > -(1 << 62)) & (top < 1 << 62)
    carried = np.where(near, middle, 0) + (low >> _LOW)
    whole = ((carried & _MIDDLE_MASK) << _LOW) | (low & _LOW_MASK)
    # All bits above the whole are those of its sign.
    return whole, near & (np.where(near, top, 0) + (carried >> _MIDDLE) == whole >> 63)


def words_of_integers(values: list[int | None], name: str) -> pa.Array:
    """A word of integers of any size; NULL where it is beyond 64 bits."""
    part = _PARTS[name]
    words = [None if value is None else part(value) for value in values]
    held = [word if word is not None and _MIN <= word <= _MAX else None for word in words]
    return pa.array(held, pa.int64())


WORDS: dict[str, Function] = {**{name: _word(name) for name in _PARTS}, "from_words": _whole}
