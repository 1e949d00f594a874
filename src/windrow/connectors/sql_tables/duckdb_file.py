"""A file of DuckDB, which takes columns as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import ClassVar

import duckdb
import pyarrow as pa

from windrow.connectors.sql_tables.database import Names, quoted, unfit

__all__ = ["DuckdbFile"]

_ROWS = "windrow_rows"  # what a statement reads
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
# Types of a column that holds every value of ours as it is.
_WIDER = {
    **{kind: _INTEGERS[place + 1 :] for place, kind in enumerate(_INTEGERS[:-1])},
    "FLOAT": ("DOUBLE",),
}


class DuckdbFile:
    """One connection to a file, which is made where it is not there."""

    system: ClassVar[str] = "DuckDB"
    problems: ClassVar[type[Exception]] = duckdb.Error
    for_update = ""  # a process has the whole file

    def __init__(self, path: str) -> None:
        self._connection = duckdb.connect(path)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is done within happens, or nothing."""
        try:
            self._connection.begin()
            yield
            self._connection.commit()
        except BaseException:
            with suppress(duckdb.Error):  # a failed COMMIT has ended it
                self._connection.rollback()
            raise

    def one(
        self, statement: str, name: Names, values: Sequence[object] = ()
    ) -> tuple[object, ...] | None:
        """The first row of a statement."""
        found = self._connection.execute(statement.format(quoted(name)), list(values))
        # A connection whose result is not fetched to its end takes no other statement.
        rows: list[tuple[object, ...]] = found.fetchall()
        return rows[0] if rows else None

    def prepare(self, table: Names, schema: pa.Schema, key: Sequence[str] | None) -> Names:
        """Makes the table, or looks whether its columns hold what comes."""
        del key  # rows are found without an index
        ((schema_name,),) = self._connection.execute("SELECT current_schema()").fetchall()
        identity = tuple(name.lower() for name in (schema_name, *table)[-2:])
        with self._reading(schema.empty_table()):
            described = self._connection.execute(f"DESCRIBE FROM {_ROWS}").fetchall()
            found = self._columns(identity)
            if not found:
                self.one(f"CREATE TABLE {{}} AS FROM {_ROWS}", table)
                return identity
        for name, kind, *_ in described:
            declared = found.get(name.lower())
            if declared is None:
                problem, remedy = f"it has no column {name!r}", f"add one of type {kind}"
                raise unfit(self.system, table, problem, remedy)
            if declared != kind and declared not in _WIDER.get(kind, ()):
                problem = f"its column {name!r} is {declared}, which cannot hold all of {kind}"
                raise unfit(self.system, table, problem, f"make it {kind}")
        return identity

    def add(self, table: Names, rows: pa.Table) -> None:
        """Adds rows."""
        with self._reading(rows):
            self.one(f"INSERT INTO {{}} BY NAME FROM {_ROWS}", table)

    def remove(self, table: Names, keys: pa.Table) -> None:
        """Removes the rows with these keys, of which NULL equals NULL."""
        if not keys.num_columns:
            self.one("DELETE FROM {}", table)
            return
        names = [quoted([name]) for name in keys.schema.names]
        same = " AND ".join(f"t.{name} IS NOT DISTINCT FROM s.{name}" for name in names)
        with self._reading(keys):
            self._connection.execute(f"DELETE FROM {quoted(table)} t USING {_ROWS} s WHERE {same}")

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    @contextmanager
    def _reading(self, rows: pa.Table) -> Iterator[None]:
        # A connection that has failed is closed, and takes no call before.
        self._connection.register(_ROWS, rows)
        yield
        self._connection.unregister(_ROWS)

    def _columns(self, identity: Names) -> dict[str, str]:
        """The columns of a table and their types; none where it is not there."""
        found = self._connection.execute(
            "SELECT lower(column_name), data_type FROM duckdb_columns() WHERE database_name = "
            "current_database() AND lower(schema_name) = ? AND lower(table_name) = ?",
            list(identity),
        )
        return {str(name): str(kind) for name, kind in found.fetchall()}
