"""+ - * / of times, dates and intervals, by Spark's rules.

A day added to a TIMESTAMP is one of the session's calendar: in a zone with summer time it may have
23 hours. In UTC, and for anything below a day, it is a plain sum.
"""

from __future__ import annotations

from sqlglot import exp

from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.scope import Scope
from windrow.plan.session_zone import DEFAULT_ZONE
from windrow.plan.time_conversions import in_zone, wall_time, zone_literal
from windrow.plan.types import convert, is_null
from windrow.schema import (
    BIGINT,
    DATE,
    DAY_TIME_INTERVAL,
    DOUBLE,
    INT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    YEAR_MONTH_INTERVAL,
    ColumnType,
)
from windrow.sql.intervals import length_of
from windrow.times.civil import DAY_US

__all__ = ["add_interval", "is_of_time", "negated_interval", "time_arithmetic"]

_TIMES = (DATE, TIMESTAMP_NTZ, TIMESTAMP)


def is_of_time(bound: Expr) -> bool:
    """Whether arithmetic with it is one of times."""
    return not is_null(bound) and (bound.type in _TIMES or bound.type.is_interval)


def time_arithmetic(scope: Scope, node: exp.Binary, function: str, left: Expr, right: Expr) -> Expr:
    """The sum, difference, product or quotient; one of them at least is a time or an interval."""
    found = None
    if function == "+":
        found = _sum(scope, node, left, right) or _sum(scope, node, right, left)
    elif function == "-":
        found = _difference(scope, node, left, right)
    elif function in ("*", "/"):
        found = _scaled(function, left, right)
    if found is None:
        raise scope.wrong(
            "WB742",
            f"there is no {left.type} {function.upper()} {right.type}",
            node,
            hint="times take + and - with intervals, dates with days, too; two times have a "
            "difference; intervals are multiplied and divided by numbers",
        )
    return found


def _sum(scope: Scope, node: exp.Binary, left: Expr, right: Expr) -> Expr | None:
    if is_null(right):
        right = convert(right, DAY_TIME_INTERVAL if left.type != DATE else INT)
    if left.type == DATE and right.type.is_integer:
        return Call("date_add", (left, convert(right, INT)), DATE)
    if left.type in _TIMES and right.type.is_interval:
        return add_interval(left, right, scope.time_zone, _is_in_days(node))
    if left.type.is_interval and left.type == right.type:
        return Call("plus_intervals", (left, right), left.type)
    return None


def _difference(scope: Scope, node: exp.Binary, left: Expr, right: Expr) -> Expr | None:
    if is_null(left):
        left = convert(left, right.type)
    if is_null(right):
        right = convert(right, INT if left.type == DATE else DAY_TIME_INTERVAL)
    if left.type == DATE and right.type.is_integer:
        return Call("date_sub", (left, convert(right, INT)), DATE)
    if left.type in _TIMES and right.type in _TIMES:
        return _apart(left, right, scope.time_zone)
    if right.type.is_interval:
        return _sum(scope, node, left, negated_interval(right))
    return None


def _apart(left: Expr, right: Expr, zone: str) -> Expr:
    """How far two times are apart, by what clocks show at them."""
    if left.type == right.type == DATE:
        return Call("dates_apart", (left, right), DAY_TIME_INTERVAL)
    kind = max(left.type, right.type, key=_TIMES.index)
    ends = tuple(wall_time(in_zone(each, kind, zone), zone) for each in (left, right))
    return Call("minus_times", ends, DAY_TIME_INTERVAL)


def negated_interval(interval: Expr) -> Expr:
    """The interval with its sign turned."""
    if isinstance(interval, Literal) and isinstance(interval.value, int):
        smallest = -(2**31) if interval.type == YEAR_MONTH_INTERVAL else -(2**63)
        if interval.value != smallest:
            return Literal(-interval.value, interval.type)
    return Call("negate_interval", (interval,), interval.type)


def add_interval(time: Expr, interval: Expr, zone: str, in_days: bool = False) -> Expr:
    """The time later by the interval; in_days: it was written in days, so a DATE stays one."""
    if interval.type == YEAR_MONTH_INTERVAL:
        return _in_its_zone("plus_months", time, interval, zone)
    if time.type == DATE:
        if in_days and isinstance(interval, Literal) and isinstance(interval.value, int):
            return Call("date_add", (time, Literal(interval.value // DAY_US, INT)), DATE)
        if isinstance(interval, Call) and interval.function == "dates_apart":
            later = Call("span_days", (interval,), INT)
            return Call("date_add", (time, later), DATE)
        time = in_zone(time, TIMESTAMP, zone)
    return _in_its_zone("plus_span", time, interval, zone)


def _in_its_zone(function: str, time: Expr, interval: Expr, zone: str) -> Call:
    is_short = (
        isinstance(interval, Literal)
        and interval.type == DAY_TIME_INTERVAL
        and isinstance(interval.value, int)
        and abs(interval.value) < DAY_US
    )
    if time.type != TIMESTAMP or zone == DEFAULT_ZONE or is_short:
        return Call(function, (time, interval), time.type)
    return Call(f"{function}_in_zone", (time, interval, zone_literal(zone)), time.type)


def _is_in_days(node: exp.Binary) -> bool:
    for side in (node.this, node.expression):
        bare = side.unnest()
        if isinstance(bare, exp.Interval):
            length = length_of(bare)
            return length is not None and length.in_days
    return False


def _scaled(function: str, left: Expr, right: Expr) -> Expr | None:
    if function == "*" and right.type.is_interval:
        left, right = right, left
    if not left.type.is_interval or not (right.type.is_numeric or is_null(right)):
        return None
    name = "times_interval" if function == "*" else "divide_interval"
    return Call(name, (left, convert(right, _number_type(right))), left.type)


def _number_type(number: Expr) -> ColumnType:
    if number.type.is_integer:
        return BIGINT
    return number.type if number.type.name == "DECIMAL" and not is_null(number) else DOUBLE
