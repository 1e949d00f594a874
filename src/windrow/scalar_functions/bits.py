"""Functions of bits."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.rules import as_first
from windrow.schema import INT, TINYINT

__all__ = ["BITS"]

_SHIFT = (Kind.INTEGER, Kind.INT)

BITS: tuple[ScalarFunction, ...] = (
    ScalarFunction("bit_count", (Kind.INTEGER,), INT, example="BIT_COUNT(7)", value="3"),
    ScalarFunction(
        "bit_get",
        _SHIFT,
        TINYINT,
        also=("getbit",),
        is_total=True,
        example="BIT_GET(5, 2)",
        value="1",
        remedy="the position counts from 0 and is below the number of bits",
    ),
    ScalarFunction("shiftleft", _SHIFT, as_first, example="SHIFTLEFT(3, 2)", value="12"),
    ScalarFunction("shiftright", _SHIFT, as_first, example="SHIFTRIGHT(i, 1)", value="-4"),
    ScalarFunction(
        "shiftrightunsigned",
        _SHIFT,
        as_first,
        example="SHIFTRIGHTUNSIGNED(i, 1)",
        value="2147483644",
    ),
)
