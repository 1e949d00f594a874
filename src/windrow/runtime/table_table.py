"""session.tables(): the tables of a session as they were declared, and what they hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from windrow.runtime.tables.table_store import TableStore
    from windrow.table_schema import TableSchema

__all__ = ["TABLE_SCHEMA", "TableRow", "table_table"]

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


@dataclass(frozen=True)
class TableRow:
    """A table, and what it holds; waiting: versions that hold from later on."""

    schema: TableSchema
    rows: int
    waiting: int
    bytes: int

    def values(self) -> dict[str, object]:
        """By the columns of TABLE_SCHEMA."""
        schema = self.schema
        return {
            "table": schema.name,
            "columns": [{"name": each.name, "type": str(each.type)} for each in schema.columns],
            "key": list(schema.key),
            "time": schema.time or None,
            "rows": self.rows,
            "waiting": self.waiting,
            "bytes": self.bytes,
        }


def table_table(stores: Iterable[TableStore]) -> pa.Table:
    """One row for each table."""
    rows = [
        TableRow(store.schema, store.row_count, store.waiting.size, store.nbytes).values()
        for store in stores
    ]
    return pa.Table.from_pylist(rows, schema=TABLE_SCHEMA)
