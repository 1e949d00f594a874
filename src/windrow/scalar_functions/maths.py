"""Functions of numbers."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.rules import CONSTANT_INT, as_arithmetic, as_first, rounded
from windrow.schema import BIGINT, DOUBLE, STRING

__all__ = ["MATHS"]

_TWO_NUMBERS = (Kind.NUMBER, Kind.NUMBER)
_SIXTY_FOUR_BITS = "NaN and numbers beyond 64 bits are errors; a decimal becomes a BIGINT"
_ZERO = "TRY_MOD returns NULL for a divisor of 0; or filter such rows out"


def _double(
    name: str, argument: str, value: str, *also: str, duckdb: str = "", differs: str = ""
) -> ScalarFunction:
    """A function of one DOUBLE."""
    return ScalarFunction(
        name,
        (Kind.DOUBLE,),
        DOUBLE,
        also=also,
        example=f"{name.upper()}({argument})",
        value=value,
        duckdb=duckdb,
        differs=differs,
    )


def _tried(name: str, example: str, value: str) -> ScalarFunction:
    """An operator that gives NULL where it has no value."""
    return ScalarFunction(
        name,
        _TWO_NUMBERS,
        as_arithmetic,
        is_form=True,
        example=f"{name.upper()}({example})",
        value=value,
    )


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
        differs=_SIXTY_FOUR_BITS,
    ),
    ScalarFunction(
        "floor",
        (Kind.NUMBER,),
        BIGINT,
        is_total=True,
        example="FLOOR(-2.5)",
        value="-3",
        differs=_SIXTY_FOUR_BITS,
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
        "bround",
        (Kind.NUMBER, CONSTANT_INT),
        rounded,
        optional=1,
        is_total=True,
        example="BROUND(x)",
        value="2.0",
    ),
    _double("rint", "x", "2.0"),
    _double("sqrt", "9", "3.0", duckdb="(CASE WHEN {0} < 0 THEN 'nan' ELSE sqrt({0}) END)"),
    _double("cbrt", "27", "3.0"),
    _double("exp", "0", "1.0"),
    _double("expm1", "0", "0.0"),
    _double(
        "sign",
        "i",
        "-1.0",
        "signum",
        duckdb="(CASE WHEN isnan({0}) THEN {0} ELSE sign({0})::DOUBLE END)",
    ),
    _double("ln", "0", "NULL", duckdb="(CASE WHEN {0} > 0 THEN ln({0}) END)"),
    ScalarFunction(
        "log", (Kind.DOUBLE, Kind.DOUBLE), DOUBLE, optional=1, example="LOG(2, 8)", value="3.0"
    ),
    _double("log10", "1000", "3.0"),
    _double("log2", "8", "3.0"),
    _double("log1p", "0", "0.0"),
    ScalarFunction(
        "power",
        (Kind.DOUBLE, Kind.DOUBLE),
        DOUBLE,
        also=("pow",),
        example="POWER(2, 10)",
        value="1024.0",
        duckdb="pow({0}, {1})",
    ),
    _double("sin", "0", "0.0"),
    _double("cos", "0", "1.0"),
    _double("tan", "0", "0.0"),
    _double("cot", "1", "0.6420926159343306"),
    _double("sec", "0", "1.0"),
    _double("csc", "1", "1.1883951057781212"),
    _double("asin", "0", "0.0"),
    _double("acos", "1", "0.0"),
    _double("atan", "0", "0.0"),
    ScalarFunction("atan2", (Kind.DOUBLE, Kind.DOUBLE), DOUBLE, example="ATAN2(0, 1)", value="0.0"),
    _double("sinh", "0", "0.0"),
    _double("cosh", "0", "1.0"),
    _double("tanh", "0", "0.0"),
    _double("asinh", "0", "0.0"),
    _double("acosh", "1", "0.0"),
    _double("atanh", "0", "0.0"),
    _double("degrees", "PI()", "180.0"),
    _double("radians", "180", "3.141592653589793"),
    ScalarFunction("hypot", (Kind.DOUBLE, Kind.DOUBLE), DOUBLE, example="HYPOT(3, 4)", value="5.0"),
    ScalarFunction("pi", (), DOUBLE, example="PI()", value="3.141592653589793"),
    ScalarFunction("e", (), DOUBLE, example="E()", value="2.718281828459045"),
    ScalarFunction(
        "mod", _TWO_NUMBERS, as_arithmetic, is_form=True, example="MOD(i, 4)", value="-3"
    ),
    ScalarFunction(
        "pmod",
        _TWO_NUMBERS,
        as_arithmetic,
        is_total=True,
        example="PMOD(i, 4)",
        value="1",
        remedy=_ZERO,
    ),
    ScalarFunction(
        "negative", (Kind.NUMBER,), as_first, is_form=True, example="NEGATIVE(i)", value="7"
    ),
    ScalarFunction(
        "positive", (Kind.NUMBER,), as_first, is_form=True, example="POSITIVE(i)", value="-7"
    ),
    _tried("try_add", "9223372036854775807, 1", "NULL"),
    _tried("try_subtract", "i, 1", "-8"),
    _tried("try_multiply", "i, 2", "-14"),
    _tried("try_divide", "i, 0", "NULL"),
    _tried("try_mod", "i, 0", "NULL"),
    ScalarFunction("factorial", (Kind.INT,), BIGINT, example="FACTORIAL(5)", value="120"),
    ScalarFunction(
        "width_bucket",
        (Kind.DOUBLE, Kind.DOUBLE, Kind.DOUBLE, Kind.BIGINT),
        BIGINT,
        example="WIDTH_BUCKET(x, 0, 10, 5)",
        value="2",
    ),
    ScalarFunction("bin", (Kind.BIGINT,), STRING, example="BIN(13)", value="1101"),
    ScalarFunction(
        "conv",
        (Kind.TEXT, Kind.INT, Kind.INT),
        STRING,
        example="CONV('ff', 16, 10)",
        value="255",
        remedy="such a number has more than 64 bits; filter such rows out",
    ),
)
