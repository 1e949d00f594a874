"""Which queries read rows that others can read, too, and what they need of rows that are held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.plan.model import QueryPlan
from windrow.rows.set_aside import guards_in
from windrow.rows.shape import QueryShape, shape_of
from windrow.rows.shared_rows import HeldValues
from windrow.windows.codes import needs_codes

if TYPE_CHECKING:
    from windrow.operators.tree.words import keeps_values
else:
    keeps_values = deferred("windrow.operators.tree.words", "keeps_values")

__all__ = ["held_values"]


def held_values(plan: QueryPlan, algorithm: str) -> HeldValues:
    """For each input the values to hold in shared rows; None: a query run so has its own rows."""
    if algorithm != "factorised":
        return None
    if not all(entry.window.traits.has_width for entry in plan.inputs):
        return None
    # What a query sets aside is counted where its own rows are prepared.
    if any(guards_in(entry.filter) for entry in plan.inputs):
        return None
    shape = shape_of(plan)
    if shape.mode is None:
        return _of_tree(plan, shape)
    return [tuple(range(len(each.values))) for each in shape.inputs]


def _of_tree(plan: QueryPlan, shape: QueryShape) -> HeldValues:
    """Those of a tree: codes of texts are a query's own, and so are its rows if it keeps some."""
    held = []
    for input_index, each in enumerate(shape.inputs):
        is_kept = keeps_values(plan, shape, input_index)
        if is_kept and any(map(needs_codes, each.value_types)):
            return None
        held.append(tuple(range(len(each.values))) if is_kept else ())
    return held
