"""Reads a slot of PostgreSQL: whole transactions, in the order in which they have committed.

Changes are looked at, and the slot moves on once their rows are in the state of the session: a
process that ends before is given them again, and leaves out what its position has.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg

from windrow.connectors.live import LiveReader, Polled, Position, TransientError
from windrow.connectors.postgres.address import address_of, said_without_password
from windrow.connectors.postgres.change_lines import inserted, with_minutes
from windrow.connectors.postgres.polling import is_lasting
from windrow.connectors.values.columns import rows_of_columns
from windrow.errors import DataError
from windrow.schema import TIMESTAMP

if TYPE_CHECKING:
    from windrow.connectors.postgres.changes import PostgresChanges
    from windrow.schema import StreamSchema

__all__ = ["SlotReader"]

Done = TypeVar("Done")

LOOK_EVERY_S = 0.5
_SETTINGS = {"DateStyle": "ISO", "TimeZone": "UTC", "extra_float_digits": "1"}
_LOOK = """SELECT lsn - '0/0'::pg_lsn, data FROM pg_logical_slot_peek_changes(%s, NULL, %s,
    'include-xids', '0', 'skip-empty-xacts', '1')"""
_MOVE = "SELECT pg_replication_slot_advance(%s, '0/0'::pg_lsn + %s::numeric)"


class SlotReader(LiveReader):
    """The position is the place in PostgreSQL's log of the last transaction that was read."""

    def __init__(
        self, source: PostgresChanges, schema: StreamSchema, position: Position | None
    ) -> None:
        self._source, self._schema = source, schema
        self._address = address_of(source.url, source.place)
        self._last = 0 if position is None else int(position["commit"])
        self._look_at_s, self._confirmed = 0.0, 0
        self._connection = self._tried(lambda: psycopg.connect(**self._address, autocommit=True))
        try:
            self._table = self._tried(lambda: self._prepared(is_new=position is None))
        except BaseException:
            self._connection.close()
            raise

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """Rows of the next transactions."""
        wait_s = self._look_at_s - time.monotonic()
        if wait_s > 0:
            time.sleep(min(wait_s, timeout_s))
            if wait_s > timeout_s:
                return None
        rows, last = self._looked(most_rows)
        if last == self._last:
            self._look_at_s = time.monotonic() + LOOK_EVERY_S
            return None
        columns = {}
        for column in self._schema.columns:
            values = [row.get(column.name) for row in rows]
            is_time = column.type == TIMESTAMP
            columns[column.name] = [*map(with_minutes, values)] if is_time else values
        where, numbers = [self._source.shown] * len(rows), range(1, len(rows) + 1)
        read = rows_of_columns(self._schema, columns, where, numbers, self._source.place)
        self._last = last
        return Polled(read, {"commit": last})

    def confirmed(self, position: Position) -> None:
        """PostgreSQL need not keep what was read any longer."""
        commit = int(position["commit"])
        if commit > self._confirmed:
            self._tried(lambda: self._asked(_MOVE, self._source.slot, commit))
            self._confirmed = commit

    def close(self) -> None:
        """Closes the connection; the slot stays."""
        self._connection.close()

    def _looked(self, most: int) -> tuple[list[dict[str, Any]], int]:
        """The rows of the next transactions, behind those that were read and not confirmed yet."""
        while True:
            looked = self._tried(partial(self._asked, _LOOK, self._source.slot, most))
            rows, last = self._fresh(looked)
            if last > self._last or len(looked) < most:
                return rows, last
            most *= 2

    def _fresh(self, looked: list[Any]) -> tuple[list[dict[str, Any]], int]:
        """The rows of whole transactions that were not read, and where the last one ends."""
        found: list[dict[str, Any]] = []
        begun: list[dict[str, Any]] = []
        last = self._last
        for place, line in looked:
            if line == "BEGIN":
                begun = []
            elif line == "COMMIT":
                if place > last:
                    found += begun
                    last = int(place)
            elif (row := inserted(line, self._table)) is not None:
                begun.append(row)
        return found, last

    def _prepared(self, *, is_new: bool) -> tuple[str, str]:
        for name, value in _SETTINGS.items():
            self._asked("SELECT set_config(%s, %s, false)", name, value)
        table = self._table_named()
        slots = self._asked(
            "SELECT plugin, confirmed_flush_lsn - '0/0'::pg_lsn FROM pg_replication_slots "
            "WHERE slot_name = %s",
            self._source.slot,
        )
        is_ours = [plugin for plugin, _ in slots] == ["test_decoding"]
        # It moves on behind the position only, unless somebody else reads it, or made it anew.
        if is_ours and (is_new or slots[0][1] <= self._last):
            return table
        if slots or not is_new:
            raise DataError(
                "WD881",
                f"slot {self._source.slot!r} of PostgreSQL is gone, of another kind, or beyond "
                "what was read here: rows may have come that were not read",
                hint="begin with a new state; where the slot is another program's, name one of "
                "your own by slot=",
                place=self._source.place,
            )
        slot = self._source.slot
        self._asked("SELECT pg_create_logical_replication_slot(%s, 'test_decoding')", slot)
        return table

    def _table_named(self) -> tuple[str, str]:
        """The schema and the name of the table; whatever is wrong with it is said here."""
        schema, _, name = self._source.table.rpartition(".")
        found = self._asked(
            "SELECT n.nspname, c.relname, c.relkind = 'r' AND c.relpersistence = 'p' "
            "FROM pg_class c JOIN pg_namespace n "
            "ON n.oid = c.relnamespace WHERE c.oid = to_regclass(%s)",
            ".".join(f'"{part}"' for part in (schema, name) if part),
        )
        columns = self._asked(
            "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0",
            ".".join(f'"{part}"' for part in (schema, name) if part),
        )
        lacking = {each.name for each in self._schema.columns} - {each for (each,) in columns}
        if not found or lacking:
            why = f"has no column {min(lacking)!r}" if found else "is not there"
            raise DataError(
                "WD876",
                f"table {self._source.table!r} of PostgreSQL {why}",
                hint="give a table with the stream's columns, which this user may read",
                place=self._source.place,
            )
        ((place, named, is_logged),) = found
        if not is_logged:
            raise DataError(
                "WD876",
                f"rows of {self._source.table!r} are not in PostgreSQL's log under its name",
                hint="give a table that is no view and neither partitioned nor unlogged; of a "
                "partitioned one name each partition, or read it with postgres(...)",
                place=self._source.place,
            )
        return str(place), str(named)

    def _asked(self, statement: str, *given: Any) -> list[Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, given)
            return cursor.fetchall()

    def _tried(self, work: Callable[[], Done]) -> Done:
        try:
            return work()
        except psycopg.Error as problem:
            said = said_without_password(problem, self._address)
            told = f"PostgreSQL failed while {self._source.shown} was read: {said}"
            if isinstance(problem, psycopg.OperationalError) and not is_lasting(problem):
                raise TransientError(told) from None
            raise DataError(
                "WD876",
                told,
                hint="set wal_level = 'logical' for the server, and let this user have "
                "the attribute REPLICATION",
                place=self._source.place,
            ) from None
