"""Exact sums of aggregates that are no blocks: sums of words, put together above."""

from __future__ import annotations

from dataclasses import replace

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS
from windrow.plan.exact_terms import from_words, is_exact_sum, needs_words, words_of
from windrow.plan.expressions import Call
from windrow.plan.fallible import has_value
from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    Filter,
    Item,
    Project,
    Relation,
)
from windrow.plan.relations.references import FreshIds, passed
from windrow.plan.types import all_of
from windrow.schema import BIGINT

__all__ = ["summed_in_words", "with_exact_sums"]


def with_exact_sums(relation: Relation) -> Relation:
    """The relation in which no argument of a SUM overflows."""
    return _exact(relation, FreshIds(relation, "w"))


def _exact(relation: Relation, fresh: FreshIds) -> Relation:
    parts = [_exact(part, fresh) for part in relation.inputs]
    relation = relation.with_inputs(*parts) if parts else relation
    if isinstance(relation, Aggregate):
        is_counted = relation.on_error == "set_aside"
        split = {call.field.id for call in relation.calls if _is_split(call, is_counted)}
        return summed_in_words(relation, split, fresh) if split else relation
    return relation


def summed_in_words(relation: Aggregate, split: set[str], fresh: FreshIds) -> Project:
    """The aggregate with these sums as sums of words, put together above it.

    split: the ids of their fields.
    """
    items = list(passed(relation.fields[: len(relation.groups)]))
    calls: list[AggregateCall] = []
    wholes: list[Item] = []
    for call in relation.calls:
        if call.field.id not in split:
            calls.append(call)
            items += passed([call.field])
            continue
        words = [
            replace(call, field=fresh.like(call.field), arguments=(word,))
            for word in words_of(call.arguments[0])
        ]
        calls += words
        whole = from_words(*(each.field.ref for each in words))
        # TRY_SUM is NULL where its type does not hold the sum.
        if relation.on_error == "null" or AGGREGATE_FUNCTIONS[call.function].in_trees:
            whole = Call("try", (whole,), BIGINT)
        wholes.append(Item(call.field, whole))
        items.append(wholes[-1])
    found: Relation = replace(relation, calls=tuple(calls))
    if relation.on_error == "set_aside":
        guards = all_of([has_value(item.expression) for item in wholes])
        found = found if guards is None else Filter(found, guards)
    return Project(found, tuple(items))


def _is_split(call: AggregateCall, is_counted: bool) -> bool:
    """is_counted: a group whose sum is beyond its type is set aside, which a condition counts."""
    if call.field.type != BIGINT or len(call.arguments) != 1:
        return False
    (argument,) = call.arguments
    if not is_exact_sum(call.function, is_distinct=call.is_distinct):
        return False
    return needs_words(argument) or (is_counted and argument.type == BIGINT)
