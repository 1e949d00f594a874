"""An anti join by one condition or another is an anti join by each, one after the other.

NOT IN is one: a row stays where no row of the sub-query equals it, none is NULL, and, if it is NULL
itself, there is none at all. Together these compare every row with all others; apart, the first is
found by its key, and the others are counts.
"""

from __future__ import annotations

from windrow.plan.expressions import Call, Expr
from windrow.plan.relations.algebra import Join, Relation
from windrow.plan.relations.join_condition import split_condition
from windrow.plan.relations.references import conjuncts_of
from windrow.plan.types import all_of

__all__ = ["split_anti_joins"]


def split_anti_joins(relation: Relation) -> Relation:
    """The relation with such anti joins in a row."""
    parts = [split_anti_joins(part) for part in relation.inputs]
    relation = relation.with_inputs(*parts) if parts else relation
    if not isinstance(relation, Join) or relation.kind != "anti":
        return relation
    for place, condition in enumerate(conjuncts_of(relation.condition)):
        choices = _disjuncts(condition)
        if len(choices) > 1 and any(_has_key(relation, each) for each in choices):
            return _split(relation, place, choices)
    return relation


def _split(relation: Join, place: int, choices: list[Expr]) -> Relation:
    rest = conjuncts_of(relation.condition)
    del rest[place]
    found = relation.left
    for choice in choices:
        found = Join("anti", found, relation.right, all_of([*rest, choice]))
    return found


def _disjuncts(condition: Expr) -> list[Expr]:
    """The conditions that OR ties together."""
    if isinstance(condition, Call) and condition.function == "or":
        return [part for each in condition.arguments for part in _disjuncts(each)]
    return [condition]


def _has_key(relation: Join, condition: Expr) -> bool:
    """Whether rows that fulfil it are found by a key."""
    return bool(split_condition(Join("anti", relation.left, relation.right, condition)).keys)
