"""How many bytes the window of an input holds for each row."""

from __future__ import annotations

from windrow.plan.expressions import ColumnRef, Expr, inputs_of, walk
from windrow.plan.model import QueryPlan

__all__ = ["row_bytes"]

TIME_BYTES = 8
CODE_BYTES = 4
VALUE_BYTES = 8


def row_bytes(plan: QueryPlan, input_index: int) -> int:
    """Estimated bytes that the window of an input holds for each row."""
    if plan.kind == "aggregate" and plan.inputs[input_index].window.traits.is_endless:
        return 0  # what never leaves need not be remembered
    return TIME_BYTES + CODE_BYTES + VALUE_BYTES * len(_values(plan, input_index))


def _values(plan: QueryPlan, input_index: int) -> set[Expr]:
    """What must be kept of a row to take it out again."""
    if plan.kind == "select" and len(plan.inputs) == 1:
        parts = [part for column in plan.select for part in walk(column.expression)]
        return {part for part in parts if isinstance(part, ColumnRef)}
    read: list[Expr] = [each.argument for each in plan.aggregates if each.argument is not None]
    read += [part for part, key in zip(plan.group_by, plan.group_keys, strict=True) if key is None]
    if plan.kind == "select":
        read += [column.expression for column in plan.select]
    for negation in plan.negations:
        read += [*negation.keys, *negation.of_keys]
    residuals = [plan.residual, *(negation.residual for negation in plan.negations)]
    read += [part for part in residuals if part is not None]
    return {part for whole in read for part in _parts(whole, input_index)}


def _parts(expression: Expr, input_index: int) -> set[Expr]:
    """The largest parts of the expression that read this input alone."""
    reads = inputs_of(expression)
    if reads == {input_index}:
        return {expression}
    if input_index not in reads:
        return set()
    arguments = getattr(expression, "arguments", ())
    return {part for argument in arguments for part in _parts(argument, input_index)}
