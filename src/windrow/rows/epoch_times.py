"""Times that are numbers since 1970: as instants, where their unit is declared, or refused."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.schema import TIMESTAMP

__all__ = [
    "UnitError",
    "as_instants",
    "counted",
    "counted_column",
    "counted_texts",
    "instant_of_number",
    "is_in_microseconds",
    "is_number",
    "told_unit",
]

# Microseconds in one of each unit.
_IN_US = {"s": Fraction(10**6), "ms": Fraction(1000), "us": Fraction(1), "ns": Fraction(1, 1000)}
_NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
# Below these, in absolute value, a number looks like one of the unit: years up to 5138.
_LOOKS_LIKE = ((10**11, "s"), (10**14, "ms"), (10**17, "us"))
_MICROSECONDS = (10**14, 10**17)
_MOST_US = 2**61


class UnitError(ValueError):
    """Times are numbers, and the stream has no unit for them; unit: what they look like."""

    def __init__(self, value: float) -> None:
        self.unit = _looks_like(value)
        super().__init__(f"{value!r} is a number that looks like {_NAMES[self.unit]} since 1970")


def is_number(kind: pa.DataType) -> bool:
    """Whether values of an Arrow type are numbers that may be times."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def instant_of_number(value: float, unit: str) -> int | None:
    """Microseconds since 1970; None where no instant is so far away.

    >>> instant_of_number(1.5, "s"), instant_of_number(1999, "ns"), instant_of_number(2**80, "s")
    (1500000, 1, None)
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    exact = Fraction(value) * _IN_US[unit]
    # Finer than a microsecond is cut off, as of Arrow's nanoseconds; of binary fractions rounded.
    instant = round(exact) if isinstance(value, float) else math.floor(exact)
    return instant if -_MOST_US < instant < _MOST_US else None


def as_instants(column: pa.Array, unit: str) -> pa.Array:
    """A column of numbers as times; NULL where no instant is so far away.

    >>> as_instants(pa.array([1, None]), "s").cast(pa.int64()).to_pylist()
    [1000000, None]
    """
    if not pa.types.is_integer(column.type):
        values = [None if v is None else instant_of_number(v, unit) for v in column.to_pylist()]
        return pa.array(values, pa.int64()).cast(TIMESTAMP.arrow)
    if pa.types.is_unsigned_integer(column.type):
        most = pa.scalar(2**63 - 1, pa.uint64())
        far = pc.greater(column.cast(pa.uint64()), most)
        column = pc.if_else(far, pa.scalar(None, column.type), column)
    numbers, ratio = column.cast(pa.int64()), _IN_US[unit]
    if ratio < 1:
        whole = pa.array(
            np.floor_divide(pc.fill_null(numbers, 0).to_numpy(zero_copy_only=False), 1000),
            mask=numbers.is_null().to_numpy(zero_copy_only=False),
        )
        return whole.cast(TIMESTAMP.arrow)
    most_ticks = _MOST_US // int(ratio)
    is_near = pc.and_(pc.less(numbers, most_ticks), pc.greater(numbers, -most_ticks))
    near = pc.if_else(is_near, numbers, pa.scalar(None, pa.int64()))
    return pc.multiply(near, pa.scalar(int(ratio), pa.int64())).cast(TIMESTAMP.arrow)


def counted(values: Iterable[Any], unit: str | None) -> list[Any]:
    """Values of Python with numbers among them as instants.

    Without a unit a number that looks like microseconds is one, and others are an error.

    >>> counted([1, "2026-01-01"], "s")
    [1000000, '2026-01-01']
    """
    found = []
    for value in values:
        if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
            number = value.item() if isinstance(value, np.generic) else value
            found.append(_counted(number, unit))
        else:
            found.append(value)
    return found


def counted_column(column: pa.Array | pa.ChunkedArray, unit: str | None) -> Any:
    """A column of times, where they are numbers as instants.

    Without a unit integers that look like microseconds are these, and others are an error.

    >>> counted_column(pa.array([1767225600000000]), None).cast(pa.int64()).to_pylist()
    [1767225600000000]
    """
    if not is_number(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if unit is None:
        _check_microseconds(column)
    return as_instants(column, unit or "us")


def _check_microseconds(column: pa.Array) -> None:
    """Refuses the first number that is not surely one of microseconds."""
    others = column.drop_null()
    if pa.types.is_integer(column.type) and len(others):
        least, most = _MICROSECONDS
        size = pc.abs(others) if pa.types.is_signed_integer(column.type) else others
        bounds = [pa.scalar(each, pa.int64()) for each in (least, most)]
        size = size.cast(pa.int64(), safe=False)  # what wraps around is below zero, so too small
        fits = pc.and_(pc.greater_equal(size, bounds[0]), pc.less(size, bounds[1]))
        others = others.filter(pc.invert(fits))
    if len(others):
        raise UnitError(others[0].as_py())


def counted_texts(texts: pa.ChunkedArray, unit: str | None) -> pa.ChunkedArray | None:
    """A column of texts that are numbers as instants; None where one of them is no number.

    Without a unit: where one of them does not look like microseconds.
    """
    if unit is None:
        try:
            return pa.chunked_array([counted_column(pc.cast(texts, pa.int64()), None)])
        except (pa.ArrowInvalid, UnitError):
            return None
    for kind in (pa.int64(), pa.float64()):
        try:
            return pa.chunked_array([as_instants(pc.cast(texts, kind).combine_chunks(), unit)])
        except pa.ArrowInvalid:
            continue
    return None


def told_unit(text: str) -> str:
    """What to say of a text that should be a time, and is a number; nothing of others.

    >>> told_unit("1767225600000")
    ': it looks like milliseconds since 1970, which a stream must name as its unit'
    """
    try:
        unit = _looks_like(float(text))
    except ValueError:
        return ""
    return f": it looks like {_NAMES[unit]} since 1970, which a stream must name as its unit"


def is_in_microseconds(value: object) -> bool:
    """Whether a number can be nothing but microseconds, as times of this package are."""
    return isinstance(value, int) and _looks_like(value) == "us"


def _counted(value: float, unit: str | None) -> int | None:
    if unit is not None:
        return instant_of_number(value, unit)
    if is_in_microseconds(value):
        return int(value)
    raise UnitError(value)


def _looks_like(value: float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "s"
    return next((unit for bound, unit in _LOOKS_LIKE if abs(value) < bound), "ns")
