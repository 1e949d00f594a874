"""Choices between values, and what becomes of NULL."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.rules import as_first, as_second

__all__ = ["CONDITIONAL"]

_ALIKE = (Kind.ALIKE, Kind.ALIKE)

CONDITIONAL: tuple[ScalarFunction, ...] = (
    ScalarFunction(
        "coalesce",
        (Kind.ALIKE,),
        as_first,
        repeats=True,
        also=("nvl", "ifnull"),
        example="COALESCE(NULL, i, 0)",
        value="-7",
    ),
    ScalarFunction(
        "if",
        (Kind.BOOLEAN, Kind.ALIKE, Kind.ALIKE),
        as_second,
        optional=1,
        is_form=True,
        example="IF(i < 0, 'minus', 'plus')",
        value="minus",
    ),
    ScalarFunction("nullif", _ALIKE, as_first, example="NULLIF(3, 3)", value="NULL"),
    ScalarFunction("least", _ALIKE, as_first, repeats=True, example="LEAST(i, x)", value="-7.0"),
    ScalarFunction(
        "greatest", _ALIKE, as_first, repeats=True, example="GREATEST(3, 1, 2)", value="3"
    ),
)
