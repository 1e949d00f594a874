"""Columns that are computed of computed columns are computed at once; others not at all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from windrow.plan.expressions import Call, ColumnRef, walk
from windrow.plan.relations.algebra import Item, Project, Relation
from windrow.plan.relations.references import substituted

__all__ = ["merge_projections"]


def merge_projections(relation: Relation) -> Relation:
    """The relation with as few projections as it needs."""
    parts = [merge_projections(part) for part in relation.inputs]
    relation = relation.with_inputs(*parts) if parts else relation
    if isinstance(relation, Project) and isinstance(relation.input, Project):
        inner = relation.input
        if _is_cheaper(relation.items, inner.items):
            values = {item.field.id: item.expression for item in inner.items}
            items = tuple(
                replace(item, expression=substituted(item.expression, values))
                for item in relation.items
            )
            relation = Project(inner.input, items)
    if isinstance(relation, Project) and _changes_nothing(relation):
        return relation.input
    return relation


def _is_cheaper(outer: tuple[Item, ...], inner: tuple[Item, ...]) -> bool:
    """Whether nothing is computed twice for it."""
    reads = Counter(
        part.column
        for item in outer
        for part in walk(item.expression)
        if isinstance(part, ColumnRef)
    )
    return all(reads[item.field.id] <= 1 or not isinstance(item.expression, Call) for item in inner)


def _changes_nothing(relation: Project) -> bool:
    if relation.fields != relation.input.fields:
        return False
    return all(item.expression == item.field.ref for item in relation.items)
