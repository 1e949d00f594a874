"""Writing what a batch gives to its sink."""

from __future__ import annotations

import importlib
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import cast
from weakref import WeakValueDictionary

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.connectors.contract import SinkCheckpoint, Writer
from windrow.connectors.kafka.connector import KafkaSink
from windrow.errors import (
    AdmissionError,
    CheckpointError,
    DataError,
    UnsupportedError,
    WindrowError,
)
from windrow.output.change_limit import cut_between_instants
from windrow.output.upserts import check_unique, is_key_certain, net_upserts, upsert_key
from windrow.plan.model import QueryPlan
from windrow.sinks import Console, Delta, Foreach, Memory, Parquet, Postgres, Sink, Upserts
from windrow.storage import Storage

__all__ = [
    "MEMORY_ROWS_LIMIT",
    "MemoryWriter",
    "Writer",
    "writer_of",
]

MEMORY_ROWS_LIMIT = 10_000_000
CONSOLE_ROWS = 20

# Who writes to which folder, for as long as anybody knows the writer.
_WRITERS: WeakValueDictionary[str, ParquetWriter] = WeakValueDictionary()

_BATCH_FILE = re.compile(r"batch-\d{12}\.parquet")


def writer_of(sink: Sink, plan: QueryPlan, checkpoint: SinkCheckpoint) -> Writer:
    """The writer that serves a sink of a query.

    checkpoint: names the query, and tells it from another of that name that starts from nothing.
    """
    if isinstance(sink, Parquet):
        return ParquetWriter(sink)
    if isinstance(sink, KafkaSink):
        module = importlib.import_module("windrow.connectors.kafka.spark_sink")
        return cast("Writer", module.KafkaWriter(sink, plan, checkpoint))
    if isinstance(sink, Postgres):
        module = _client("PostgreSQL", "postgres")
        return cast("Writer", module.PostgresWriter(sink, plan, checkpoint))
    if isinstance(sink, Delta):
        return cast("Writer", _client("Delta tables", "delta").DeltaWriter(sink, checkpoint))
    if isinstance(sink, Console):
        return ConsoleWriter()
    if isinstance(sink, Memory):
        return MemoryWriter()
    if isinstance(sink, Upserts):
        return UpsertWriter(sink, plan)
    return CallableWriter(sink if isinstance(sink, Foreach) else Foreach(sink))


def _client(what: str, extra: str) -> ModuleType:
    """The module of a writer, which only those import who have the client."""
    try:
        return importlib.import_module(f"windrow.connectors.{extra}.writer")
    except ImportError as problem:
        if (problem.name or "").startswith("windrow"):
            raise
        raise UnsupportedError(
            "WU414",
            f"the client for {what} is not installed here: {problem}",
            hint=f'install it with pip install "windrow-sql[{extra}]"',
        ) from None


def _batch_file(batch_id: int) -> str:
    return f"batch-{batch_id:012d}.parquet" if batch_id >= 0 else ""


class ParquetWriter(Writer):
    """One file per batch id, put in place in one step: a replayed batch replaces its own file."""

    def __init__(self, sink: Parquet) -> None:
        self._storage = Storage(sink.path, is_private=False)  # answers are for others
        self._owner = ""
        self.feeds: tuple[str, ...] = (sink.feed,)

    def begin(self, last_batch: int, owner: str) -> None:
        """Refuses a folder with files of batches that the checkpoint has not come to.

        So is one that another query of this process writes to: both would name their files alike.
        owner: where the checkpoint of the query is.
        """
        other = _WRITERS.get(self._storage.uri)
        if other is not None and other._owner != owner:
            raise CheckpointError(
                "WC218",
                f"another query writes to {self._storage.location} already, files of the same "
                "names",
                hint="give each query a folder of its own, or stop the other one first",
            )
        self._owner, _WRITERS[self._storage.uri] = owner, self
        self._storage.sweep()
        newest = max(filter(_BATCH_FILE.fullmatch, self._storage.names()), default="")
        if newest > _batch_file(last_batch):
            raise CheckpointError(
                "WC217",
                f"{self._storage.location} holds {newest}, but the query's checkpoint has come to "
                f"{'no batch' if last_batch < 0 else f'batch {last_batch}'} yet: the file is of "
                "another run",
                hint="give the sink an empty folder, or the query the checkpoint of that run",
            )

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes the file of the batch; where there is nothing to write, there is no file."""
        table, name = tables[self.feeds[0]], _batch_file(batch_id)
        if table.num_rows:
            data = pa.BufferOutputStream()
            pq.write_table(table, data)
            self._storage.write(name, memoryview(data.getvalue()))
        else:
            self._storage.remove(name)

    def close(self) -> None:
        """The folder may be taken by another query."""
        if _WRITERS.get(self._storage.uri) is self:
            del _WRITERS[self._storage.uri]


class ConsoleWriter(Writer):
    """Prints the first rows of each batch that has answers."""

    feeds: tuple[str, ...] = ("answers",)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Prints the batch."""
        answers = tables["answers"]
        if answers.num_rows:
            shown = answers.slice(0, CONSOLE_ROWS).to_pandas().to_string(index=False)
            more = answers.num_rows - CONSOLE_ROWS
            rest = f"... and {more} more\n" if more > 0 else ""
            sys.stdout.write(f"batch {batch_id}\n{shown}\n{rest}")
            sys.stdout.flush()


class CallableWriter(Writer):
    """Calls the user's function with one feed and the batch id."""

    def __init__(self, sink: Foreach) -> None:
        self._function = sink.function
        self.feeds: tuple[str, ...] = (sink.feed,)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Calls the function."""
        with _named_failures(batch_id):
            self._function(tables[self.feeds[0]], batch_id)


class UpsertWriter(Writer):
    """Calls the user's function with the rows to put in place and those to remove."""

    def __init__(self, sink: Upserts, plan: QueryPlan) -> None:
        self._function = sink.function
        self._key = upsert_key(plan, sink.key)
        self._checks = not is_key_certain(plan, self._key)
        self.feeds: tuple[str, ...] = ("changes", "result") if self._checks else ("changes",)

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Calls the function if the batch has changed any row."""
        changes = tables["changes"]
        if self._checks and changes.num_rows:
            check_unique(tables["result"], self._key)
        upserts, deletes = net_upserts(changes, self._key)
        if upserts.num_rows or deletes.num_rows:
            with _named_failures(batch_id):
                self._function(upserts, deletes, batch_id)


@contextmanager
def _named_failures(batch_id: int) -> Iterator[None]:
    """What a user's function raises ends the query with an error that says so."""
    try:
        yield
    except WindrowError:
        raise
    except Exception as problem:
        raise DataError(
            "WD410",
            f"the sink failed at batch {batch_id}: {type(problem).__name__}: {problem}",
            hint="the batch is given again, with the same id, when the query is restarted",
        ) from problem


@dataclass(frozen=True)
class _Held:
    """Tables of a feed that nobody has taken yet; none where they were let go."""

    tables: tuple[pa.Table, ...] = ()
    rows: int = 0

    def with_table(self, table: pa.Table) -> _Held:
        rows = self.rows + table.num_rows
        return _Held(() if rows > MEMORY_ROWS_LIMIT else (*self.tables, table), rows)


class MemoryWriter(Writer):
    """Holds answers and changes until they are taken.

    Whoever takes only one of the two feeds must not be stopped by the other: a feed that outgrows
    the limit is let go, and says so when it is asked for.
    """

    feeds: tuple[str, ...] = ("answers", "changes")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The last batch and what is held: one value, so that no batch is ever held in part.
        self._state: tuple[int, dict[str, _Held]] = (-1, {feed: _Held() for feed in self.feeds})

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Adds one batch; one that is given again after a restart is not added twice."""
        with self._lock:
            last_batch, held = self._state
            if batch_id <= last_batch:
                return
            added = {feed: held[feed].with_table(table) for feed, table in tables.items()}
            self._state = (batch_id, {**held, **added})

    def take(self, feed: str, empty: pa.Table, limit: int | None = None) -> pa.Table:
        """What came since the last call, at most `limit` rows of it; `empty` gives the columns."""
        with self._lock:
            last_batch, held = self._state
            rows = held[feed].rows
            if rows > MEMORY_ROWS_LIMIT:
                self._state = (last_batch, {**held, feed: _Held()})
                raise _too_many(feed, rows)
            given = table = pa.concat_tables([empty, *held[feed].tables])
            left = _Held()
            if limit is not None and table.num_rows > limit:
                end = cut_between_instants(table, limit)
                given, rest = table.slice(0, end), table.slice(end)
                left = _Held((rest,), rest.num_rows)
            self._state = (last_batch, {**held, feed: left})
            return given


def _too_many(feed: str, rows: int) -> AdmissionError:
    return AdmissionError(
        "WA410",
        f"{rows} rows of {feed} came since the last call; the memory sink let them go, "
        f"it holds at most {MEMORY_ROWS_LIMIT}",
        hint="take them more often, or use windrow.sinks.parquet(path)",
    )
