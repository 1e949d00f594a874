"""Choices between values, and what becomes of NULL."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.rules import as_first, as_second
from windrow.schema import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    ColumnType,
    decimal,
)

__all__ = ["CASTS", "CONDITIONAL"]

_ALIKE = (Kind.ALIKE, Kind.ALIKE)
_ANY = (Kind.ANY,)
_NUMBER = (Kind.NUMBER,)


def _cast(name: str, kind: ColumnType, argument: str, value: str) -> ScalarFunction:
    """A type as a function: a CAST."""
    example = f"{name.upper()}({argument})"
    return ScalarFunction(name, _ANY, kind, is_form=True, example=example, value=value)


CASTS = (
    _cast("boolean", BOOLEAN, "1", "True"),
    _cast("tinyint", TINYINT, "'7'", "7"),
    _cast("smallint", SMALLINT, "x", "2"),
    _cast("int", INT, "x", "2"),
    _cast("bigint", BIGINT, "'12'", "12"),
    _cast("float", FLOAT, "i", "-7.0"),
    _cast("double", DOUBLE, "d", "12.34"),
    _cast("decimal", decimal(10, 0), "x", "3"),
    _cast("string", STRING, "i", "-7"),
)

CONDITIONAL: tuple[ScalarFunction, ...] = (
    *CASTS,
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
    ScalarFunction(
        "nvl2",
        (Kind.ANY, Kind.ALIKE, Kind.ALIKE),
        as_second,
        is_form=True,
        example="NVL2(i, 'known', 'unknown')",
        value="known",
    ),
    ScalarFunction(
        "nullifzero", _NUMBER, as_first, is_form=True, example="NULLIFZERO(0)", value="NULL"
    ),
    ScalarFunction(
        "zeroifnull", _NUMBER, as_first, is_form=True, example="ZEROIFNULL(i)", value="-7"
    ),
    ScalarFunction("isnull", _ANY, BOOLEAN, is_form=True, example="ISNULL(i)", value="False"),
    ScalarFunction("isnotnull", _ANY, BOOLEAN, is_form=True, example="ISNOTNULL(i)", value="True"),
    ScalarFunction(
        "equal_null", _ALIKE, BOOLEAN, is_form=True, example="EQUAL_NULL(i, NULL)", value="False"
    ),
    ScalarFunction("isnan", (Kind.DOUBLE,), BOOLEAN, example="ISNAN(x)", value="False"),
    ScalarFunction("nanvl", (Kind.DOUBLE,) * 2, as_first, example="NANVL(x, 0)", value="2.5"),
    ScalarFunction(
        "typeof", _ANY, STRING, is_form=True, example="TYPEOF(d)", value="decimal(10,2)"
    ),
    ScalarFunction(
        "assert_true",
        (Kind.BOOLEAN, Kind.TEXT),
        BOOLEAN,
        optional=1,
        example="ASSERT_TRUE(i < 0)",
        value="NULL",
        remedy="the query demands that this is true; filter such rows out",
    ),
    ScalarFunction(
        "raise_error",
        (Kind.TEXT,),
        BOOLEAN,
        example="CASE WHEN i > 0 THEN RAISE_ERROR('i is above 0') END",
        value="NULL",
        remedy="the query says that this is an error; filter such rows out",
    ),
)
