"""Constants as written: numbers, text, TRUE, NULL, and instants or dates written as text."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from sqlglot import exp

from windrow.errors import BindingError
from windrow.event_time import instant_of
from windrow.plan.expressions import Expr, Literal
from windrow.plan.scope import Scope
from windrow.plan.types import convert, integer_type
from windrow.schema import (
    BOOLEAN,
    DATE,
    DOUBLE,
    MAX_DECIMAL_DIGITS,
    STRING,
    TIMESTAMP,
    ColumnType,
    decimal,
)

__all__ = ["bind_boolean", "bind_literal", "bind_null", "into"]

_EPOCH_DAY = date(1970, 1, 1).toordinal()


def bind_literal(scope: Scope, node: exp.Literal) -> Expr:
    """A number or a text; 1.5 is a DECIMAL and 1e5 a DOUBLE, as in Spark."""
    if node.is_string:
        return Literal(node.this, STRING)
    if node.this.isdigit():
        return _integer(scope, node, int(node.this))
    number = Decimal(node.this)
    places = -int(number.as_tuple().exponent)
    precision = max(len(number.as_tuple().digits), places)
    if "e" in node.this.lower() or precision > MAX_DECIMAL_DIGITS:
        return Literal(float(node.this), DOUBLE)
    return Literal(number, decimal(precision, max(places, 0)))


def _integer(scope: Scope, node: exp.Literal, value: int) -> Literal:
    kind = integer_type(value)
    if kind is None:
        raise scope.wrong(
            "WB225",
            f"{value} does not fit a BIGINT",
            node,
            hint="write it with an exponent, such as 1e20, for a DOUBLE",
        )
    return Literal(value, kind)


def bind_boolean(_scope: Scope, node: exp.Boolean) -> Expr:
    """TRUE or FALSE."""
    return Literal(bool(node.this), BOOLEAN)


def bind_null(_scope: Scope, _node: exp.Null) -> Expr:
    """NULL, which takes the type of what it meets."""
    return Literal(None, STRING)


def into(scope: Scope, node: exp.Expr, bound: Expr, kind: ColumnType) -> Expr:
    """The bound node in that type; text meant as an instant or a date is read here, once."""
    if isinstance(bound, Literal) and isinstance(bound.value, str):
        if kind == TIMESTAMP:
            return Literal(_instant(scope, node, bound.value), TIMESTAMP)
        if kind == DATE:
            return Literal(_day(scope, node, bound.value), DATE)
    return convert(bound, kind)


def _instant(scope: Scope, node: exp.Expr, written: str) -> int:
    try:
        return instant_of(written.strip())
    except (BindingError, OverflowError):
        raise scope.wrong(
            "WB223",
            f"{written!r} is not a timestamp",
            node,
            hint="write it as '2026-01-01 09:30:00', in UTC unless it has an offset",
        ) from None


def _day(scope: Scope, node: exp.Expr, written: str) -> int:
    try:
        return date.fromisoformat(written.strip()).toordinal() - _EPOCH_DAY
    except ValueError:
        raise scope.wrong(
            "WB223", f"{written!r} is not a date", node, hint="write it as '2026-01-01'"
        ) from None
