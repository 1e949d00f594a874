"""Whether a relation may have rows before any row of a stream has come, such as a count of 0."""

from __future__ import annotations

from windrow.plan.relations.algebra import Aggregate, Join, Relation, Values
from windrow.plan.relations.blocks import Block
from windrow.plan.relations.exchange_algebra import Received

__all__ = ["has_first_rows"]


def has_first_rows(node: Relation) -> bool:
    """Whether it may have rows before any row of a stream has come; those of tables do not count.

    A join has none where the input has none whose rows it keeps.
    """
    if isinstance(node, Block):
        return node.plan.kind == "aggregate" and not node.plan.group_by
    if isinstance(node, Received):
        return node.begins
    if isinstance(node, Join) and node.kind != "full":
        sides = (node.left, node.right) if node.kind == "inner" else (node.left,)
        return all(map(has_first_rows, sides))
    is_one_row = isinstance(node, Aggregate) and not node.groups
    return is_one_row or isinstance(node, Values) or any(map(has_first_rows, node.inputs))
