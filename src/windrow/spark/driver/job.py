"""Runs a job on Spark in this machine: every stream is read to its end, if it has one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa
from pyspark.sql import SparkSession

from windrow.clocks import COMPLETE, refuse_arrival
from windrow.connectors.contract import Source
from windrow.interruption import Interruption
from windrow.jobs.job import Job, JobQuery
from windrow.jobs.operation_words import operation_words
from windrow.jobs.watcher import JobWatcher, Standing
from windrow.schema import StreamSchema
from windrow.sinks import Sink
from windrow.spark.driver.history_query import SparkHistoryQuery
from windrow.spark.driver.query import SparkQuery
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.driver.triggers import AVAILABLE
from windrow.spark.monitoring.operation_rows import operation_rows
from windrow.spark.settings import local_session

__all__ = ["DEFAULT_MEMORY_BYTES", "run_on_spark"]

StartedQuery = SparkQuery | SparkHistoryQuery

DEFAULT_MEMORY_BYTES = 1 << 30
POLL_S = 0.5
SIGNAL_POLL_S = 0.05


def run_on_spark(
    job: Job,
    watcher: JobWatcher,
    *,
    ui: bool = False,
    jars: Sequence[str] = (),
    packages: Sequence[str] = (),
) -> None:
    """Runs all queries of the job over all rows of their sources, in a local Spark session.

    With a source that has no end it runs until it is interrupted: by Ctrl-C or SIGTERM, at which it
    ends after the batch in flight. jars, packages: of connectors.
    """
    sources = job.sources()
    for schema, source in sources.values():
        source.check_on_spark(schema)  # now, as Spark takes its time to start
    for table, source in job.table_sources().values():
        source.check_on_spark(table)
    spark = local_session(ui=ui, jars=jars, packages=packages)
    try:
        # Spark's own handler of Ctrl-C would cancel the batch in flight.
        with Interruption() as interruption:
            _run(job, sources, watcher, spark, interruption)
    finally:
        spark.stop()


def _run(
    job: Job,
    sources: dict[str, tuple[StreamSchema, Source]],
    watcher: JobWatcher,
    spark: SparkSession,
    interruption: Interruption,
) -> None:
    memory = job.settings.memory or DEFAULT_MEMORY_BYTES
    refuse_arrival(job.settings.clock or COMPLETE)
    settings = job.settings
    session = SparkWindrowSession(spark, memory, settings.checkpoint, time_zone=settings.time_zone)
    try:
        trigger = _declare(job, session, sources)
        started = _started(job, session, watcher, trigger)
        while _goes_on(list(started.values()), trigger):
            watcher.advanced(_rows_read(session), None)
            watcher.stood(lambda: [_standing(query) for query in started.values()])
            if _is_ending_within(interruption, POLL_S):
                return
        _end(job, session, started, watcher)
    finally:
        session.stop()


def _declare(
    job: Job, session: SparkWindrowSession, sources: dict[str, tuple[StreamSchema, Source]]
) -> str | None:
    """Streams, tables, functions, views and histories; returns the trigger of queries."""
    for function in job.functions.values():
        session.add_function(function)
    for name, (schema, source) in sources.items():
        session.stream(name, schema.types, source=source, **schema.declared())
    for each in job.tables.values():
        if each.source is not None:
            table = each.schema
            time = table.time or None
            session.table(table.name, table.types, key=table.key, time=time, source=each.source)
    for view in job.views_of(sources):
        session.view(view.name, view.text)
    for name, history in job.histories.items():
        if name in sources:
            session.history(name, **history.schema.declared(), trigger=job.settings.trigger)
    is_endless = any(source.is_endless for _, source in sources.values())
    return job.settings.trigger if is_endless else AVAILABLE


def _end(
    job: Job, session: SparkWindrowSession, started: dict[str, StartedQuery], watcher: JobWatcher
) -> None:
    """All streams are complete: the last answers come, and those about the past."""
    session.finish()
    for query in job.queries.values():
        if query.sink.shows == "result":
            watcher.ended(query.name, started[query.name].result())
    for question in job.questions.values():
        watcher.ended(question.name, session.ask(question.text))
    watcher.advanced(_rows_read(session), 1.0)
    watcher.stood(lambda: [_standing(query) for query in started.values()])
    watcher.operated(operation_rows(session.progress()))
    # Histories count bad rows, and keep none of them.
    read = {name: None for query in started.values() for name in query.plan.streams}
    watcher.counted(session.ledger(), {name: session.bad_rows(name) for name in read})


def _goes_on(started: list[StartedQuery], trigger: str | None) -> bool:
    """Whether a query runs; histories alone go on for ever where a source has no end."""
    if not started:
        return trigger != AVAILABLE
    return bool([query for query in started if not _has_ended(query)])


def _has_ended(query: StartedQuery) -> bool:
    """Whether a query has; raises what it failed with."""
    return not query.is_running and query.await_end()


def _is_ending_within(interruption: Interruption, span_s: float) -> bool:
    """Waits so long, but no longer than until a signal comes."""
    deadline = time.monotonic() + span_s
    while not interruption.came and time.monotonic() < deadline:
        time.sleep(SIGNAL_POLL_S)
    return interruption.came


def _started(
    job: Job, session: SparkWindrowSession, watcher: JobWatcher, trigger: str | None
) -> dict[str, StartedQuery]:
    """All queries of the job at work, in as few Spark queries as can be.

    A query that the checkpoint still runs and the script no longer has is ended.
    """
    registered = [_registered(session, query) for query in job.queries.values()]
    sinks = {query.name: _sink(query, watcher) for query in job.queries.values()}
    recorded = session.recorded()
    if len(registered) > 1 or recorded:
        gone = dict.fromkeys(name for name in recorded if name not in sinks)
        return session.start({**sinks, **gone}, trigger)
    return {query.name: query.start(sinks[query.name], trigger) for query in registered}


def _registered(session: SparkWindrowSession, query: JobQuery) -> StartedQuery:
    """A query of the job; one that replaces another of the checkpoint goes on from it."""
    if query.mode == "create" or not session.stands(query.name):
        query.check_begins()
        return session.query(query.text, query.name)
    if not session.differs(query.name, query.text):
        return session.query(query.text, query.name)
    return session.replace(query.name, query.text, begin_anew=query.mode == "create or replace")


def _sink(query: JobQuery, watcher: JobWatcher) -> Sink:
    if query.sink.shows != "answers":
        return query.sink
    return partial(_show, partial(watcher.answered, query.name))


def _show(show: Callable[[pa.Table], None], answers: pa.Table, batch_id: int) -> None:  # noqa: ARG001 - a sink is given it
    if answers.num_rows:
        show(answers)


def _standing(query: StartedQuery) -> Standing:
    """Results are kept by sinks into memory only, and shown at the end: answers tell the rest."""
    status = query.status
    latency = query.run.meter.times.shown()
    took = latency["batch_ms"]
    words = operation_words(took.get("p50"), took.get("p95"), latency["busy"])
    return Standing(query.name, status.clock_us, None, None, status.answers, words)


def _rows_read(session: SparkWindrowSession) -> int:
    """Rows of each stream once, by the query that is furthest."""
    furthest: dict[str, int] = {}
    for row in session.ledger().select(["stream", "rows_in"]).to_pylist():
        furthest[row["stream"]] = max(furthest.get(row["stream"], 0), row["rows_in"])
    return sum(furthest.values())
