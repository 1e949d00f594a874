"""Which selects can be followed by their changes alone."""

from __future__ import annotations

from windrow.plan.expressions import ColumnRef
from windrow.plan.model import QueryPlan
from windrow.rows.shape import QueryShape

__all__ = ["can_follow"]


def can_follow(plan: QueryPlan, shape: QueryShape) -> bool:
    """Whether rows of a select leave in order, and show columns of their inputs.

    It has one window, two that join by equality, or one and a second that has no equal row.
    """
    if plan.kind != "select" or shape.residual is not None:
        return False
    windows = [entry.window.traits for entry in plan.inputs]
    if not all(each.leaves_by_time and not each.is_endless for each in windows):
        return False
    if not all(isinstance(column, ColumnRef) for column in shape.group_columns):
        return False
    if len(plan.inputs) == 1:
        return bool(shape.group_columns) or not shape.is_distinct
    if len(plan.inputs) > 2 or shape.is_distinct:
        return False
    if shape.negations:
        return shape.negations[0].residual is None
    return shape.inputs[0].variables == shape.inputs[1].variables
