"""What calls of ordered aggregates need: rows in an order, and which of them are picked."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.aggregate_functions import AggregateFunction, Form
from windrow.operators.relations.aggregates.ordered.kernels import (
    PICK_BETWEEN,
    PICK_FIRST,
    PICK_LAST,
    PICK_NEAREST,
)
from windrow.operators.relations.aggregates.ordered.ordered_values import Pick
from windrow.plan.expressions import Expr, Literal
from windrow.plan.relations.algebra import AggregateCall, OrderKey
from windrow.plan.relations.tree_calls import KEYS_OF_CHOSEN

__all__ = ["ORDERED_FORMS", "OrderedKind", "ordered_call"]

ORDERED_FORMS = (Form.CHOSEN, Form.CHOSEN_BY, Form.RANKED, Form.MOST_FREQUENT)


@dataclass(frozen=True)
class OrderedKind:
    """Rows of these keys, in their order. needed: what is not NULL in the rows that count.

    by_count: a row that is there more often is before others.
    """

    keys: tuple[OrderKey, ...]
    needed: Expr
    by_count: bool = False


def ordered_call(function: AggregateFunction, call: AggregateCall) -> tuple[OrderedKind, Pick]:
    """The rows that a call needs, and what it shows of them."""
    value = call.arguments[0]
    if function.form is Form.CHOSEN:
        return _chosen(function, call)
    if function.form is Form.CHOSEN_BY:
        # Of rows that are equal in what is compared, the one with the least value counts.
        compared = call.arguments[1]
        keys: tuple[OrderKey, ...] = (
            OrderKey(compared, is_descending=function.is_greatest),
            OrderKey(value, nulls_first=False),
        )
        return OrderedKind(keys, compared), Pick(PICK_FIRST, 1)
    fraction, is_descending = (_constant(each) for each in call.arguments[1:])
    keys = (OrderKey(value, is_descending=bool(is_descending)),)
    if function.form is Form.MOST_FREQUENT:
        return OrderedKind(keys, value, by_count=True), Pick(PICK_FIRST, 0)
    kind = PICK_NEAREST if function.is_nearest else PICK_BETWEEN
    return OrderedKind(keys, value), Pick(kind, 0, float(fraction))


def _chosen(function: AggregateFunction, call: AggregateCall) -> tuple[OrderedKind, Pick]:
    value, needed = call.arguments[:KEYS_OF_CHOSEN]
    expressions = list(call.arguments[KEYS_OF_CHOSEN:])
    if value not in expressions:
        expressions.append(value)
    keys = tuple(OrderKey(each) for each in expressions)
    kind = PICK_LAST if function.is_greatest else PICK_FIRST
    return OrderedKind(keys, needed), Pick(kind, expressions.index(value))


def _constant(argument: Expr) -> float:
    assert isinstance(argument, Literal)
    assert isinstance(argument.value, float | bool)
    return float(argument.value)
