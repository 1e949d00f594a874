"""Rules for the type of a call: as its first argument, a decimal with fewer digits, and so on."""

from __future__ import annotations

from windrow.scalar_functions.entry import Given, Kind, Takes
from windrow.schema import ColumnType, decimal

__all__ = ["CONSTANT_INT", "CONSTANT_TEXT", "as_arithmetic", "as_first", "as_second", "rounded"]

CONSTANT_INT = Takes(Kind.INT, is_constant=True)
CONSTANT_TEXT = Takes(Kind.TEXT, is_constant=True)


def as_first(given: Given) -> ColumnType:
    """The type of the first argument."""
    return given.types[0]


def as_second(given: Given) -> ColumnType:
    """The type of the second argument."""
    return given.types[1]


def as_arithmetic(given: Given) -> ColumnType:
    """As the operators say: BIGINT, DECIMAL or DOUBLE."""
    return given.types[0]


def rounded(given: Given) -> ColumnType:
    """The type of a number rounded to a constant number of places."""
    kind = given.types[0]
    if kind.name != "DECIMAL":
        return kind
    places = int(str(given.constants[1])) if len(given.constants) > 1 else 0
    if places >= kind.scale:
        return kind
    # Rounding up may carry into a digit more; the places dropped make room for it.
    scale = max(places, 0)
    return decimal(kind.precision - kind.scale + scale + 1, scale)
