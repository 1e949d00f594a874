"""Rows that were set aside, kept on the driver up to a limit; the newest stay."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["KEPT_ROWS_LIMIT", "KeptRows"]

KEPT_ROWS_LIMIT = 10_000


class KeptRows:
    """Rows of one stream, of the columns that the query reads; never changed, only followed."""

    def __init__(self, schema: pa.Schema, tables: tuple[pa.Table, ...] = ()) -> None:
        self._schema = schema
        self._tables = tables

    def with_rows(self, rows: pa.Table) -> KeptRows:
        """These and the given rows, without the oldest beyond the limit."""
        tables = [*self._tables, rows.select(self._schema.names)]
        surplus = sum(table.num_rows for table in tables) - KEPT_ROWS_LIMIT
        while surplus > 0:
            first = tables.pop(0)
            if surplus < first.num_rows:
                tables.insert(0, first.slice(surplus))
            surplus -= first.num_rows
        return KeptRows(self._schema, tuple(tables))

    def table(self) -> pa.Table:
        """All that is kept."""
        return pa.concat_tables([self._schema.empty_table(), *self._tables])
