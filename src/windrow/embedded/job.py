"""Runs a job in this process: reads the files of all streams side by side, to their end."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from windrow.clocks import COMPLETE
from windrow.connectors.contract import table_not_read
from windrow.embedded.outlet import Outlet, check_sink, standings
from windrow.embedded.session import EmbeddedSession
from windrow.embedded.side_by_side import SideBySide
from windrow.embedded.table_sources import give_changes, table_changes
from windrow.interruption import Interruption
from windrow.jobs.job import Job, JobTable
from windrow.jobs.watcher import JobWatcher
from windrow.memory_size import DEFAULT_MEMORY
from windrow.schema import StreamSchema

__all__ = [
    "declare_functions",
    "declare_stream",
    "declare_tables",
    "declare_views",
    "run_embedded",
]


def run_embedded(job: Job, watcher: JobWatcher) -> None:
    """Runs all queries of the job over all rows of their sources.

    Ctrl-C and SIGTERM end it after the batch in flight, so that its sinks have all answers so far.
    """
    settings = job.settings
    session = EmbeddedSession(
        settings.memory or DEFAULT_MEMORY, settings.clock or COMPLETE, settings.time_zone
    )
    files = SideBySide(job.sources())
    outlets = _registered(job, session, watcher)
    with Interruption() as interruption:
        _read(session, files, outlets, watcher, interruption)
        if not interruption.came:
            _end(job, session, outlets, watcher)


def declare_functions(session: EmbeddedSession, job: Job) -> None:
    """Gives the functions of a script to the session that runs it."""
    for function in job.functions.values():
        session.add_function(function)


def declare_stream(session: EmbeddedSession, schema: StreamSchema) -> None:
    """Declares a stream of a script."""
    into = schema.bad_rows_into
    session.stream(schema.name, schema.types, bad_rows_into=into, **schema.declared())


def declare_tables(session: EmbeddedSession, tables: Iterable[JobTable]) -> None:
    """Declares tables of a script, and reads those that have a source, before any stream."""
    for table in tables:
        schema, source = table.schema, table.source
        if source is not None and not source.in_process:
            raise table_not_read(schema.name, source)
        session.table(schema.name, schema.types, key=schema.key, time=schema.time or None)
        if source is not None:
            source.check(schema)
            for rows in table_changes(schema, source):
                give_changes(session, schema.name, rows)


def declare_views(session: EmbeddedSession, job: Job, streams: Iterable[str]) -> None:
    """Declares the views of a script that read no other streams than these."""
    for view in job.views_of(streams):
        session.view(view.name, view.text)


def _registered(job: Job, session: EmbeddedSession, watcher: JobWatcher) -> list[Outlet]:
    """All that the job declares, at work."""
    sources = job.sources()
    for query in job.queries.values():
        check_sink(query)
    declare_functions(session, job)
    for schema, _ in sources.values():
        declare_stream(session, schema)
    job.table_sources()  # refused here, if a table has none
    declare_tables(session, job.tables.values())
    declare_views(session, job, sources)
    for name, history in job.histories.items():
        if name in sources:
            session.history(name, **history.schema.declared())

    def answered(query: str, answers: pa.Table) -> None:
        if job.queries[query].sink.shows == "answers":
            watcher.answered(query, answers)

    return [
        Outlet(query, session.query(query.text, query.name), answered)
        for query in job.queries.values()
    ]


def _end(job: Job, session: EmbeddedSession, outlets: list[Outlet], watcher: JobWatcher) -> None:
    session.finish()
    for outlet in outlets:
        outlet.drain()
        if outlet.query.sink.shows == "result":
            watcher.ended(outlet.query.name, outlet.running.result())
    for question in job.questions.values():
        watcher.ended(question.name, session.ask(question.text))
    watcher.stood(lambda: standings(session, outlets))
    ledger = session.ledger()
    bad_rows = {name: session.bad_rows(name) for name in ledger["stream"].to_pylist()}
    watcher.counted(ledger, bad_rows)


def _read(
    session: EmbeddedSession,
    files: SideBySide,
    outlets: list[Outlet],
    watcher: JobWatcher,
    interruption: Interruption,
) -> None:
    rows = 0
    while not interruption.came:
        read = files.next_batch()
        if read is None:
            return
        stream, batch = read
        session.push(stream, batch)
        rows += batch.num_rows
        watcher.advanced(rows, files.fraction)
        for outlet in outlets:
            outlet.drain()
        watcher.stood(lambda: standings(session, outlets))
