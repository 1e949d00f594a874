"""session.windows(): one row per window of each running query."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from windrow.embedded.query import EmbeddedQuery

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


def window_table(queries: Sequence[EmbeddedQuery]) -> pa.Table:
    """The windows of these queries."""
    rows = []
    for query in queries:
        for position, held, size in query.window_statistics():
            entry = query.plan.inputs[position]
            wanted = entry.window.length_us or None
            rows.append(
                {
                    "stream": entry.stream.name,
                    "query": query.name,
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
