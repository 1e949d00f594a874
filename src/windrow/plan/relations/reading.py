"""The columns of others that a tree needs."""

from __future__ import annotations

from windrow.plan.expressions import ColumnRef, walk
from windrow.plan.relations.algebra import Relation, Scan, walk_relations
from windrow.plan.relations.references import expressions_of

__all__ = ["outer_columns", "times_of"]


def outer_columns(relation: Relation) -> frozenset[str]:
    """The ids of all fields that the tree reads and that none of its own nodes gives."""
    read: set[str] = set()
    given: set[str] = set()
    for node in walk_relations(relation):
        given.update(field.id for field in node.fields)
        for expression in expressions_of(node):
            read.update(part.column for part in walk(expression) if isinstance(part, ColumnRef))
    return frozenset(read - given)


def times_of(relation: Relation) -> tuple[ColumnRef, ...]:
    """The times of the rows of streams that the relation still has, in the order of FROM."""
    given = {field.id for field in relation.fields}
    return tuple(
        field.ref
        for scan in walk_relations(relation)
        if isinstance(scan, Scan)
        for field, column in zip(scan.given, scan.columns, strict=True)
        if column == scan.stream.time and field.id in given
    )
