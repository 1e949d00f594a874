"""Expressions over values with bounds: by interval arithmetic where it applies, else none.

A bound that is NULL says that nothing is known. Bounds hold for what the same expression would give
over exact aggregates: every step rounds alike for the value and its bounds, and rounding keeps
order. An infinity or NaN in a bound ends what can be said. They bound the true value if it is not
NULL; `is_there` says where it cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from windrow.plan.expressions import AggregateRef, Call, Expr, Literal
from windrow.plan.history_plan import has_aggregate
from windrow.rows.evaluate import evaluate, evaluate_or_null
from windrow.rows.scalar.comparisons import equal
from windrow.schema import ColumnType

__all__ = ["Bounded", "evaluate_bounded"]

_RISING = frozenset(["cast", "sqrt", "exp", "ln", "floor", "ceil", "round"])


@dataclass(frozen=True)
class Bounded:
    """A column of values, and columns of bounds that the true ones lie between.

    is_there: where the true value is surely not NULL; None: wherever there is a value.
    """

    value: pa.Array
    low: pa.Array
    high: pa.Array
    is_there: pa.Array | None = None

    @property
    def is_present(self) -> pa.Array:
        """Where the true value is surely not NULL."""
        return pc.is_valid(self.value) if self.is_there is None else self.is_there

    @property
    def is_sure(self) -> pa.Array:
        """Where the bounds leave no doubt: of which value there is, and that there is one."""
        return pc.and_(pc.fill_null(equal(self.low, self.high), False), self.is_present)


def evaluate_bounded(expression: Expr, leaf: Callable[[Expr], Bounded], length: int) -> Bounded:
    """The value of the expression in each row, with bounds; a row without one is an error."""
    value = evaluate(expression, lambda part: leaf(part).value, length)
    if not has_aggregate(expression):
        return Bounded(value, value, value)
    return _bounded(expression, leaf, length)


def _bounded(expression: Expr, leaf: Callable[[Expr], Bounded], length: int) -> Bounded:
    """The same, NULL where there is no value: not all parts are looked at in all rows."""
    if not has_aggregate(expression):
        value = evaluate_or_null(expression, lambda part: leaf(part).value, length)
        return Bounded(value, value, value)
    if not isinstance(expression, Call):
        return leaf(expression)
    if expression.function == "try":
        return _bounded(expression.arguments[0], leaf, length)
    arguments = [_bounded(part, leaf, length) for part in expression.arguments]
    value = _apply(expression, [part.value for part in arguments], length)
    low, high = _bounds(expression, arguments, length)
    return _with_sure(value, low, high, arguments)


def _bounds(call: Call, parts: list[Bounded], length: int) -> tuple[pa.Array, pa.Array]:
    nothing = pa.nulls(length, call.type.arrow)
    if call.function in ("+", "-"):
        left, right = parts
        sides = (right.low, right.high) if call.function == "+" else (right.high, right.low)
        lows = _apply(call, [left.low, sides[0]], length)
        highs = _apply(call, [left.high, sides[1]], length)
        return _finite(lows, highs, parts)
    if call.function in ("*", "/"):
        return _products(call, parts, length)
    if call.function == "negate":
        lows, highs = (_apply(call, [side], length) for side in (parts[0].high, parts[0].low))
        return _finite(lows, highs, parts)
    if call.function in _RISING and _is_ordered(call):
        fixed = [part.value for part in parts[1:]]
        lows = _apply(call, [parts[0].low, *fixed], length)
        highs = _apply(call, [parts[0].high, *fixed], length)
        return _finite(lows, highs, parts)
    return nothing, nothing


def _products(call: Call, parts: list[Bounded], length: int) -> tuple[pa.Array, pa.Array]:
    """The extremes of the four corners; nothing is known where a divisor may be 0."""
    left, right = parts
    corners = [
        _apply(call, [one, other], length)
        for one in (left.low, left.high)
        for other in (right.low, right.high)
    ]
    known = _all([pc.is_valid(corner) for corner in corners])
    if call.function == "/":
        divides = pc.or_(pc.greater(right.low, 0.0), pc.less(right.high, 0.0))
        known = _all([known, pc.fill_null(divides, False)])
    nothing = pa.scalar(None, call.type.arrow)
    lows = pc.if_else(known, _extreme("least", corners, call.type, length), nothing)
    highs = pc.if_else(known, _extreme("greatest", corners, call.type, length), nothing)
    return _finite(lows, highs, parts)


def _extreme(function: str, values: Sequence[pa.Array], kind: ColumnType, length: int) -> pa.Array:
    leaves = tuple(AggregateRef(place, kind) for place in range(len(values)))
    return _apply(Call(function, leaves, kind), values, length)


def _apply(call: Call, values: Sequence[pa.Array], length: int) -> pa.Array:
    """The function over columns in place of its arguments."""
    # Some functions take constants only where constants were written.
    leaves: list[Expr] = [
        part if isinstance(part, Literal) else AggregateRef(place, part.type)
        for place, part in enumerate(call.arguments)
    ]
    columns: dict[Expr, pa.Array] = dict(zip(leaves, values, strict=True))
    whole = replace(call, arguments=tuple(leaves))
    return evaluate_or_null(whole, columns.__getitem__, length)


def _is_ordered(call: Call) -> bool:
    """Whether the function takes numbers to numbers."""
    return call.type.is_numeric and call.arguments[0].type.is_numeric


def _finite(low: pa.Array, high: pa.Array, parts: Sequence[Bounded]) -> tuple[pa.Array, pa.Array]:
    """Bounds where all that they come from is a number; else nothing is known."""
    sides = [side for part in parts for side in (part.low, part.high)]
    known = _all([_is_number(side) for side in (*sides, low, high)])
    nothing = pa.scalar(None, low.type)
    return pc.if_else(known, low, nothing), pc.if_else(known, high, nothing)


def _with_sure(value: pa.Array, low: pa.Array, high: pa.Array, parts: Sequence[Bounded]) -> Bounded:
    """Where no argument is in doubt, the value is not either, whatever the function."""
    sure = _all([part.is_sure for part in parts])
    is_there = pc.and_(_all([part.is_present for part in parts]), pc.is_valid(value))
    low, high = (pc.if_else(sure, value, side) for side in (low, high))
    return Bounded(value, low, high, is_there)


def _is_number(column: pa.Array) -> pa.Array:
    if pa.types.is_floating(column.type):
        return pc.fill_null(pc.is_finite(column), False)
    return pc.is_valid(column)


def _all(conditions: Sequence[pa.Array]) -> pa.Array:
    found = conditions[0]
    for condition in conditions[1:]:
        found = pc.and_(found, condition)
    return found
