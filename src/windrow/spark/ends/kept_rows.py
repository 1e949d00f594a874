"""Rows that were set aside, kept on the driver up to a limit; the newest stay."""

from __future__ import annotations

from collections import deque

import pyarrow as pa

__all__ = ["KEPT_ROWS_LIMIT", "KeptRows"]

KEPT_ROWS_LIMIT = 10_000


class KeptRows:
    """Rows of one stream, of the columns that the query reads."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._tables: deque[pa.Table] = deque()
        self._count = 0

    def add(self, rows: pa.Table) -> None:
        """Keeps these rows and lets the oldest go beyond the limit."""
        self._tables.append(rows.select(self._schema.names))
        self._count += rows.num_rows
        while self._count > KEPT_ROWS_LIMIT:
            first = self._tables.popleft()
            surplus = min(first.num_rows, self._count - KEPT_ROWS_LIMIT)
            self._count -= surplus
            if surplus < first.num_rows:
                self._tables.appendleft(first.slice(surplus))

    def table(self) -> pa.Table:
        """All that is kept."""
        return pa.concat_tables([self._schema.empty_table(), *self._tables])
