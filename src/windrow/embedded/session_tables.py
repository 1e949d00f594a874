"""What a session in this process does with tables: declared, changed and listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from threading import RLock
from typing import Any

import pyarrow as pa

from windrow.embedded.ingest import Ingest
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.embedded.stream_ingest import count_of
from windrow.errors import DataError, UnsupportedError
from windrow.plan.catalog import Catalog
from windrow.rows.changelogs import versions_of_changelog
from windrow.rows.given_rows import Rows
from windrow.rows.given_table_rows import GivenVersions, versions_of_keys, versions_of_rows
from windrow.runtime.table_table import table_table
from windrow.schema import columns_of
from windrow.table_schema import TableSchema, key_of

__all__ = ["SessionTables"]


class SessionTables:
    """The tables of an EmbeddedSession."""

    _catalog: Catalog
    _ingest: Ingest
    _is_stopped: bool
    _lock: RLock
    _flush: Callable[[], None]

    @one_at_a_time
    def table(
        self,
        name: str,
        schema: Mapping[str, str] | str | pa.Schema,
        *,
        key: str | Iterable[str],
        time: str | None = None,
        source: object = None,
    ) -> None:
        """Declare a table: its columns, and the key that tells its rows apart.

        It holds the newest row of each key. time: the column by which versions of a row are
        ordered; without it a row takes effect when it comes. source: refused, as for streams.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.table("rooms", "id string, name string", key=["id"])
        >>> session.upsert("rooms", [{"id": "a", "name": "lab"}, {"id": "b", "name": "hall"}])
        >>> session.delete("rooms", ["b"])
        >>> session.ask("SELECT name FROM rooms").to_pylist()
        [{'name': 'lab'}]
        """
        if source is not None:
            raise UnsupportedError(
                "WU304",
                f"in this process table {name!r} cannot read from a source",
                hint="upsert() rows, or run a script that names its files",
            )
        columns = columns_of(schema)
        declared = TableSchema(name, columns, time or "", key=key_of(columns, key))
        self._declare_table(declared)

    def _declare_table(self, declared: TableSchema) -> None:
        self._catalog = self._catalog.with_table(declared)
        self._ingest.tables.declare(declared)

    def upsert(self, table: str, rows: Rows) -> None:
        """Insert or update rows of a table, in any form that push() takes: all, or none of them.

        Of rows with equal keys the last counts.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.table("rooms", "id string, name string", key="id")
        >>> session.upsert("rooms", {"id": "a", "name": "lab"})
        >>> session.upsert("rooms", {"id": "a", "name": "hall"})
        >>> session.tables().select(["table", "rows"]).to_pylist()
        [{'table': 'rooms', 'rows': 1}]
        """
        self._change(table, partial(_rows, rows=rows), count_of(rows))

    def delete(self, table: str, keys: Any) -> None:
        """Delete rows of a table by their keys; a key that has no row does no harm.

        keys: a value, or a tuple for a key of several columns; a list of these, or of dicts; or
        what has the columns of the key.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.table("seats", "row int, seat int, taken boolean", key=["row", "seat"])
        >>> session.upsert("seats", {"row": 1, "seat": 2, "taken": True})
        >>> session.delete("seats", [(1, 2), {"row": 1, "seat": 3}])
        >>> session.tables()["rows"].to_pylist()
        [0]
        """
        self._change(table, partial(_keys, keys=keys), count_of(keys))

    def changelog(
        self,
        table: str,
        changes: Any,
        format: str = "changelog",  # noqa: A002 - what other systems call it
        op: str = "op",
    ) -> None:
        """Apply a changelog to a table: rows with what has become of them.

        format: 'changelog', rows with a column `op` that says +I, -U, +U or -D, or c, r, u or d;
        'debezium-json', envelopes {before, after, op, ts_ms}; 'upsert-json', rows, or {key, value},
        where no value deletes. Envelopes and rows are dicts or JSON.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.table("rooms", "id int, name string", key="id")
        >>> made = {"before": None, "after": {"id": 1, "name": "lab"}, "op": "c"}
        >>> session.changelog("rooms", [made], format="debezium-json")
        >>> session.changelog("rooms", [{"op": "-D", "id": 1}])
        >>> session.tables()["rows"].to_pylist()
        [0]
        """
        given_for = partial(versions_of_changelog, changes=changes, kind=format, op=op)
        self._change(table, given_for, count_of(changes))

    @one_at_a_time
    def tables(self) -> pa.Table:
        """One row per table: its columns, key and time, how many rows it has, and their bytes.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.table("rooms", "id string, name string", key="id")
        >>> session.tables().select(["table", "key", "rows"]).to_pylist()
        [{'table': 'rooms', 'key': ['id'], 'rows': 0}]
        """
        self._flush()
        return table_table(self._ingest.tables.stores.values())

    @one_at_a_time
    def _change(
        self, table: str, given_for: Callable[[TableSchema], GivenVersions], rows: int
    ) -> None:
        if self._is_stopped:
            raise DataError(
                "WD121",
                f"the session is stopped and accepts no more rows of {table!r}",
                hint="upsert() before stop(), or connect() a new session",
            )
        self._ingest.change_table(table, given_for, rows)


def _rows(schema: TableSchema, *, rows: Any) -> GivenVersions:
    return versions_of_rows(schema, rows)


def _keys(schema: TableSchema, *, keys: Any) -> GivenVersions:
    return versions_of_keys(schema, keys)
