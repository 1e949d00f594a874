"""Functions of text."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.schema import INT, STRING

__all__ = ["TEXT"]

_TEXT = (Kind.TEXT,)

TEXT: tuple[ScalarFunction, ...] = (
    ScalarFunction("lower", _TEXT, STRING, also=("lcase",), example="LOWER(t)", value="lab 203"),
    ScalarFunction("upper", _TEXT, STRING, also=("ucase",), example="UPPER(t)", value="LAB 203"),
    ScalarFunction(
        "length",
        _TEXT,
        INT,
        also=("char_length", "character_length", "len"),
        example="LENGTH(t)",
        value="7",
    ),
    ScalarFunction(
        "concat", _TEXT, STRING, repeats=True, example="CONCAT(t, '!')", value="Lab 203!"
    ),
    ScalarFunction(
        "substring",
        (Kind.TEXT, Kind.INT, Kind.INT),
        STRING,
        also=("substr",),
        optional=1,
        example="SUBSTRING(t, -3)",
        value="203",
    ),
    ScalarFunction(
        "trim", _TEXT, STRING, example="TRIM('  x ')", value="x", duckdb="trim({0}, ' ')"
    ),
)
