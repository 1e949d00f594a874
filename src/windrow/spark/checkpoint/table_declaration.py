"""The tables that a query reads, as JSON that reaches workers, and a part of its fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from windrow.schema import Column, type_named
from windrow.table_schema import TableSchema

__all__ = ["tables_of_text", "tables_text", "with_tables"]


def tables_text(tables: Iterable[TableSchema]) -> str:
    """The tables as text, equal for equal ones."""
    return json.dumps(
        [
            {
                "name": table.name,
                "columns": [[column.name, str(column.type)] for column in table.columns],
                "time": table.time,
                "key": list(table.key),
            }
            for table in tables
        ]
    )


def tables_of_text(text: str) -> tuple[TableSchema, ...]:
    """The tables that tables_text() made the text of.

    >>> from windrow.schema import columns_of
    >>> rooms = TableSchema("rooms", columns_of("id int, at timestamp"), "at", key=("id",))
    >>> tables_of_text(tables_text([rooms])) == (rooms,)
    True
    """
    return tuple(
        TableSchema(
            each["name"],
            tuple(Column(name, type_named(kind)) for name, kind in each["columns"]),
            each["time"],
            key=tuple(each["key"]),
        )
        for each in json.loads(text)
    )


def with_tables(fingerprint: str, tables: Sequence[TableSchema]) -> str:
    """The fingerprint of a plan with the tables that it reads: their keys and times count, too."""
    if not tables:
        return fingerprint
    return hashlib.sha256(f"{fingerprint} {tables_text(tables)}".encode()).hexdigest()
