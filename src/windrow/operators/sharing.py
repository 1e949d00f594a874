"""Which queries read rows that others can read, too, and what they read in rows that are held."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import prepared_columns
from windrow.rows.prepared_rows import PreparedColumns
from windrow.rows.set_aside import guards_in
from windrow.rows.shape import QueryShape, shape_of
from windrow.rows.shared_rows import HeldValues
from windrow.windows.codes import needs_codes

if TYPE_CHECKING:
    from windrow.operators.tree.words import keeps_values
else:
    keeps_values = deferred("windrow.operators.tree.words", "keeps_values")

__all__ = ["held_values"]


def held_values(plan: QueryPlan, algorithm: str) -> tuple[HeldValues, bool]:
    """For each input the columns to hold in shared rows; None: a query run so has its own rows.

    And whether the operator keeps more of each row than a code.
    """
    if not all(entry.window.traits.has_width for entry in plan.inputs):
        return None, False
    # What a query sets aside is counted where its own rows are prepared.
    if any(guards_in(entry.filter) for entry in plan.inputs):
        return None, False
    shape = shape_of(plan)
    columns = [prepared_columns(plan, input_index) for input_index in range(len(plan.inputs))]
    if algorithm != "factorised":
        return [_words(each) for each in columns], True
    values = [tuple(range(each.values.start - 1, each.values.stop - 1)) for each in columns]
    if shape.mode is not None:
        return values, False
    return _of_tree(plan, shape, values), True


def _words(columns: PreparedColumns) -> tuple[int, ...]:
    """All columns that are words: rows that are joined one by one are read as they are."""
    kinds = columns.schema.types[1:]
    return tuple(number for number, kind in enumerate(kinds) if not needs_codes(kind))


def _of_tree(plan: QueryPlan, shape: QueryShape, values: Sequence[tuple[int, ...]]) -> HeldValues:
    """Those of a tree: codes of texts are a query's own, and so are its rows if it keeps some."""
    held = []
    for input_index, (each, numbers) in enumerate(zip(shape.inputs, values, strict=True)):
        is_kept = keeps_values(plan, shape, input_index)
        if is_kept and any(map(needs_codes, each.value_types)):
            return None
        held.append(numbers if is_kept else ())
    return held
