"""What a relation reads: the expressions of a node, and the columns of others that a tree needs."""

from __future__ import annotations

from collections.abc import Iterator

from windrow.plan.expressions import ColumnRef, Expr, walk
from windrow.plan.relations.algebra import (
    Aggregate,
    Apply,
    AtMostOne,
    Filter,
    Join,
    Project,
    Relation,
    TopRows,
    ValidRows,
    Values,
    WindowFunctions,
    walk_relations,
)

__all__ = ["expressions_of", "outer_columns"]


def expressions_of(node: Relation) -> Iterator[Expr]:
    """The expressions of the node itself, over fields of its inputs and of queries around it."""
    if isinstance(node, Filter):
        yield node.condition
    elif isinstance(node, Project):
        yield from (item.expression for item in node.items)
    elif isinstance(node, Aggregate):
        yield from (item.expression for item in node.groups)
        yield from (part for call in node.calls for part in call.arguments)
    elif isinstance(node, (Join, Apply)):
        if node.condition is not None:
            yield node.condition
    elif isinstance(node, (TopRows, WindowFunctions)):
        yield from node.partition
        yield from (key.expression for key in node.order)
        if isinstance(node, WindowFunctions):
            yield from (part for call in node.calls for part in call.arguments)
    elif isinstance(node, AtMostOne):
        yield from node.by
    elif isinstance(node, ValidRows):
        yield from (*node.since, *node.until)
    elif isinstance(node, Values):
        yield from (part for row in node.rows for part in row)


def outer_columns(relation: Relation) -> frozenset[str]:
    """The ids of all fields that the tree reads and that none of its own nodes gives."""
    read: set[str] = set()
    given: set[str] = set()
    for node in walk_relations(relation):
        given.update(field.id for field in node.fields)
        for expression in expressions_of(node):
            read.update(part.column for part in walk(expression) if isinstance(part, ColumnRef))
    return frozenset(read - given)
