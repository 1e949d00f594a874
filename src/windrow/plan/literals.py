"""Constants as written: numbers, text, TRUE, NULL, and instants or dates written as text."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from windrow.errors import BindingError
from windrow.event_time import instant_of
from windrow.plan.expressions import Expr, Literal
from windrow.plan.scope import Scope
from windrow.plan.time_conversions import in_zone
from windrow.plan.types import integer_type
from windrow.schema import (
    BOOLEAN,
    DATE,
    DAY_TIME_INTERVAL,
    DOUBLE,
    MAX_DECIMAL_DIGITS,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    YEAR_MONTH_INTERVAL,
    ColumnType,
    decimal,
)
from windrow.sql.intervals import length_of
from windrow.times.interval_texts import (
    read_day_time,
    read_year_month,
)
from windrow.times.moments import read_date, read_timestamp, read_wall_time
from windrow.times.zones import UTC_ZONE, zone_named

__all__ = ["bind_boolean", "bind_interval", "bind_literal", "bind_null", "into"]


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
        if kind in (TIMESTAMP, TIMESTAMP_NTZ):
            return Literal(_moment(scope, node, bound.value, kind), kind)
        if kind == DATE:
            return Literal(_day(scope, node, bound.value), DATE)
        if kind.is_interval:
            return Literal(_length(scope, node, bound.value, kind), kind)
    return in_zone(bound, kind, scope.time_zone)


def _moment(scope: Scope, node: exp.Expr, written: str, kind: ColumnType) -> int:
    zone = zone_named(scope.time_zone) or UTC_ZONE
    is_instant = kind == TIMESTAMP
    found = read_timestamp(written, zone) if is_instant else read_wall_time(written)
    if found is not None:
        return found
    try:
        return instant_of(written.strip())  # ISO 8601 has forms that Spark does not read
    except (BindingError, OverflowError):
        raise scope.wrong(
            "WB223",
            f"{written!r} is not a timestamp",
            node,
            hint=f"write it as '2026-01-01 09:30:00', in {scope.time_zone} unless it has an offset",
        ) from None


def _day(scope: Scope, node: exp.Expr, written: str) -> int:
    found = read_date(written)
    if found is None:
        raise scope.wrong(
            "WB223", f"{written!r} is not a date", node, hint="write it as '2026-01-01'"
        )
    return found


def _length(scope: Scope, node: exp.Expr, written: str, kind: ColumnType) -> int:
    is_months = kind == YEAR_MONTH_INTERVAL
    found = read_year_month(written) if is_months else read_day_time(written)
    if found is None:
        hint = "write it as '1-2'" if is_months else "write it as '1 02:03:04'"
        raise scope.wrong("WB223", f"{written!r} is not an {kind}", node, hint=hint)
    return found


def bind_interval(scope: Scope, node: exp.Interval) -> Expr:
    """INTERVAL '10' SECOND: a constant of microseconds or of months."""
    length = length_of(node)
    if length is None:
        raise scope.wrong(
            "WB741",
            f"{node.sql('spark')} is not a length of time",
            node,
            hint="write it like INTERVAL '10' SECOND or INTERVAL '1-2' YEAR TO MONTH",
        )
    if length.months is not None:
        return Literal(length.months, YEAR_MONTH_INTERVAL)
    return Literal(length.span_us, DAY_TIME_INTERVAL)
