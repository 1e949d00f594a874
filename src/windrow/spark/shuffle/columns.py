"""Which columns of a stream a query reads, over all its entries in FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.deferred import deferred
from windrow.rows.prepare import needed_columns

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
else:
    TreePlan = deferred("windrow.plan.relations.tree_plan", "TreePlan")

__all__ = ["columns_read", "schema_read"]


def columns_read(plan: RunnablePlan, stream: str) -> tuple[str, ...]:
    """The names, each once."""
    names: dict[str, None] = {}
    for input_index, entry in enumerate(plan.inputs):
        if entry.stream.name == stream:
            place = plan.places[input_index] if isinstance(plan, TreePlan) else (plan, input_index)
            names.update(dict.fromkeys(needed_columns(*place)))
    return tuple(names)


def schema_read(plan: RunnablePlan, stream: str) -> pa.Schema:
    """The Arrow schema of rows that have these columns only."""
    declared = next(entry.stream for entry in plan.inputs if entry.stream.name == stream)
    return pa.schema(
        [(name, declared.column(name).type.arrow) for name in columns_read(plan, stream)]
    )
