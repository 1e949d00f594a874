"""A tree that is one block is a single query: nothing is published twice.

FILTER, views and sub-queries that only rename, filter or project leave such trees behind.
"""

from __future__ import annotations

from dataclasses import replace

from windrow.plan.digits import too_wide
from windrow.plan.expressions import Call, Expr
from windrow.plan.fallible import is_guard
from windrow.plan.model import OutputColumn, QueryPlan
from windrow.plan.relations.algebra import Filter, Project, Relation, walk_relations
from windrow.plan.relations.blocks import Block
from windrow.plan.relations.references import conjuncts_of, substituted
from windrow.plan.relations.tree_plan import TreePlan
from windrow.plan.relations.union_blocks import UnionBlock

__all__ = ["as_block"]


def as_block(plan: TreePlan) -> QueryPlan | TreePlan:
    """The plan of the block that the tree is, or the tree itself: so of a union of blocks."""
    if plan.order or plan.hidden:
        return plan
    found = _folded(plan.relation)
    if found is None or any(too_wide(column.expression) for column in found.select):
        return plan
    named = zip(plan.outputs, found.select, strict=True)
    select = tuple(replace(column, name=field.name) for field, column in named)
    policy = plan.on_error if found.on_error == "fail" else found.on_error
    whole = replace(
        found,
        select=select,
        every_us=plan.every_us,
        duration=plan.duration,
        closes=plan.closes,
        on_error=policy,
    )
    is_union = any(isinstance(node, UnionBlock) for node in walk_relations(plan.relation))
    return replace(plan, combined=whole) if is_union else whole


def _folded(relation: Relation) -> QueryPlan | None:
    """The block with what is computed and tested above it; columns are named by their ids."""
    if isinstance(relation, Block):
        windows = [entry.window for entry in relation.plan.inputs]
        # Only leaves of trees have these.
        return None if any(each.traits.is_scheduled for each in windows) else relation.plan
    if not isinstance(relation, Project | Filter):
        return None
    inner = _folded(relation.input)
    if inner is None or inner.kind != "aggregate":
        return None
    values = {column.name: column.expression for column in inner.select}
    if isinstance(relation, Filter) and any(map(is_guard, conjuncts_of(relation.condition))):
        return None  # an operator counts the rows that it sets aside
    if isinstance(relation, Project):
        select = tuple(
            OutputColumn(item.field.id, substituted(item.expression, values), item.field.type)
            for item in relation.items
        )
        return replace(inner, select=select)
    return replace(inner, having=_both(inner.having, substituted(relation.condition, values)))


def _both(first: Expr | None, second: Expr) -> Expr:
    return second if first is None else Call("and", (first, second), second.type)
