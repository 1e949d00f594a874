"""The words of exact sums: integers of any size in parts of 31 bits and the rest, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.scalar.values import Function, from_numpy, numbers, over_arrays
from windrow.schema import ColumnType

__all__ = ["WORDS", "words_of_integers"]

_BITS = 31
_MASK = (1 << _BITS) - 1
_MIN, _MAX = -(2**63), 2**63 - 1
# What a word is of an integer of Python, or of an array of them.
_PARTS: dict[str, Callable[[Any], Any]] = {
    "top_word": lambda value: value >> 2 * _BITS,
    "high_word": lambda value: value >> _BITS,
    "middle_word": lambda value: (value >> _BITS) & _MASK,
    "low_word": lambda value: value & _MASK,
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
    *higher, low = (numbers(column) for column in arguments)
    carried = low >> _BITS
    fits = np.ones(low.shape, np.bool_)
    bits = low & _MASK
    for place, word in enumerate(reversed(higher), start=1):
        # Lower words carry less than 2**32, so that a word far beyond the limit is beyond it.
        limit = 1 << 62 if place < len(higher) else 1 << 40
        near = (word >= -limit) & (word < limit)
        total = np.where(near, word, 0) + carried
        fits &= near
        if place < len(higher):
            bits = bits | (total & _MASK) << _BITS * place
            carried = total >> _BITS
            continue
        room = 63 - _BITS * place
        fits &= (total >= -(1 << room)) & (total < 1 << room)
        bits = bits | np.where(fits, total, 0) << _BITS * place
    return from_numpy(np.where(fits, bits, 0), kind, arguments, fits)


def words_of_integers(values: list[int | None], name: str) -> pa.Array:
    """A word of integers of any size; NULL where it is beyond 64 bits."""
    part = _PARTS[name]
    words = [None if value is None else part(value) for value in values]
    held = [word if word is not None and _MIN <= word <= _MAX else None for word in words]
    return pa.array(held, pa.int64())


WORDS: dict[str, Function] = {**{name: _word(name) for name in _PARTS}, "from_words": _whole}
