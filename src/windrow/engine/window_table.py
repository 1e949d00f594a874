"""session.windows(): one row per window of each query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from windrow.plan.model import QueryPlan

__all__ = ["WINDOW_SCHEMA", "window_table"]

WINDOW_SCHEMA = pa.schema(
    [
        ("stream", pa.string()),
        ("query", pa.string()),
        ("alias", pa.string()),
        ("wanted", pa.duration("us")),  # NULL for windows that count rows or never end
        ("width", pa.duration("us")),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
        ("rate", pa.float64()),  # rows held per second of width
        ("level", pa.string()),
    ]
)


def window_table(
    queries: Iterable[tuple[str, QueryPlan, Sequence[tuple[int, int]]]],
) -> pa.Table:
    """The windows of queries, each with its name, plan, and rows and bytes of every input."""
    rows = []
    for name, plan, windows in queries:
        for entry, (held, size) in zip(plan.inputs, windows, strict=True):
            wanted = entry.window.length_us or None
            rows.append(
                {
                    "stream": entry.stream.name,
                    "query": name,
                    "alias": entry.alias,
                    "wanted": wanted,
                    "width": wanted,
                    "rows": held,
                    "bytes": size,
                    "rate": held / (wanted / 1e6) if wanted else None,
                    "level": "A",
                }
            )
    return pa.Table.from_pylist(rows, schema=WINDOW_SCHEMA)
