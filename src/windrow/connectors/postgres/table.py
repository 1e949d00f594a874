"""The table that a query writes to in PostgreSQL: made when it is not there, else checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
import pyarrow as pa
from psycopg import sql

from windrow.errors import BindingError

__all__ = ["Cursor", "Identity", "TargetTable", "listed", "prepare_table", "typed_columns"]

Cursor = psycopg.Cursor[tuple[object, ...]]
Identity = tuple[str, str]  # the schema and the name of a table, as the server knows it

_TYPES = {
    pa.bool_(): "boolean",
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.binary(): "bytea",
    pa.date32(): "date",
    pa.duration("us"): "interval",
}
_INTEGERS = ("smallint", "integer", "bigint")
# Types of a column that holds every value of ours as it is.
_WIDER = {
    "smallint": (*_INTEGERS[1:], "numeric"),
    "integer": (*_INTEGERS[2:], "numeric"),
    "bigint": ("numeric",),
    "real": ("double precision",),
    "text": ("character varying",),
}


@dataclass(frozen=True)
class TargetTable:
    """A table as statements name it, and its columns that are written."""

    names: Identity
    columns: tuple[str, ...]
    types: tuple[str, ...]
    key: tuple[str, ...] | None  # None: rows are added; (): there is at most one row

    @property
    def identifier(self) -> sql.Identifier:
        """The table, quoted."""
        return sql.Identifier(*self.names)


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return f"timestamp {'with' if kind.tz else 'without'} time zone"
    if pa.types.is_list(kind) and not pa.types.is_nested(kind.value_type):
        return f"{_sql_type(kind.value_type)}[]"
    return "jsonb" if pa.types.is_nested(kind) else _TYPES[kind]


def prepare_table(
    cursor: Cursor, names: tuple[str, ...], schema: pa.Schema, key: tuple[str, ...] | None
) -> TargetTable:
    """The table, made if it is not there; refused when rows would not arrive in it as they are."""
    types = tuple(_sql_type(kind) for kind in schema.types)
    identity = _found(cursor, names)
    if identity is None:
        cursor.execute(_creation(sql.Identifier(*names), schema.names, types, key))
        identity = _found(cursor, names)
        assert identity is not None
    table = TargetTable(identity, tuple(schema.names), types, key)
    _check_columns(cursor, table)
    if key:
        _check_key(cursor, table)
    return table


def _found(cursor: Cursor, names: tuple[str, ...]) -> Identity | None:
    quoted = sql.Identifier(*names).as_string(cursor)
    cursor.execute(
        "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.oid = to_regclass(%s)",
        (quoted,),
    )
    row = cursor.fetchone()
    return None if row is None else (str(row[0]), str(row[1]))


def _creation(
    table: sql.Identifier, columns: Sequence[str], types: Sequence[str], key: Sequence[str] | None
) -> sql.Composed:
    parts = typed_columns(columns, types)
    if key:
        # UNIQUE and not PRIMARY KEY, in which NULL, which a group may be of, cannot stand.
        parts.append(sql.SQL("UNIQUE ({})").format(listed(key)))
    return sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(parts))


def typed_columns(columns: Sequence[str], types: Sequence[str]) -> list[sql.Composable]:
    """Columns as CREATE TABLE takes them."""
    # The types are words of this module's own, never a user's text.
    words = [sql.SQL(kind) for kind in types]
    return [
        sql.SQL("{} {}").format(sql.Identifier(name), word)
        for name, word in zip(columns, words, strict=True)
    ]


def _check_columns(cursor: Cursor, table: TargetTable) -> None:
    cursor.execute(
        "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
        "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
        (table.identifier.as_string(cursor),),
    )
    found = {str(name): str(kind) for name, kind in cursor.fetchall()}
    for name, kind in zip(table.columns, table.types, strict=True):
        if name not in found:
            raise _unfit(table, f"it has no column {name!r}", f"add one of type {kind}")
        plain = re.sub(r"^numeric\(\d+,\d+\)", "numeric", kind)
        if found[name] not in (kind, plain, *_WIDER.get(kind, ())):
            problem = f"its column {name!r} is {found[name]}, which cannot hold all of {kind}"
            raise _unfit(table, problem, f"make it {kind}")


def _check_key(cursor: Cursor, table: TargetTable) -> None:
    """Has the server plan the statement that finds rows by their key, and insert nothing."""
    probe = sql.SQL("INSERT INTO {0} ({1}) SELECT {1} FROM {0} WHERE false ON CONFLICT ({2}) {3}")
    assert table.key is not None
    statement = probe.format(
        table.identifier, listed(table.columns), listed(table.key), sql.SQL("DO NOTHING")
    )
    try:
        cursor.execute(statement)
    except psycopg.errors.InvalidColumnReference:
        wanted = ", ".join(table.key)
        problem = f"it has no UNIQUE constraint on ({wanted})"
        raise _unfit(table, problem, f"add UNIQUE ({wanted})") from None


def _unfit(table: TargetTable, problem: str, remedy: str) -> BindingError:
    shown = ".".join(table.names)
    hint = f"{remedy}, or give another name to let the query create its own table"
    return BindingError(
        "WB447", f"the PostgreSQL table {shown} cannot be used: {problem}", hint=hint
    )


def listed(names: Sequence[str]) -> sql.Composed:
    """Names, quoted, with commas between."""
    return sql.SQL(", ").join(map(sql.Identifier, names))
