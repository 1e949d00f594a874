"""The rules that a bound relation goes through, in this order: read the tuple.

A rule takes a relation and gives one with the same rows at every instant, under the same columns.
"""

from __future__ import annotations

from collections.abc import Callable

from windrow.plan.relations.algebra import Relation
from windrow.plan.relations.rules.aggregate_left_joins import aggregate_left_joins
from windrow.plan.relations.rules.aggregate_parts_of_unions import aggregate_parts_of_unions
from windrow.plan.relations.rules.anti_joins import anti_joins
from windrow.plan.relations.rules.hold_between import hold_between
from windrow.plan.relations.rules.limit_row_numbers import limit_row_numbers
from windrow.plan.relations.rules.merge_projections import merge_projections
from windrow.plan.relations.rules.order_joins import order_joins
from windrow.plan.relations.rules.prune_columns import prune_columns
from windrow.plan.relations.rules.pull_up_bounds import pull_up_bounds
from windrow.plan.relations.rules.push_filters import push_filters
from windrow.plan.relations.rules.read_session_ends import read_session_ends
from windrow.plan.relations.rules.split_anti_joins import split_anti_joins
from windrow.plan.relations.rules.unnest import unnest

__all__ = ["RELATION_RULES", "RelationRule", "rewritten_relation", "rules_that_change"]

RelationRule = Callable[[Relation], Relation]

RELATION_RULES: tuple[RelationRule, ...] = (
    unnest,
    split_anti_joins,
    read_session_ends,
    push_filters,
    hold_between,
    anti_joins,
    pull_up_bounds,
    aggregate_left_joins,
    aggregate_parts_of_unions,
    order_joins,
    prune_columns,
    merge_projections,
    limit_row_numbers,
)


def rewritten_relation(
    relation: Relation, rules: tuple[RelationRule, ...] = RELATION_RULES
) -> Relation:
    """The relation after all rules."""
    for rule in rules:
        relation = rule(relation)
    return relation


def rules_that_change(relation: Relation) -> tuple[str, ...]:
    """The names of the rules that change something in it, in order."""
    found = []
    for rule in RELATION_RULES:
        changed = rule(relation)
        if changed != relation:
            found.append(rule.__name__)
        relation = changed
    return tuple(found)
