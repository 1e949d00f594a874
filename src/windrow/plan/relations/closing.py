"""When answers are due without EVERY, where all windows of a query close together."""

from __future__ import annotations

from windrow.plan.relations.algebra import (
    AnswerWindow,
    Relation,
    Scan,
    ViewScan,
    walk_relations,
)
from windrow.plan.windows import common_closes

__all__ = ["closes_of"]

Closes = tuple[int, int]


def closes_of(relation: Relation) -> Closes | None:
    """How far apart all its windows close, and how much later than at multiples of that.

    None where they do not close together: then answers are due when rows enter.
    """
    found: set[Closes | None] = set()
    for node in walk_relations(relation):
        if isinstance(node, Scan):
            found.add(common_closes([node.window]))
        elif isinstance(node, ViewScan):
            found.add(node.closes)
        elif isinstance(node, AnswerWindow):
            found.add(None)
    return found.pop() if len(found) == 1 else None
