"""Functions of numbers."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.rules import CONSTANT_INT, as_first, rounded
from windrow.schema import BIGINT, DOUBLE

__all__ = ["MATHS"]

_DOUBLE = (Kind.DOUBLE,)

MATHS: tuple[ScalarFunction, ...] = (
    ScalarFunction("abs", (Kind.NUMBER,), as_first, is_total=True, example="ABS(i)", value="7"),
    ScalarFunction(
        "ceil",
        (Kind.NUMBER,),
        BIGINT,
        also=("ceiling",),
        is_total=True,
        example="CEIL(x)",
        value="3",
    ),
    ScalarFunction(
        "floor", (Kind.NUMBER,), BIGINT, is_total=True, example="FLOOR(-2.5)", value="-3"
    ),
    ScalarFunction(
        "round",
        (Kind.NUMBER, CONSTANT_INT),
        rounded,
        optional=1,
        is_total=True,
        example="ROUND(2.345, 2)",
        value="2.35",
    ),
    ScalarFunction(
        "sqrt",
        _DOUBLE,
        DOUBLE,
        example="SQRT(9)",
        value="3.0",
        duckdb="(CASE WHEN {0} < 0 THEN 'nan' ELSE sqrt({0}) END)",
    ),
    ScalarFunction("exp", _DOUBLE, DOUBLE, example="EXP(0)", value="1.0"),
    ScalarFunction(
        "sign",
        _DOUBLE,
        DOUBLE,
        also=("signum",),
        example="SIGN(i)",
        value="-1.0",
        duckdb="(CASE WHEN isnan({0}) THEN {0} ELSE sign({0})::DOUBLE END)",
    ),
    ScalarFunction(
        "ln",
        _DOUBLE,
        DOUBLE,
        example="LN(0)",
        value="NULL",
        duckdb="(CASE WHEN {0} > 0 THEN ln({0}) END)",
    ),
    ScalarFunction(
        "power",
        (Kind.DOUBLE, Kind.DOUBLE),
        DOUBLE,
        also=("pow",),
        example="POWER(2, 10)",
        value="1024.0",
        duckdb="pow({0}, {1})",
    ),
)
