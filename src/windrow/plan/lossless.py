"""Conversions that keep every value apart: equality means the same before and after them."""

from __future__ import annotations

from windrow.plan.expressions import Call, Expr
from windrow.schema import DOUBLE, MAX_DECIMAL_DIGITS, ColumnType, decimal

__all__ = ["bare", "is_lossless", "meet"]

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
_EXACT_IN_DOUBLE = frozenset(["TINYINT", "SMALLINT", "INT", "FLOAT"])


def meet(left: ColumnType, right: ColumnType) -> ColumnType | None:
    """The type that both convert to without loss, None where there is none."""
    candidates = [left, right, DOUBLE]
    one, other = _as_decimal(left), _as_decimal(right)
    if one is not None and other is not None:
        scale = max(one.scale, other.scale)
        whole = max(one.precision - one.scale, other.precision - other.scale)
        candidates.append(decimal(whole + scale, scale))
    for kind in candidates:
        if is_lossless(left, kind) and is_lossless(right, kind):
            return kind
    return None


def is_lossless(source: ColumnType, target: ColumnType) -> bool:
    """Whether different values stay different.

    Dates too far for a TIMESTAMP become NULL: they equal no timestamp before or after.
    """
    if source == target:
        return True
    if source.is_integer and target.is_integer:
        return _BITS[source.name] < _BITS[target.name]
    if target == DOUBLE:
        return source.name in _EXACT_IN_DOUBLE
    if target.name == "DECIMAL":
        return _fits_decimal(source, target)
    return (source.name, target.name) == ("DATE", "TIMESTAMP")


def bare(expression: Expr) -> Expr:
    """The expression without the lossless casts around it."""
    while (
        isinstance(expression, Call)
        and expression.function == "cast"
        and is_lossless(expression.arguments[0].type, expression.type)
    ):
        expression = expression.arguments[0]
    return expression


def _as_decimal(kind: ColumnType) -> ColumnType | None:
    if kind.is_integer:
        return decimal(_DIGITS[kind.name], 0)
    return kind if kind.name == "DECIMAL" else None


def _fits_decimal(source: ColumnType, target: ColumnType) -> bool:
    held = _as_decimal(source)
    return (
        held is not None
        and held.scale <= target.scale
        and held.precision - held.scale <= target.precision - target.scale
        and target.precision <= MAX_DECIMAL_DIGITS
    )
