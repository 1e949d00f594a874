"""Aggregates in two steps: of parts of the rows, and of what these gave.

A part's aggregate stands for all of its rows; `times` says how often each of them counts, for rows
that meet several others in a join.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, COUNT, SUM, Form, sum_type
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.fallible import tried
from windrow.plan.relations.algebra import AggregateCall, Field, Item
from windrow.plan.relations.references import FreshIds
from windrow.plan.types import arithmetic, convert
from windrow.schema import BIGINT, DOUBLE

__all__ = ["PartialAggregate", "partial_of"]

ROWS = AGGREGATE_FUNCTIONS[COUNT.star or ""]
_TOTALS = (Form.ROWS, Form.COUNT, Form.SUM, Form.MEAN)


@dataclass(frozen=True)
class PartialAggregate:
    """One aggregate in two steps.

    first: over the rows of a part. second: over the parts, of what the first gave; value: what the
    aggregate is, of what the second gave.
    """

    first: tuple[AggregateCall, ...]
    second: tuple[AggregateCall, ...]
    value: Item


def partial_of(
    call: AggregateCall,
    fresh: FreshIds,
    times: Callable[[Expr], Expr] = lambda part: part,
    *,
    exact: bool = True,
) -> PartialAggregate | None:
    """The two steps of an aggregate; None where it has none that give the same.

    times: a total of one part as it counts. exact: whether totals of several parts are added up;
    those of doubles are rounded already, and their sum may be another.
    """
    function = AGGREGATE_FUNCTIONS[call.function]
    if function.form is Form.EXTREME:
        part = AggregateCall(fresh.like(call.field), call.function, call.arguments)
        whole = AggregateCall(fresh.like(call.field), call.function, (part.field.ref,))
        return PartialAggregate((part,), (whole,), Item(call.field, whole.field.ref))
    if call.is_distinct or function.is_of_trees or function.form not in _TOTALS:
        return None
    steps = [_count_step(call, fresh, times)]
    if function.form in (Form.SUM, Form.MEAN):
        kind = call.arguments[0].type
        if not kind.is_integer and (exact or not kind.is_float):
            return None
        total = _sum_step(call, fresh, times)
        steps = [total] if function.form is Form.SUM else [total, *steps]
    firsts, seconds = zip(*steps, strict=True)
    return PartialAggregate(firsts, seconds, Item(call.field, _value(call, function.form, seconds)))


def _count_step(
    call: AggregateCall, fresh: FreshIds, times: Callable[[Expr], Expr]
) -> tuple[AggregateCall, AggregateCall]:
    function = AGGREGATE_FUNCTIONS[call.function]
    name = call.function if function.is_count else COUNT.name
    field = Field("", "count", BIGINT)
    part = AggregateCall(fresh.like(field), name, call.arguments)
    return part, AggregateCall(fresh.like(field), SUM.name, (times(part.field.ref),))


def _sum_step(
    call: AggregateCall, fresh: FreshIds, times: Callable[[Expr], Expr]
) -> tuple[AggregateCall, AggregateCall]:
    field = Field("", "sum", sum_type(call.arguments[0].type))
    part = AggregateCall(fresh.like(field), SUM.name, call.arguments)
    counted = convert(times(part.field.ref), field.type)
    return part, AggregateCall(fresh.like(field), SUM.name, (counted,))


def _value(call: AggregateCall, form: Form, seconds: Sequence[AggregateCall]) -> Expr:
    if form is Form.SUM:
        return convert(seconds[0].field.ref, call.field.type)
    if form is Form.MEAN:
        total, count = (convert(each.field.ref, DOUBLE) for each in seconds)
        return tried(arithmetic("/", total, count))
    # The sum of no counts is NULL, and the count of nothing 0.
    return Call("coalesce", (seconds[0].field.ref, Literal(0, BIGINT)), BIGINT)
