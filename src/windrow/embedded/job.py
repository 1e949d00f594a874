"""Runs a job in this process: reads the files of all streams side by side, to their end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from windrow.embedded.files import batches_of
from windrow.embedded.history_query import EmbeddedHistoryQuery
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.errors import UnsupportedError
from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.jobs.files import check_files
from windrow.jobs.job import Job, JobQuery
from windrow.jobs.watcher import JobWatcher
from windrow.memory_size import DEFAULT_MEMORY
from windrow.plan.history_schema import HistorySchema
from windrow.schema import StreamSchema
from windrow.sinks import Console, Memory, Parquet
from windrow.sources import FileSource, Source

__all__ = ["run_embedded"]


def run_embedded(job: Job, watcher: JobWatcher) -> None:
    """Runs all queries of the job over all rows of their sources."""
    session = EmbeddedSession(job.settings.memory or DEFAULT_MEMORY)
    readers = _readers(job, session)
    for name, history in job.histories.items():
        if name in job.sources():
            _declare(session, history.schema)
    for query in job.queries.values():
        if not isinstance(query.sink, (Console, Memory, Parquet)):
            raise UnsupportedError(
                "WU503",
                f"in this process query {query.name!r} can be shown or written to files only",
                hint="run the script on Spark, without --embedded",
                place=query.place,
            )
    outlets = [
        _Outlet(query, session.query(query.text, query.name), watcher)
        for query in job.queries.values()
    ]
    rows = 0
    while readers:
        reader = min(readers, key=lambda each: each.newest_us)
        batch = reader.next_batch()
        if batch is None:
            readers.remove(reader)
            continue
        session.push(reader.schema.name, batch)
        rows += batch.num_rows
        watcher.advanced(rows, sum(each.fraction for each in readers) / len(readers))
        for outlet in outlets:
            outlet.drain()
    session.finish()
    for outlet in outlets:
        outlet.drain()
        outlet.close()
    for question in job.questions.values():
        watcher.ended(question.name, session.ask(question.text))
    watcher.counted(session.ledger())


def _declare(session: EmbeddedSession, schema: HistorySchema) -> None:
    session.history(
        schema.stream.name,
        measures=[column.name for column in schema.measures],
        by=[column.name for column in schema.keys],
        levels=[(_span(each), _span(kept)) for each, kept in schema.levels],
    )


def _span(span_us: int | None) -> timedelta | None:
    return None if span_us is None else timedelta(microseconds=span_us)


def _readers(job: Job, session: EmbeddedSession) -> list[_Reader]:
    readers = []
    for name, (schema, source) in job.sources().items():
        if not isinstance(source, FileSource):
            raise _on_spark_only(name, source)
        check_files(schema, source)
        seconds = schema.lateness_us / 1_000_000
        session.stream(name, schema.arrow, time=schema.time, lateness=seconds)
        readers.append(_Reader(schema, batches_of(schema, source)))
    return readers


def _on_spark_only(stream: str, source: Source) -> UnsupportedError:
    return UnsupportedError(
        "WU502",
        f"in this process stream {stream!r} can be read from files only",
        hint="run the script on Spark, without --embedded",
        place=source.place,
    )


@dataclass
class _Reader:
    """One stream's files; the stream that is furthest behind is read next."""

    schema: StreamSchema
    batches: Iterator[tuple[pa.Table, float]]
    newest_us: int = START_OF_TIME
    fraction: float = 0.0

    def next_batch(self) -> pa.Table | None:
        batch, self.fraction = next(self.batches, (None, 1.0))
        if batch is not None:
            newest = pc.max(batch.column(self.schema.time))
            if pa.types.is_timestamp(newest.type) and newest.is_valid:
                # A time far ahead would keep the stream from being read on.
                self.newest_us = min(END_OF_TIME, newest.cast(pa.timestamp("us", "UTC")).value)
        return batch


class _Outlet:
    """Carries what one query says to its sink."""

    def __init__(
        self, query: JobQuery, running: EmbeddedQuery | EmbeddedHistoryQuery, watcher: JobWatcher
    ) -> None:
        self._query = query
        self._running = running
        self._watcher = watcher
        self._files = 0
        if isinstance(query.sink, Parquet):
            Path(query.sink.path).mkdir(parents=True, exist_ok=True)

    def drain(self) -> None:
        """Hands on what is new."""
        answers, changes = self._running.answers(), self._running.changes()
        sink = self._query.sink
        if isinstance(sink, Parquet):
            self._write(sink, changes if sink.feed == "changes" else answers)
        elif not isinstance(sink, Memory) and answers.num_rows:
            self._watcher.answered(self._query.name, answers)

    def close(self) -> None:
        """Shows the last result where nothing was shown before."""
        if isinstance(self._query.sink, Memory):
            self._watcher.ended(self._query.name, self._running.result())

    def _write(self, sink: Parquet, table: pa.Table) -> None:
        if table.num_rows:
            pq.write_table(table, Path(sink.path) / f"batch-{self._files:012d}.parquet")
            self._files += 1
