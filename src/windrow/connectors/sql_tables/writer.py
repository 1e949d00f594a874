"""Writes to a table of a file: one transaction a batch, in which its number is recorded too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import cast

import pyarrow as pa

from windrow.connectors.batch_record import BatchRecord
from windrow.connectors.contract import SinkCheckpoint, Writer
from windrow.connectors.net_changes import NetChanges
from windrow.connectors.process_run import RunPlan, feed_columns
from windrow.connectors.sql_tables.connector import SqlTable
from windrow.connectors.sql_tables.database import Database
from windrow.errors import DataError
from windrow.plan.model import QueryPlan

__all__ = ["TableWriter"]


class TableWriter(Writer):
    """The table of one query; a file that was closed is opened again by the next batch."""

    def __init__(self, sink: SqlTable, plan: RunPlan, checkpoint: SinkCheckpoint) -> None:
        self._sink, self._kind = sink, sink.database()
        is_keyed = sink.feed == "upserts"
        self._net = NetChanges(cast("QueryPlan", plan), sink.key) if is_keyed else None
        self.feeds: tuple[str, ...] = (sink.feed,) if self._net is None else self._net.feeds
        owner = (checkpoint.query, checkpoint.identity(), sink.feed)
        self._open: Database | None = None
        key = None if self._net is None else self._net.key
        with self._transaction("its table was looked up") as database:
            table = database.prepare(sink.names, feed_columns(plan, sink.feed), key)
            self._record = BatchRecord(table, *owner)
            self._record.claim(database, is_begun=checkpoint.is_begun())

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes the batch, unless it has arrived or has nothing to write."""
        incoming, leaving = self._rows(tables)
        if not incoming.num_rows and not leaving.num_rows:
            return
        with self._transaction(f"batch {batch_id} was written") as database:
            if self._record.is_written(database, batch_id):
                return
            if self._net is not None:
                key = list(self._net.key)
                gone = pa.concat_tables([incoming.select(key), leaving.select(key)])
                database.remove(self._sink.names, gone)
            database.add(self._sink.names, incoming)
            self._record.move_on(database, batch_id)

    def close(self) -> None:
        """Closes the file."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _rows(self, tables: Mapping[str, pa.Table]) -> tuple[pa.Table, pa.Table]:
        """Rows to be put in place, and rows to be removed."""
        if self._net is not None:
            return self._net.of(tables)
        rows = tables[self._sink.feed]
        return rows, rows.slice(0, 0)

    @contextmanager
    def _transaction(self, doing: str) -> Iterator[Database]:
        """One of the file; after a failure it is closed, which rolls back whatever is left."""
        try:
            if self._open is None:
                self._open = self._kind(self._sink.path)
            database = self._open
            with database.transaction():
                yield database
        except BaseException as problem:
            self._discard()
            if not isinstance(problem, (self._kind.problems, OSError)):
                raise
            raise self._failed(problem, doing) from problem

    def _discard(self) -> None:
        database, self._open = self._open, None
        if database is not None:
            with suppress(self._kind.problems):  # what has failed once is of no use
                database.close()

    def _failed(self, problem: BaseException, doing: str) -> DataError:
        said = str(problem).partition("\n")[0]
        return DataError(
            "WD830",
            f"{self._sink.system} failed while {doing}, {self._sink.path}, table "
            f"{self._sink.table}: {said}",
            hint="nothing of the batch is in the table; a restart with the same state writes it",
            place=self._sink.place,
        )
