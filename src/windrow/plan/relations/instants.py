"""The instant as a value: current_timestamp in WHERE, HAVING and QUALIFY.

Rows cannot be asked anew at every instant. So a condition on it must say from when, or until when,
a row holds: `ts > now() - INTERVAL '7' DAY` is `now() < ts + INTERVAL '7' DAY`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from windrow.plan.expressions import Call, Expr, Literal, walk
from windrow.plan.relations.aggregate_calls import function_name
from windrow.plan.time_arithmetic import negated_interval
from windrow.plan.types import convert
from windrow.schema import DAY_TIME_INTERVAL, TIMESTAMP

__all__ = [
    "INSTANT",
    "PROCTIME",
    "Bounds",
    "bounds_of",
    "is_instant",
    "later",
    "reads_instant",
    "span_after",
]

# The function that is the time at which a row is processed: its own.
PROCTIME = "proctime"

INSTANT = Call("instant", (), TIMESTAMP)
_NAMES = ("now", "current_timestamp", "localtimestamp", "mz_now", "transaction_timestamp")
_BARE = ("current_timestamp", "localtimestamp")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@dataclass(frozen=True)
class Bounds:
    """A row holds while since <= t < until."""

    since: tuple[Expr, ...] = ()
    until: tuple[Expr, ...] = ()


def is_instant(node: exp.Expr) -> bool:
    """Whether the node is a name of the instant; a column of such a name comes first."""
    if isinstance(node, exp.Column):
        return not node.table and node.name.lower() in _BARE
    return function_name(node) in _NAMES and not _has_arguments(node)


def _has_arguments(node: exp.Expr) -> bool:
    return any(value for value in node.args.values() if not isinstance(value, str))


def reads_instant(expression: Expr) -> bool:
    """Whether its value depends on the instant."""
    return any(part == INSTANT for part in walk(expression))


def bounds_of(condition: Expr) -> Bounds | None:
    """When the condition holds; None where it does not say so."""
    if not isinstance(condition, Call) or condition.function not in _MIRRORED:
        return None
    left, right = condition.arguments
    function = condition.function
    if reads_instant(right):
        left, right, function = right, left, _MIRRORED[function]
    if reads_instant(right):
        return None
    solved = _solved(left, right, function)
    return None if solved is None else _bounds(*solved)


def _solved(side: Expr, other: Expr, function: str) -> tuple[str, Expr] | None:
    """The comparison of the instant alone with what is on the other side then."""
    if side == INSTANT:
        return function, convert(other, TIMESTAMP)
    if not isinstance(side, Call):
        return None
    if side.function == "plus_span" and other.type == TIMESTAMP:
        inner, span = side.arguments
        if not reads_instant(span):
            return _solved(inner, later(other, negated_interval(span)), function)
    if side.function == "minus_times":
        first, second = side.arguments
        if first == INSTANT and not reads_instant(second):
            return function, later(convert(second, TIMESTAMP), other)
        if second == INSTANT and not reads_instant(first):
            ends = later(convert(first, TIMESTAMP), negated_interval(other))
            return _MIRRORED[function], ends
    return None


def _bounds(function: str, moment: Expr) -> Bounds:
    after = later(moment, Literal(1, DAY_TIME_INTERVAL))
    if function == "=":
        return Bounds((moment,), (after,))
    if function in (">", ">="):
        return Bounds(since=(moment if function == ">=" else after,))
    return Bounds(until=(moment if function == "<" else after,))


def later(moment: Expr, span: Expr) -> Expr:
    """The moment later by the span; spans that are constants are added up."""
    if isinstance(span, Literal) and isinstance(span.value, int):
        inner, known = span_after(moment)
        total = known + span.value
        if inner is not moment or known == 0:
            whole = Literal(total, DAY_TIME_INTERVAL)
            return inner if total == 0 else Call("plus_span", (inner, whole), TIMESTAMP)
    return Call("plus_span", (moment, span), TIMESTAMP)


def span_after(moment: Expr) -> tuple[Expr, int]:
    """What the moment is computed from, and how many microseconds after that it is."""
    if isinstance(moment, Call) and moment.function == "plus_span":
        inner, span = moment.arguments
        if isinstance(span, Literal) and isinstance(span.value, int):
            return inner, span.value
    return moment, 0
