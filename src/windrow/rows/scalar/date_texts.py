"""Times written by a pattern part by part: each part has few different texts.

The parts of the day are written once for each day, hours, minutes and seconds once for each value
that they have; the texts are then put together by columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.times.civil import DAY_US
from windrow.times.formatting import Moment, format_parts, writes_era
from windrow.times.patterns import Field, Optional, Pattern
from windrow.times.zones import UTC_ZONE

__all__ = ["texts_by_parts"]

_SECOND_US = 1_000_000
# Of each letter how long its value lasts, and after which time the same ones come again.
_CYCLES = {
    **dict.fromkeys("HhKka", (3600 * _SECOND_US, DAY_US)),
    "m": (60 * _SECOND_US, 3600 * _SECOND_US),
    "s": (_SECOND_US, 60 * _SECOND_US),
}
_DIGITS = 6


def texts_by_parts(pattern: Pattern, wall: Any) -> pa.Array:
    """The texts of times on the wall, by a pattern without a zone."""
    has_era = writes_era(pattern)
    columns = [_column(letter, parts, wall, has_era) for letter, parts in _pieces(pattern)]
    if not columns:
        return pa.array([""] * len(wall), pa.string())
    if len(columns) == 1:
        return columns[0]
    return pc.binary_join_element_wise(*columns, "")


def _pieces(pattern: Pattern) -> Iterator[tuple[str, Pattern]]:
    """Parts that are written together: those of the day; else a letter, and texts behind it."""
    letter, parts = "", list[Any]()
    for part in _flat(pattern):
        own = (part.letter if part.letter in (*_CYCLES, "S") else "") if _is_field(part) else None
        if own is not None and parts and (own != letter or own):
            yield letter, tuple(parts)
            parts = []
        letter = letter if own is None else own
        parts.append(part)
    if parts:
        yield letter, tuple(parts)


def _is_field(part: Any) -> bool:
    return isinstance(part, Field)


def _flat(pattern: Pattern) -> Iterator[Any]:
    for part in pattern:
        if isinstance(part, Optional):
            yield from _flat(part.parts)
        else:
            yield part


def _column(letter: str, parts: Pattern, wall: Any, has_era: bool) -> pa.Array:
    if letter == "S":
        return _fractions(parts, wall, has_era)
    step, cycle = _CYCLES.get(letter, (DAY_US, 0))
    keys = np.floor_divide(wall if not cycle else np.mod(wall, cycle), step)
    encoded = pa.array(keys).dictionary_encode()
    shown = [
        format_parts(parts, Moment(key * step, 0, UTC_ZONE), has_era=has_era)
        for key in encoded.dictionary.to_pylist()
    ]
    return pa.array(shown, pa.string()).take(encoded.indices)


def _fractions(parts: Pattern, wall: Any, has_era: bool) -> pa.Array:
    """The first digits of the microseconds, and the text behind them."""
    first, *rest = parts
    assert isinstance(first, Field)
    digits = pc.utf8_lpad(pa.array(np.mod(wall, _SECOND_US)).cast(pa.string()), _DIGITS, "0")
    if first.count > _DIGITS:
        digits = pc.binary_join_element_wise(digits, "0" * (first.count - _DIGITS), "")
    found = pc.utf8_slice_codeunits(digits, 0, first.count)
    behind = format_parts(tuple(rest), Moment(0, 0, UTC_ZONE), has_era=has_era)
    return pc.binary_join_element_wise(found, behind, "") if behind else found
