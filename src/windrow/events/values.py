"""Values as they are kept here: one Python value for every two that are equal in SQL.

Instants are microseconds, decimals their digits as an integer, NaN is always the same object and
zero has no sign. Sums of doubles are exact: a double is a whole number of very small parts.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

from windrow.events.giving_up import GivesUpError, gives_up
from windrow.schema import ColumnType

__all__ = [
    "HALVINGS",
    "PARTS",
    "from_arrow",
    "from_python",
    "one_zero",
    "parts_of",
    "sum_of_parts",
    "to_python",
]

# Halvings of one that make up the parts in which doubles are summed: finer values are left alone.
PARTS = 128
_ONE = 1 << PARTS
HALVINGS = float(_ONE)
_SIGNIFICANT = 9007199254740992.0  # 2**53
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ON_THE_WALL = datetime(1970, 1, 1)  # noqa: DTZ001 - a time without a zone
_MICROSECOND = timedelta(microseconds=1)
_FLOAT = struct.Struct("f")
_AS_IT_IS = frozenset(
    ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "STRING", "BINARY", "DATE"]
)


def parts_of(value: float) -> int:
    """A double as a whole number of parts."""
    scaled = value * HALVINGS
    if scaled.is_integer():
        return int(scaled)
    try:  # what is larger than a double by now
        significand, exponent = math.frexp(value)
        shift = exponent + (PARTS - 53)
        return int(significand * _SIGNIFICANT) << shift
    except (ValueError, OverflowError):  # finer than a part; NaN; infinite
        return 0 if value == 0.0 else gives_up("a double")


def sum_of_parts(parts: int) -> float:
    """The nearest double.

    >>> sum_of_parts(parts_of(0.1) + parts_of(1e16) - parts_of(1e16))
    0.1
    """
    try:
        return parts / _ONE
    except OverflowError:
        gives_up("a sum of doubles")


def one_zero(value: float | None) -> float | None:
    """A double by which rows are grouped or joined: one zero, and one NaN."""
    if value is None:
        return None
    return value + 0.0 if value == value else math.nan


def from_python(kind: ColumnType) -> Callable[[Any], Any] | None:
    """Makes of a value that a row of the stream has the one that is kept; None: it is that."""
    if kind.name in _AS_IT_IS:
        return None
    if kind.name == "DOUBLE":
        return _double
    if kind.name == "FLOAT":
        return _float
    if kind.name in ("TIMESTAMP", "TIMESTAMP_NTZ"):
        return _instant
    if kind.name == "DECIMAL":
        return _Digits(kind.scale)
    raise GivesUpError(f"values of {kind}")


def _double(value: Any) -> float | None:
    return None if value is None else float(value)


def _float(value: Any) -> float | None:
    if value is None:
        return None
    try:
        return float(_FLOAT.unpack(_FLOAT.pack(value))[0])
    except OverflowError:
        gives_up("a float")


def _instant(value: Any) -> int | None:
    if value is None or type(value) is int:
        return value
    return int((value - (_ON_THE_WALL if value.tzinfo is None else _EPOCH)) // _MICROSECOND)


class _Digits:
    """Decimals as integers."""

    def __init__(self, scale: int) -> None:
        self._scale = scale

    def __call__(self, value: Any) -> int | None:
        if value is None:
            return None
        return int(Decimal(value).scaleb(self._scale))


def from_arrow(column: pa.Array, kind: ColumnType) -> list[Any]:
    """The values of a column as they are kept."""
    if kind.name in ("TIMESTAMP", "TIMESTAMP_NTZ"):
        found: list[Any] = column.cast(pa.int64()).to_pylist()
        return found
    made = from_python(kind)
    listed: list[Any] = column.to_pylist()
    return listed if made is None else [made(value) for value in listed]


def to_python(kind: ColumnType) -> Callable[[Any], Any] | None:
    """Makes of a value that is kept the one that an answer has; None: it is that."""
    if kind.name in _AS_IT_IS or kind.is_float:
        return None
    if kind.name == "TIMESTAMP":
        return _moment
    if kind.name == "TIMESTAMP_NTZ":
        return _wall_moment
    if kind.name == "DECIMAL":
        return _Decimals(kind.scale)
    raise GivesUpError(f"values of {kind}")


def _moment(value: int | None) -> datetime | None:
    return None if value is None else _EPOCH + timedelta(microseconds=value)


def _wall_moment(value: int | None) -> datetime | None:
    return None if value is None else _ON_THE_WALL + timedelta(microseconds=value)


class _Decimals:
    """Integers as decimals."""

    def __init__(self, scale: int) -> None:
        self._scale = scale

    def __call__(self, value: int | None) -> Decimal | None:
        if value is None:
            return None
        sign, digits = int(value < 0), tuple(map(int, str(abs(value))))
        return Decimal((sign, digits, -self._scale))


def plain_literal(value: object) -> bool:
    """Whether a constant may stand in a text as it is."""
    return value is None or isinstance(value, (bool, int, date))
