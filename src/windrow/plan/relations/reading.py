"""The columns of others that a tree needs."""

from __future__ import annotations

from windrow.plan.expressions import ColumnRef, walk
from windrow.plan.relations.algebra import Relation, walk_relations
from windrow.plan.relations.references import expressions_of

__all__ = ["outer_columns"]


def outer_columns(relation: Relation) -> frozenset[str]:
    """The ids of all fields that the tree reads and that none of its own nodes gives."""
    read: set[str] = set()
    given: set[str] = set()
    for node in walk_relations(relation):
        given.update(field.id for field in node.fields)
        for expression in expressions_of(node):
            read.update(part.column for part in walk(expression) if isinstance(part, ColumnRef))
    return frozenset(read - given)
