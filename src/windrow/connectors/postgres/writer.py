"""Writes to a table of PostgreSQL: one transaction a batch, in which its number is recorded too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import psycopg
import pyarrow as pa
from psycopg import sql

from windrow.connectors.batch_record import BatchRecord
from windrow.connectors.contract import SinkCheckpoint, Writer
from windrow.connectors.net_changes import NetChanges
from windrow.connectors.postgres.address import address_of, said_without_password
from windrow.connectors.postgres.connector import Postgres
from windrow.connectors.postgres.rows import add_rows, put_rows, remove_rows
from windrow.connectors.postgres.table import Cursor, TargetTable, prepare_table
from windrow.connectors.process_run import RunPlan, feed_columns
from windrow.errors import DataError
from windrow.plan.model import QueryPlan

__all__ = ["PostgresWriter"]

Done = TypeVar("Done")

# A batch whose commit was cut off may have arrived or not; its number tells, so a second attempt
# is safe, and saves a restart when a server goes and comes back.
ATTEMPTS = 2
LOCK_TIMEOUT = "60s"
# One number for all sessions of Windrow: two of them must not make the same table at once.
CREATION_LOCK = 0x77696E64726F7721


class PostgresWriter(Writer):
    """The table of one query; each transaction has a connection of its own."""

    def __init__(self, sink: Postgres, plan: RunPlan, checkpoint: SinkCheckpoint) -> None:
        self._address = address_of(sink.url)
        self._feed = sink.feed
        is_keyed = sink.feed == "upserts"
        self._net = NetChanges(cast("QueryPlan", plan), sink.key) if is_keyed else None
        self.feeds: tuple[str, ...] = (sink.feed,) if self._net is None else self._net.feeds
        key = None if self._net is None else self._net.key
        schema = feed_columns(plan, sink.feed)

        def prepared(cursor: Cursor) -> tuple[TargetTable, BatchRecord]:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (CREATION_LOCK,))
            table = prepare_table(cursor, sink.names, schema, key)
            owner = (checkpoint.query, checkpoint.identity(), sink.feed)
            record = BatchRecord(table.names, *owner)
            record.claim(_Statements(cursor), is_begun=checkpoint.is_begun())
            return table, record

        self._table, self._record = self._in_transaction(prepared, "its table was looked up")

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes the batch, unless it has arrived or has nothing to write."""
        incoming, leaving = self._rows(tables)
        if not incoming.num_rows and not leaving.num_rows:
            return

        def written(cursor: Cursor) -> None:
            statements = _Statements(cursor)
            if self._record.is_written(statements, batch_id):
                return
            if self._net is None:
                add_rows(cursor, self._table, incoming)
            else:
                remove_rows(cursor, self._table, leaving)
                put_rows(cursor, self._table, incoming)
            self._record.move_on(statements, batch_id)

        self._in_transaction(written, f"batch {batch_id} was written")

    def _rows(self, tables: Mapping[str, pa.Table]) -> tuple[pa.Table, pa.Table]:
        """Rows to be put in place, and rows to be removed."""
        if self._net is not None:
            return self._net.of(tables)
        rows = tables[self._feed]
        return rows, rows.slice(0, 0)

    def _in_transaction(self, work: Callable[[Cursor], Done], doing: str) -> Done:
        attempt = 1
        while True:
            try:
                return self._attempted(work)
            except psycopg.Error as problem:
                if attempt == ATTEMPTS or not isinstance(problem, psycopg.OperationalError):
                    raise self._failed(problem, doing) from None
                attempt += 1

    def _attempted(self, work: Callable[[Cursor], Done]) -> Done:
        with psycopg.connect(**self._address) as connection, connection.cursor() as cursor:
            # Whoever waits for the row of a query must see it as the one before left it.
            cursor.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", (LOCK_TIMEOUT,))
            # Otherwise a crash of the server could lose a batch that Spark holds for done.
            cursor.execute(
                "SELECT set_config('synchronous_commit', 'on', true) "
                "WHERE current_setting('synchronous_commit') = 'off'"
            )
            return work(cursor)

    def _failed(self, problem: psycopg.Error, doing: str) -> DataError:
        said = said_without_password(problem, self._address)
        return DataError(
            "WD413",
            f"PostgreSQL failed while {doing}: {type(problem).__name__}: {said}",
            hint="the transaction was rolled back; a restart replays the batch",
        )


class _Statements:
    """Those of a record, in a transaction of psycopg."""

    for_update = " FOR UPDATE"

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def one(
        self, statement: str, name: tuple[str, ...], values: Sequence[object] = ()
    ) -> tuple[object, ...] | None:
        """The first row of it."""
        text = sql.SQL(statement.replace("?", "%s"))
        self._cursor.execute(text.format(sql.Identifier(*name)), values)
        return None if self._cursor.description is None else self._cursor.fetchone()
