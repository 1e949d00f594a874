"""Inner joins in an order in which each input has an equality with those before it.

FROM a, b, c WHERE a.x = c.x AND c.y = b.y would begin with all pairs of a and b; joined as a, c, b
there is a key at every step. Inputs without any equality come last.
"""

from __future__ import annotations

from windrow.plan.expressions import Expr
from windrow.plan.relations.algebra import Join, Project, Relation
from windrow.plan.relations.references import conjuncts_of, ids_of, is_pair, passed, read_ids
from windrow.plan.types import all_of

__all__ = ["flattened", "order_joins"]


def order_joins(relation: Relation) -> Relation:
    """The relation with all inner joins in such an order; its columns keep theirs."""
    if isinstance(relation, Join) and relation.kind == "inner":
        parts, conditions = flattened(relation)
        ordered = _ordered([order_joins(part) for part in parts], conditions)
        if ordered.fields == relation.fields:
            return ordered
        return Project(ordered, passed(relation.fields))
    parts = [order_joins(part) for part in relation.inputs]
    return relation.with_inputs(*parts) if parts else relation


def flattened(relation: Relation) -> tuple[list[Relation], list[Expr]]:
    """The inputs of inner joins of inner joins, and all their conditions."""
    if not isinstance(relation, Join) or relation.kind != "inner":
        return [relation], []
    left, on_left = flattened(relation.left)
    right, on_right = flattened(relation.right)
    return [*left, *right], [*on_left, *on_right, *conjuncts_of(relation.condition)]


def _ordered(parts: list[Relation], conditions: list[Expr]) -> Relation:
    joined, waiting = parts[0], parts[1:]
    conditions = list(dict.fromkeys(conditions))
    while waiting:
        known = ids_of(joined)
        linked = (part for part in waiting if _is_linked(known, ids_of(part), conditions))
        part = next(linked, waiting[0])
        waiting.remove(part)
        given = known | ids_of(part)
        own = [each for each in conditions if read_ids(each) <= given or not waiting]
        conditions = [each for each in conditions if each not in own]
        joined = Join("inner", joined, part, all_of(own))
    return joined


def _is_linked(known: frozenset[str], other: frozenset[str], conditions: list[Expr]) -> bool:
    for each in conditions:
        pair = is_pair(each, ("=", "is_same"))
        if pair is None:
            continue
        reads = [read_ids(part) for part in pair]
        for one, two in (reads, reads[::-1]):
            if one and two and one <= known and two <= other:
                return True
    return False
