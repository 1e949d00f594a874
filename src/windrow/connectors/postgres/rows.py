"""Rows on their way into a table of PostgreSQL: copied in binary, then put in place or removed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
from psycopg import sql
from psycopg.types.json import Jsonb

from windrow.connectors.postgres.table import Cursor, TargetTable, listed, typed_columns
from windrow.rows.json_texts import json_texts

__all__ = ["add_rows", "put_rows", "remove_rows"]

ROWS_AT_ONCE = 10_000

_INCOMING = sql.Identifier("windrow_incoming")
_LEAVING = sql.Identifier("windrow_leaving")
_AND, _COMMA = sql.SQL(" AND "), sql.SQL(", ")


def add_rows(cursor: Cursor, table: TargetTable, rows: pa.Table) -> None:
    """Adds the rows to the table."""
    _stage(cursor, table, _INCOMING, rows)
    _insert(cursor, table, sql.SQL(""))


def put_rows(cursor: Cursor, table: TargetTable, rows: pa.Table) -> None:
    """Upserts rows by key, or appends them."""
    if rows.num_rows:
        _stage(cursor, table, _INCOMING, rows)
        _remove_unfindable(cursor, table, _INCOMING, rows)
        _insert(cursor, table, _on_conflict(table))


def remove_rows(cursor: Cursor, table: TargetTable, rows: pa.Table) -> None:
    """Removes the rows that have the keys of these."""
    if rows.num_rows:
        _stage(cursor, table, _LEAVING, rows)
        _remove_unfindable(cursor, table, _LEAVING, rows)
        if table.key:
            same = _AND.join(sql.SQL("t.{0} = s.{0}").format(each) for each in _quoted(table.key))
            _remove(cursor, table, _LEAVING, same)


def _remove_unfindable(
    cursor: Cursor, table: TargetTable, staged: sql.Identifier, rows: pa.Table
) -> None:
    """Removes what no key finds: the only row, and rows with NULL in their key.

    NULL equals nothing, and conflicts with nothing; such rows are few, and looked for one by one.
    """
    if not table.key:
        cursor.execute(sql.SQL("DELETE FROM {}").format(table.identifier))
    elif any(rows.column(name).null_count for name in table.key):
        key = _quoted(table.key)
        some_null = sql.SQL(" OR ").join(sql.SQL("s.{} IS NULL").format(each) for each in key)
        same = _AND.join(sql.SQL("t.{0} IS NOT DISTINCT FROM s.{0}").format(each) for each in key)
        _remove(cursor, table, staged, sql.SQL("({}) AND {}").format(some_null, same))


def _remove(
    cursor: Cursor, table: TargetTable, staged: sql.Identifier, condition: sql.Composable
) -> None:
    statement = sql.SQL("DELETE FROM {} t USING {} s WHERE {}")
    cursor.execute(statement.format(table.identifier, staged, condition))


def _insert(cursor: Cursor, table: TargetTable, on_conflict: sql.Composable) -> None:
    statement = sql.SQL("INSERT INTO {0} ({1}) SELECT {1} FROM {2} {3}")
    columns = listed(table.columns)
    cursor.execute(statement.format(table.identifier, columns, _INCOMING, on_conflict))


def _on_conflict(table: TargetTable) -> sql.Composable:
    if not table.key:
        return sql.SQL("")
    others = [name for name in table.columns if name not in table.key]
    key = listed(table.key)
    if not others:
        return sql.SQL("ON CONFLICT ({}) DO NOTHING").format(key)
    changed = _COMMA.join(sql.SQL("{0} = EXCLUDED.{0}").format(each) for each in _quoted(others))
    return sql.SQL("ON CONFLICT ({}) DO UPDATE SET {}").format(key, changed)


def _stage(cursor: Cursor, table: TargetTable, staged: sql.Identifier, rows: pa.Table) -> None:
    """Copies rows into a table that only this transaction sees."""
    columns = _COMMA.join(typed_columns(table.columns, table.types))
    cursor.execute(sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(staged, columns))
    _copy(cursor, table, staged, rows)


def _copy(cursor: Cursor, table: TargetTable, into: sql.Identifier, rows: pa.Table) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)")
    with cursor.copy(statement.format(into, listed(table.columns))) as copy:
        # Binary values must have the type of their column to the byte; digits are not part of it.
        copy.set_types([re.sub(r"\(.*\)", "", kind) for kind in table.types])
        for batch in rows.select(table.columns).to_batches(ROWS_AT_ONCE):
            pairs = zip(batch.columns, table.types, strict=True)
            for row in zip(*(_values(column, kind) for column, kind in pairs), strict=True):
                copy.write_row(row)


def _values(column: pa.Array, kind: str) -> list[object]:
    """The values of a column as the driver takes them; nested ones as JSON."""
    if kind != "jsonb":
        return list(column.to_pylist())
    texts = json_texts(column)
    return [None if text is None else Jsonb(text, dumps=str) for text in texts]


def _quoted(names: Sequence[str]) -> list[sql.Identifier]:
    return [sql.Identifier(name) for name in names]
