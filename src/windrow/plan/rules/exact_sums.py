"""SUM(x * y) of integers that may overflow, as the sums of its words: it is exact, whatever x is.

Behind the rules: a sum over several inputs that separates is exact already, and cheaper.
"""

from __future__ import annotations

from dataclasses import replace

from windrow.plan.exact_terms import from_words, is_exact_sum, needs_words, words_of
from windrow.plan.expressions import AggregateRef, Call, Expr
from windrow.plan.model import Aggregate, QueryPlan
from windrow.schema import BIGINT

__all__ = ["exact_sums"]


def exact_sums(plan: QueryPlan) -> QueryPlan:
    """The plan in which no argument of a SUM overflows."""
    aggregates = list(plan.aggregates)
    lower_of: dict[int, list[int]] = {}
    for index, aggregate in enumerate(plan.aggregates):
        if _is_split(aggregate):
            assert aggregate.argument is not None
            high, *lower = words_of(aggregate.argument)
            aggregates[index] = replace(aggregate, argument=high)
            lower_of[index] = [len(aggregates) + place for place in range(len(lower))]
            aggregates += [replace(aggregate, argument=word) for word in lower]
    if not lower_of:
        return plan
    select = tuple(
        replace(column, expression=_joined(column.expression, lower_of)) for column in plan.select
    )
    having = None if plan.having is None else _joined(plan.having, lower_of)
    return replace(plan, aggregates=tuple(aggregates), select=select, having=having)


def _is_split(aggregate: Aggregate) -> bool:
    argument = aggregate.argument
    if argument is None or aggregate.terms or aggregate.type != BIGINT:
        return False
    return is_exact_sum(aggregate.function) and needs_words(argument)


def _joined(expression: Expr, lower_of: dict[int, list[int]]) -> Expr:
    """The expression over the parts of sums."""
    if isinstance(expression, AggregateRef) and expression.index in lower_of:
        lower = (replace(expression, index=index) for index in lower_of[expression.index])
        return from_words(expression, *lower)
    if not isinstance(expression, Call):
        return expression
    parts = tuple(_joined(part, lower_of) for part in expression.arguments)
    if expression.function == "try" and isinstance(expression.arguments[0], AggregateRef):
        parts = tuple(map(_tried_words, parts))
    return replace(expression, arguments=parts)


def _tried_words(whole: Expr) -> Expr:
    """A part of a sum is beyond its type only where the whole is: NULL then, as the whole."""
    if not isinstance(whole, Call):
        return whole
    return replace(whole, arguments=tuple(Call("try", (part,), BIGINT) for part in whole.arguments))
