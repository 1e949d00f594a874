"""A file of SQLite: five kinds of values, to which those of columns are brought without loss."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import pyarrow as pa

from windrow.connectors.sql_tables.database import Names, quoted, unfit
from windrow.rows.json_texts import json_texts

__all__ = ["SqliteFile"]

# For so long another connection may have the file.
BUSY_S = 60.0
ROWS_AT_ONCE = 10_000

# A column of such an affinity leaves values of that type as they are.
_UNCHANGED = {
    "INTEGER": ("INTEGER", "NUMERIC", "BLOB"),
    "REAL": ("REAL", "NUMERIC", "BLOB"),
    "TEXT": ("TEXT", "BLOB"),
    "BLOB": ("INTEGER", "REAL", "NUMERIC", "TEXT", "BLOB"),
}


class SqliteFile:
    """One connection to a file, which is made where it is not there."""

    system: ClassVar[str] = "SQLite"
    problems: ClassVar[type[Exception]] = sqlite3.Error
    for_update = ""  # a transaction that writes has the whole file

    def __init__(self, path: str) -> None:
        # A session may be used by several threads, one after the other.
        self._connection = sqlite3.connect(
            path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is done within happens, or nothing."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def one(
        self, statement: str, name: Names, values: Sequence[object] = ()
    ) -> tuple[object, ...] | None:
        """The first row of a statement."""
        found = self._connection.execute(statement.format(quoted(name)), tuple(values))
        # A statement that is not read to its end keeps the file locked.
        rows: list[tuple[object, ...]] = found.fetchall()
        return rows[0] if rows else None

    def prepare(self, table: Names, schema: pa.Schema, key: Sequence[str] | None) -> Names:
        """Makes the table, or looks whether its columns leave values as they are."""
        wanted = {field.name: _sqlite_type(field.type) for field in schema}
        identity = (table[-1].lower(),)
        statement = "SELECT name, type FROM pragma_table_info(?)"
        found = dict(self._connection.execute(statement, (table[-1],)).fetchall())
        if not found:
            parts = [f"{quoted([name])} {kind}" for name, kind in wanted.items()]
            if key:
                parts.append(f"UNIQUE ({', '.join(quoted([name]) for name in key)})")
            self.one(f"CREATE TABLE {{}} ({', '.join(parts).replace('{', '{{')})", table)
            return identity
        columns = {name.lower(): kind for name, kind in found.items()}
        for name, kind in wanted.items():
            declared = columns.get(name.lower())
            if declared is None:
                problem, remedy = f"it has no column {name!r}", f"add one of type {kind}"
                raise unfit(self.system, table, problem, remedy)
            if _affinity(declared) not in _UNCHANGED[kind]:
                problem = f"its column {name!r} is {declared}, which would change values of {kind}"
                raise unfit(self.system, table, problem, f"make it {kind}")
        return identity

    def add(self, table: Names, rows: pa.Table) -> None:
        """Adds rows."""
        names = ", ".join(quoted([name]) for name in rows.schema.names)
        marks = ", ".join("?" for _ in rows.schema.names)
        statement = f"INSERT INTO {quoted(table)} ({names}) VALUES ({marks})"
        self._connection.executemany(statement, _values(rows))

    def remove(self, table: Names, keys: pa.Table) -> None:
        """Removes the rows with these keys, of which NULL equals NULL."""
        if not keys.num_columns:
            self.one("DELETE FROM {}", table)
            return
        same = " AND ".join(f"{quoted([name])} IS ?" for name in keys.schema.names)
        statement = f"DELETE FROM {quoted(table)} WHERE {same}"
        self._connection.executemany(statement, _values(keys))

    def close(self) -> None:
        """Closes the connection."""
        self._roll_back()
        self._connection.close()

    def _roll_back(self) -> None:
        # Closing alone keeps the file locked for as long as any cursor is known to anybody.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def _sqlite_type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_duration(kind):
        return "INTEGER"
    if pa.types.is_floating(kind):
        return "REAL"
    return "BLOB" if pa.types.is_binary(kind) else "TEXT"


def _affinity(declared: str) -> str:
    """Of a column of this type, by the rules of SQLite."""
    text = declared.upper()
    if "INT" in text:
        return "INTEGER"
    if any(word in text for word in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if not text or "BLOB" in text:
        return "BLOB"
    return "REAL" if any(word in text for word in ("REAL", "FLOA", "DOUB")) else "NUMERIC"


def _values(rows: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Each row as SQLite takes it."""
    for batch in rows.to_batches(ROWS_AT_ONCE):
        yield from zip(*map(_column, batch.columns), strict=True)


def _column(column: pa.Array) -> Iterable[Any]:
    kind = column.type
    if pa.types.is_nested(kind):
        return json_texts(column)
    if pa.types.is_decimal(kind):
        return [None if value is None else format(value, "f") for value in column.to_pylist()]
    if pa.types.is_timestamp(kind):
        return list(column.cast(pa.timestamp("us")).cast(pa.string()).to_pylist())
    if pa.types.is_date(kind):
        return list(column.cast(pa.string()).to_pylist())
    if pa.types.is_duration(kind):
        return list(column.cast(pa.duration("us")).cast(pa.int64()).to_pylist())
    values = list(column.to_pylist())
    if pa.types.is_floating(kind):
        # SQLite takes NaN for NULL, which is another value.
        return ["NaN" if value is not None and math.isnan(value) else value for value in values]
    return values
