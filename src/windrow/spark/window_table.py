"""The table of windows that a session shows."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from windrow.plan.model import QueryPlan
from windrow.spark.status import QueryStatus

__all__ = ["window_table"]

_SCHEMA = pa.schema(
    [
        ("stream", pa.string()),
        ("wanted", pa.int64()),
        ("width", pa.int64()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
        ("rate", pa.float64()),
        ("level", pa.string()),
    ]
)


def window_table(queries: Iterable[tuple[QueryPlan, QueryStatus]]) -> pa.Table:
    """One row for each entry of FROM of each query."""
    rows = []
    for plan, status in queries:
        for entry, (count, size) in zip(plan.inputs, status.windows, strict=True):
            rows.append({"stream": entry.stream.name, "rows": count, "bytes": size, "level": "A"})
    return pa.Table.from_pylist(rows, schema=_SCHEMA)
