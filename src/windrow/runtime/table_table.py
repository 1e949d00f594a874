"""session.tables(): the tables of a session as they were declared, and what they hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from windrow.runtime.tables.table_store import TableStore


__all__ = ["TABLE_SCHEMA", "table_table"]

TABLE_SCHEMA = pa.schema(
    [
        ("table", pa.string()),
        ("columns", pa.list_(pa.struct([("name", pa.string()), ("type", pa.string())]))),
        ("key", pa.list_(pa.string())),
        ("time", pa.string()),  # NULL: rows take effect when they come
        ("rows", pa.int64()),
        ("waiting", pa.int64()),  # versions that hold from later on
        ("bytes", pa.int64()),
    ]
)


def table_table(stores: Iterable[TableStore]) -> pa.Table:
    """One row for each table."""
    return pa.Table.from_pylist([_values(store) for store in stores], schema=TABLE_SCHEMA)


def _values(store: TableStore) -> dict[str, object]:
    schema = store.schema
    return {
        "table": schema.name,
        "columns": [{"name": each.name, "type": str(each.type)} for each in schema.columns],
        "key": list(schema.key),
        "time": schema.time or None,
        "rows": store.row_count,
        "waiting": store.waiting.size,
        "bytes": store.nbytes,
    }
