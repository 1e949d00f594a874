"""Type rules: the type that two values meet in, the type of arithmetic, and casts made explicit.

Integers meet in the wider integer, a number and a FLOAT or DOUBLE meet in DOUBLE, decimals meet in
the decimal that holds both. Arithmetic of integers is BIGINT, their `/` DOUBLE; DIV is a
BIGINT always. `+ - *` of decimals
stay exact while the result fits the digits of a column (of a sum, where an aggregate takes part)
and are DOUBLE beyond; `/` and `%` of decimals are decimals by Spark's rules, with those digits in
place of Spark's 38. Text never becomes a number by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Context, Decimal

import numpy as np

from windrow.plan.expressions import AggregateRef, Call, ColumnRef, Expr, Literal, walk
from windrow.schema import (
    BIGINT,
    DATE,
    DOUBLE,
    MAX_DECIMAL_DIGITS,
    MAX_SUM_DIGITS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    YEAR_MONTH_INTERVAL,
    ColumnType,
    decimal,
)

__all__ = [
    "all_of",
    "arithmetic",
    "balanced",
    "common_type",
    "convert",
    "digits_limit",
    "fits",
    "integer_bits",
    "integer_type",
    "is_null",
]

DAY_US = 86_400_000_000
# A DATE meets a time in that time, one without a zone an instant in an instant.
_TIMES = (DATE, TIMESTAMP_NTZ, TIMESTAMP)
_WIDE = Context(prec=MAX_SUM_DIGITS)
_QUOTIENT_SCALE = 6
_NEVER = ("raise_error", "assert_true")  # they have no value, so that it is of any type
_INTEGER_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
_INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}


def common_type(expressions: Sequence[Expr]) -> ColumnType | None:
    """The type in which all of them can be compared, or None; NULL takes any type."""
    typed = [part for part in expressions if not is_null(part)]
    if not typed:
        # A NULL that was cast has a type of its own.
        return next((each.type for each in expressions if each.type != STRING), STRING)
    # Literals come last: they take the type of what they meet where it holds their value.
    typed.sort(key=lambda part: isinstance(part, Literal))
    found: ColumnType | None = typed[0].type
    for part in typed[1:]:
        if found is None:
            return None
        found = _meet(found, part)
    return found


def _meet(left: ColumnType, right: Expr) -> ColumnType | None:
    if left == right.type:
        return left
    if isinstance(right, Literal):
        value = right.value if right.type.is_integer else None
        if left.is_integer and isinstance(value, int) and fits(value, left):
            return left
        if left in _TIMES and right.type == STRING:
            return left
    if left in _TIMES and right.type in _TIMES:
        return max(left, right.type, key=_TIMES.index)
    if left.is_numeric and right.type.is_numeric:
        return _meet_numbers(left, right)
    if left.is_nested and left.name == right.type.name:
        return _meet_nested(left, right.type)
    return None


def _meet_nested(left: ColumnType, right: ColumnType) -> ColumnType | None:
    """Their parts meet, one by one; the names of fields are those of the left."""
    if len(left.parts) != len(right.parts):
        return None
    parts: list[tuple[str, ColumnType]] = []
    for (name, one), (_, other) in zip(left.parts, right.parts, strict=True):
        found = _meet(one, ColumnRef(0, "", other))
        if found is None:
            return None
        parts.append((name, found))
    return replace(left, parts=tuple(parts))


def _meet_numbers(left: ColumnType, right: Expr) -> ColumnType:
    if left.is_float or right.type.is_float:
        return DOUBLE
    if left.is_integer and right.type.is_integer:
        return max(left, right.type, key=lambda kind: _INTEGER_BITS[kind.name])
    one, other = _as_decimal_type(left), _as_decimal(right)
    scale = max(one.scale, other.scale)
    whole = max(one.precision - one.scale, other.precision - other.scale)
    return decimal(whole + scale, scale) if whole + scale <= MAX_SUM_DIGITS else DOUBLE


def _as_decimal_type(kind: ColumnType) -> ColumnType:
    return decimal(_INTEGER_DIGITS[kind.name], 0) if kind.is_integer else kind


def _as_decimal(expression: Expr) -> ColumnType:
    if isinstance(expression, Literal) and isinstance(expression.value, int):
        return decimal(len(str(abs(expression.value))), 0)
    return _as_decimal_type(expression.type)


def arithmetic(function: str, left: Expr, right: Expr) -> Call:
    """Left function right for one of + - * / % div, with the casts needed; both are numbers."""
    if is_null(left) and is_null(right):
        left = right = Literal(None, DOUBLE)
    elif is_null(left):
        left = convert(left, right.type)
    elif is_null(right):
        right = convert(right, left.type)
    if left.type.is_integer and right.type.is_integer and function != "/":
        return Call(function, (convert(left, BIGINT), convert(right, BIGINT)), BIGINT)
    if function == "div":
        return Call("cast", (arithmetic("/", left, right),), BIGINT)
    if "DECIMAL" in (left.type.name, right.type.name) and not (
        left.type.is_float or right.type.is_float
    ):
        exact = _of_decimals(function, left, right)
        if exact is not None:
            return exact
    return Call(function, (convert(left, DOUBLE), convert(right, DOUBLE)), DOUBLE)


def _of_decimals(function: str, left: Expr, right: Expr) -> Call | None:
    one, other = _as_decimal(left), _as_decimal(right)
    if function not in ("/", "%"):
        return _exact(function, left, right)
    if function == "/":
        kind = _quotient_type(one, other, digits_limit(left, right))
    else:
        scale = max(one.scale, other.scale)
        whole = min(one.precision - one.scale, other.precision - other.scale)
        kind = decimal(max(1, whole + scale), scale)
    return Call(function, (convert(left, one), convert(right, other)), kind)


def _quotient_type(one: ColumnType, other: ColumnType, limit: int) -> ColumnType:
    """Spark's: digits before the point come first, behind it stay 6 at least."""
    whole = one.precision - one.scale + other.scale
    scale = max(_QUOTIENT_SCALE, one.scale + other.precision + 1)
    if whole + scale <= limit:
        return decimal(whole + scale, scale)
    return decimal(limit, max(limit - whole, min(scale, _QUOTIENT_SCALE)))


def _exact(function: str, left: Expr, right: Expr) -> Call | None:
    one, other = _as_decimal(left), _as_decimal(right)
    # Arrow's product has a digit to spare, so the last of its 38 digits is not ours to use.
    limit = min(digits_limit(left, right), MAX_SUM_DIGITS - 1)
    if function == "*":
        precision, scale = one.precision + other.precision, one.scale + other.scale
        casts = (convert(left, one), convert(right, other))
    else:
        scale = max(one.scale, other.scale)
        precision = max(one.precision - one.scale, other.precision - other.scale) + scale + 1
        operand = decimal(precision - 1, scale)
        casts = (convert(left, operand), convert(right, operand))
    return Call(function, casts, decimal(precision, scale)) if precision <= limit else None


def digits_limit(*expressions: Expr) -> int:
    """How many digits a decimal may have: those of a sum once an aggregate takes part."""
    parts = (part for expression in expressions for part in walk(expression))
    aggregated = any(isinstance(part, AggregateRef) or _is_wide(part) for part in parts)
    return MAX_SUM_DIGITS if aggregated else MAX_DECIMAL_DIGITS


def _is_wide(part: Expr) -> bool:
    """Whether it is a column of sums, which a query within has made."""
    return isinstance(part, ColumnRef) and part.type.precision > MAX_DECIMAL_DIGITS


def convert(expression: Expr, kind: ColumnType) -> Expr:
    """The expression in that type: itself, a literal of that type, or a cast."""
    if expression.type == kind:
        return expression
    if isinstance(expression, Call) and expression.function in _NEVER:
        return replace(expression, type=kind)
    if is_null(expression):
        return Literal(None, kind)
    if isinstance(expression, Literal):
        folded = _fold(expression, kind)
        if folded is not None:
            return folded
    if expression.type == YEAR_MONTH_INTERVAL:
        # Its column is one of integers, from which a cast could not tell it.
        return Call("months_to_text", (expression,), STRING)
    return Call("cast", (expression,), kind)


def _fold(literal: Literal, kind: ColumnType) -> Literal | None:
    value = literal.value
    if literal.type == DATE and kind in _TIMES and isinstance(value, int):
        return Literal(value * DAY_US, kind)
    if not literal.type.is_numeric:
        return None
    if kind.is_float and isinstance(value, (int, float, Decimal)):
        return Literal(float(value) if kind == DOUBLE else float(np.float32(float(value))), kind)
    if kind.is_integer and isinstance(value, int) and fits(value, kind):
        return Literal(value, kind)
    if kind.name == "DECIMAL" and isinstance(value, (int, Decimal)):
        exact = Decimal(value)
        if _holds(kind, exact):
            step = Decimal(1).scaleb(-kind.scale)
            return Literal(exact.quantize(step, context=_WIDE), kind)
    return None


def _holds(kind: ColumnType, value: Decimal) -> bool:
    exponent = value.as_tuple().exponent
    decimals = -exponent if isinstance(exponent, int) else 0
    return decimals <= kind.scale and abs(value) < Decimal(10) ** (kind.precision - kind.scale)


def fits(value: int, kind: ColumnType) -> bool:
    """Whether the integer type holds the value."""
    half = 1 << (_INTEGER_BITS[kind.name] - 1)
    return -half <= value < half


def integer_bits(kind: ColumnType) -> int:
    """The bits of an integer type; 64 for any other."""
    return _INTEGER_BITS.get(kind.name, 64)


def integer_type(value: int) -> ColumnType | None:
    """INT, else BIGINT, else None: the type of an integer literal."""
    return next((kind for kind in (ColumnType("INT"), BIGINT) if fits(value, kind)), None)


def is_null(expression: Expr) -> bool:
    """Whether it is NULL by its form, as CASE ... THEN NULL END is: such a value has any type."""
    if isinstance(expression, Literal):
        return expression.value is None
    if not isinstance(expression, Call):
        return False
    parts = expression.arguments
    if expression.function in _NEVER:
        return True
    if expression.function == "case":
        return all(is_null(part) for part in (*parts[1:-1:2], parts[-1]))
    return expression.function == "coalesce" and all(is_null(part) for part in parts)


def balanced(function: str, parts: Sequence[Expr], kind: ColumnType) -> Expr:
    """The parts under one associative function, as a tree of the least depth."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = balanced(function, parts[:half], kind), balanced(function, parts[half:], kind)
    return Call(function, (left, right), kind)


def all_of(conditions: Sequence[Expr]) -> Expr | None:
    """The AND of the conditions, or None when there are none."""
    return balanced("and", conditions, conditions[0].type) if conditions else None
