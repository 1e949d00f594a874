"""Expressions of one row in plain Python: the slow twin of the evaluator of whole columns."""

from __future__ import annotations

import math
import operator
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

import numpy as np

from windrow.plan.expressions import Call, ColumnRef, Expr, Literal

__all__ = ["FAULT", "slow"]

NAN, INF = math.nan, math.inf
MIN, MAX = -(2**63), 2**63 - 1

FAULT = "a fault"


class FaultyError(Exception):
    """An expression without a value."""


def slow(expression: Expr, row: dict[str, object]) -> object:
    try:
        return slow_value(expression, row)
    except FaultyError:
        return FAULT


def slow_value(expression: Expr, row: dict[str, object]) -> object:
    if isinstance(expression, Literal):
        return expression.value
    if isinstance(expression, ColumnRef):
        return row.get(expression.column)
    assert isinstance(expression, Call)
    if expression.function in LAZY:
        return LAZY[expression.function](expression.arguments, row)
    values = [slow_value(part, row) for part in expression.arguments]
    found = slow_call(expression, values)
    if found is None and None not in values and may_fail(expression):
        raise FaultyError
    return found


def may_fail(call: Call) -> bool:
    """Where NULL out of no NULL is an error: not of TRY_CAST."""
    checked = ("+", "-", "*", "/", "%", "div", "negate", "abs", "round", "ceil", "floor", "cast")
    return call.function in checked


def lazy_try(parts: tuple, row: dict) -> object:
    (part,) = parts
    if not isinstance(part, Call) or part.function in LAZY:
        return slow_value(part, row)
    values = [slow_value(each, row) for each in part.arguments]
    return slow_call(part, values)


def lazy_has_value(parts: tuple, row: dict) -> object:
    return slow(parts[0], row) is not FAULT


def lazy_case(parts: tuple, row: dict) -> object:
    for condition, value in zip(parts[0:-1:2], parts[1:-1:2], strict=True):
        if slow_value(condition, row):
            return slow_value(value, row)
    return slow_value(parts[-1], row)


def lazy_coalesce(parts: tuple, row: dict) -> object:
    for part in parts:
        found = slow_value(part, row)
        if found is not None:
            return found
    return None


def lazy_and(parts: tuple, row: dict) -> object:
    left = slow_value(parts[0], row)
    return False if left is False else WITH_NULL["and"]([left, slow_value(parts[1], row)])


def lazy_or(parts: tuple, row: dict) -> object:
    left = slow_value(parts[0], row)
    return True if left is True else WITH_NULL["or"]([left, slow_value(parts[1], row)])


LAZY = {
    "case": lazy_case,
    "coalesce": lazy_coalesce,
    "and": lazy_and,
    "or": lazy_or,
    "try": lazy_try,
    "has_value": lazy_has_value,
}


def order(value: object) -> tuple[bool, object]:
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)


def slow_call(call: Call, values: list[object]) -> object:
    """NULL is looked at by few functions; all others are NULL where an argument is."""
    if call.function in WITH_NULL:
        return WITH_NULL[call.function](values)
    if None in values:
        return None
    if call.function in COMPARE:
        return COMPARE[call.function](order(values[0]), order(values[1]))
    if call.function in ARITHMETIC:
        result = ARITHMETIC[call.function](*values)
        overflows = call.type.name == "BIGINT" and not MIN <= result <= MAX
        return None if overflows else result
    if call.function == "%":
        return slow_remainder(*values, kind=call.type.name)
    if call.function == "div":
        return slow_whole_quotient(*values)
    if call.function == "/" and call.type.name == "DECIMAL":
        one, other = (Fraction(value) for value in values)
        return None if not other else slow_quotient(one / other, call)
    if call.function == "round":
        return slow_round(*values, call.type.name)
    if call.function in ("cast", "try_cast"):
        return slow_cast(call.arguments[0].type.name, values[0], call)
    return NUMERIC[call.function](*values) if call.function in NUMERIC else slow_text(call, values)


def slow_whole_quotient(one: int, other: int) -> int | None:
    found = None if not other else math.trunc(Fraction(one, other))
    return None if found is None or not MIN <= found <= MAX else found


def equal(one: object, other: object) -> bool:
    return None not in (one, other) and order(one) == order(other)


def slow_case(values: list[object]) -> object:
    pairs = zip(values[0:-1:2], values[1:-1:2], strict=True)
    return next((value for condition, value in pairs if condition), values[-1])


def slow_extreme(pick, values: list[object]) -> object:
    present = [value for value in values if value is not None]
    return pick(present, key=order) if present else None


def slow_in(values: list[object]) -> bool | None:
    if values[0] is not None and any(equal(values[0], value) for value in values[1:]):
        return True
    return None if None in values else False


WITH_NULL = {
    "and": lambda values: False if False in values else None if None in values else True,
    "or": lambda values: True if True in values else None if None in values else False,
    "is_null": lambda values: values[0] is None,
    "is_same": lambda values: values == [None, None] or equal(*values),
    "case": slow_case,
    "coalesce": lambda values: next((value for value in values if value is not None), None),
    "least": lambda values: slow_extreme(min, values),
    "greatest": lambda values: slow_extreme(max, values),
    "nullif": lambda values: None if equal(*values) else values[0],
    "in": slow_in,
}
COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "negate": operator.neg,
    "abs": abs,
}


def slow_quotient(exact: Fraction, call: Call) -> Decimal | None:
    """Rounded half up to the scale of its type."""
    unscaled = math.floor(abs(exact) * 10**call.type.scale + Fraction(1, 2))
    if unscaled >= 10**call.type.precision:
        return None
    return Decimal(unscaled if exact >= 0 else -unscaled).scaleb(-call.type.scale)


def slow_remainder(one, other, *, kind: str) -> object:
    if other == 0:
        return None
    if kind == "DECIMAL":
        return Context(prec=60).remainder(one, other)
    if kind == "BIGINT":
        return int(math.copysign(1, one)) * (abs(one) % abs(other))
    return ieee(lambda: np.fmod(one, other))


def slow_whole(value, direction) -> int | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    whole = direction(value)
    return whole if MIN <= whole <= MAX else None


NUMERIC = {
    "not": operator.not_,
    "/": lambda a, b: None if b == 0 else ieee(lambda: np.float64(a) / np.float64(b)),
    "sign": lambda value: value if value == 0 or value != value else math.copysign(1.0, value),
    "sqrt": lambda value: NAN if value < 0 else math.sqrt(value),
    "ln": lambda value: None if value <= 0 else math.log(value),
    "ceil": lambda value: slow_whole(value, math.ceil),
    "floor": lambda value: slow_whole(value, math.floor),
}


def ieee(compute) -> float:
    with np.errstate(all="ignore"):
        return float(compute())


def slow_round(value, digits: int, kind: str) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return value
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    from_zero = abs(exact).scaleb(digits) + Decimal("0.5")
    rounded = Decimal(math.floor(from_zero)).scaleb(-digits) * (-1 if exact < 0 else 1)
    if kind == "DOUBLE":
        return float(rounded)
    if kind == "BIGINT":
        return int(rounded) if MIN <= rounded <= MAX else None
    return rounded


def slow_text(call: Call, values: list) -> object:
    name, text = call.function, values[0]
    if name == "concat":
        return "".join(values)
    if name == "length":
        return len(text)
    if name == "trim":
        return text.strip(" ")
    if name == "substring":
        start, count = values[1], values[2] if len(values) > 2 else 10**6
        first = start - 1 if start > 0 else len(text) + start if start < 0 else 0
        return "".join(c for i, c in enumerate(text) if first <= i < first + count)
    if name == "like":
        return slow_like(text, values[1])
    return text.lower() if name == "lower" else text.upper()


def slow_like(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(slow_like(text[i:], pattern[1:]) for i in range(len(text) + 1))
    if pattern[0] == "\\" and len(pattern) > 1:
        return text[:1] == pattern[1] and slow_like(text[1:], pattern[2:])
    return bool(text) and pattern[0] in ("_", text[0]) and slow_like(text[1:], pattern[1:])


LIMITS = {"TINYINT": 2**7, "SMALLINT": 2**15, "INT": 2**31, "BIGINT": 2**63}


def slow_cast(source: str, value, call: Call) -> object:
    kind = call.type.name
    if source == "STRING":
        return slow_parse(value.strip(), call)
    if source == "TIMESTAMP" and kind in LIMITS:
        value = value // 1_000_000
    elif source == "TIMESTAMP":
        return value // 86_400_000_000 if kind == "DATE" else value / 1_000_000
    if source == "DATE":
        return value * 86_400_000_000
    if kind == "BOOLEAN":
        return value != 0
    if kind == "DOUBLE":
        return float(value)
    if kind == "STRING":
        return {True: "true", False: "false"}[value] if source == "BOOLEAN" else format(value, "")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if kind in LIMITS:
        whole = math.trunc(value)
        return whole if -LIMITS[kind] <= whole < LIMITS[kind] else None
    return slow_decimal(Decimal(repr(value) if isinstance(value, float) else value), call)


def slow_decimal(exact: Decimal, call: Call) -> Decimal | None:
    if abs(exact) >= 10**20:
        return None
    rounded = exact.quantize(Decimal(1).scaleb(-call.type.scale), ROUND_HALF_UP)
    return (
        rounded if abs(rounded) < Decimal(10) ** (call.type.precision - call.type.scale) else None
    )


def slow_parse(text: str, call: Call) -> object:
    kind = call.type.name
    try:
        if kind == "BOOLEAN":
            return {"yes": True, "1": True, "0": False}.get(text)
        if "_" in text or not text.isascii():
            return None
        if kind in LIMITS:
            value = int(text)
            return value if -LIMITS[kind] <= value < LIMITS[kind] else None
        return float(text) if kind == "DOUBLE" else slow_decimal(Decimal(text), call)
    except (ValueError, ArithmeticError):
        return None
