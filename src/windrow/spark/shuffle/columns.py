"""Which columns of a stream a query reads, over all its entries in FROM."""

from __future__ import annotations

import pyarrow as pa

from windrow.plan.model import QueryPlan
from windrow.rows.prepare import needed_columns

__all__ = ["columns_read", "schema_read"]


def columns_read(plan: QueryPlan, stream: str) -> tuple[str, ...]:
    """The names, each once."""
    names: dict[str, None] = {}
    for input_index, entry in enumerate(plan.inputs):
        if entry.stream.name == stream:
            names.update(dict.fromkeys(needed_columns(plan, input_index)))
    return tuple(names)


def schema_read(plan: QueryPlan, stream: str) -> pa.Schema:
    """The Arrow schema of rows that have these columns only."""
    declared = next(entry.stream for entry in plan.inputs if entry.stream.name == stream)
    return pa.schema(
        [(name, declared.column(name).type.arrow) for name in columns_read(plan, stream)]
    )
