"""Runs a job in this process: reads the files of all streams side by side, to their end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.clocks import COMPLETE
from windrow.connectors.contract import table_not_read
from windrow.embedded.live_job import follow_job, is_live
from windrow.embedded.outlet import Outlet, Running, check_sink, standings
from windrow.embedded.session import EmbeddedSession
from windrow.embedded.side_by_side import SideBySide
from windrow.embedded.table_sources import ChangelogLines, give_changes, table_changes
from windrow.interruption import Interruption
from windrow.jobs.job import Job, JobQuery, JobTable
from windrow.jobs.watcher import JobWatcher
from windrow.memory_size import DEFAULT_MEMORY
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

if TYPE_CHECKING:
    pass

__all__ = [
    "JobRun",
    "declare_functions",
    "declare_stream",
    "declare_tables",
    "declare_views",
    "embedded_run",
    "run_embedded",
]


def run_embedded(job: Job, watcher: JobWatcher) -> None:
    """Runs all queries of the job over all rows of their sources.

    Ctrl-C and SIGTERM end it after the batch in flight, so that its sinks have all answers so far.
    """
    embedded_run(job, watcher).run()


def embedded_run(job: Job, watcher: JobWatcher, memory: int | None = None) -> JobRun:
    """A run of the job in a session of its own; memory: instead of what the script sets."""
    settings = job.settings
    budget = memory or settings.memory or DEFAULT_MEMORY
    session = EmbeddedSession(budget, settings.clock or COMPLETE, settings.time_zone)
    return JobRun(session, job, watcher)


def declare_functions(session: EmbeddedSession, job: Job) -> None:
    """Gives the functions of a script to the session that runs it."""
    for function in job.functions.values():
        session.add_function(function)


def declare_stream(session: EmbeddedSession, schema: StreamSchema) -> None:
    """Declares a stream of a script."""
    into = schema.bad_rows_into
    session.stream(schema.name, schema.types, bad_rows_into=into, **schema.declared())


def give_all(
    session: EmbeddedSession, table: str, pieces: Iterable[FileRows | ChangelogLines]
) -> None:
    """Gives a table all that its source has."""
    for piece in pieces:
        give_changes(session, table, piece)


def declare_tables(
    session: EmbeddedSession,
    tables: Iterable[JobTable],
    give: Callable[[EmbeddedSession, str, Iterable[FileRows | ChangelogLines]], None] = give_all,
) -> None:
    """Declares tables of a script, and reads those that have a source, before any stream."""
    for table in tables:
        schema, source = table.schema, table.source
        if source is not None and not source.in_process:
            raise table_not_read(schema.name, source)
        session.table(schema.name, schema.types, key=schema.key, time=schema.time or None)
        if source is not None:
            source.check(schema)
            give(session, schema.name, table_changes(schema, source))


def declare_views(session: EmbeddedSession, job: Job, streams: Iterable[str]) -> None:
    """Declares the views of a script that read no other streams than these."""
    for view in job.views_of(streams):
        session.view(view.name, view.text)


class JobRun:
    """One run of a job in a session."""

    def __init__(self, session: EmbeddedSession, job: Job, watcher: JobWatcher) -> None:
        self.session, self.job, self.watcher = session, job, watcher
        self.outlets: list[Outlet] = []

    def run(self) -> None:
        """Runs it, to the end of its sources or until it is interrupted."""
        try:
            if is_live(self):
                follow_job(self)
            else:
                self._read_files()
        finally:
            self.close()

    def _read_files(self) -> None:
        files = SideBySide(self.job.sources())
        self.register()
        with Interruption() as interruption:
            self._read(files, interruption)
            if not interruption.came:
                self._finish()
                self.show_end()

    def before_following(self) -> None:
        """All is at work, and nothing was read yet."""

    def drain(self) -> None:
        """Hands what is new to all sinks."""
        for outlet in self.outlets:
            outlet.drain()

    def close(self) -> None:
        """The run has ended: sinks are closed."""
        for outlet in self.outlets:
            outlet.close()

    def register(self) -> None:
        """All that the job declares, at work."""
        job, session = self.job, self.session
        sources = job.sources()
        for query in job.queries.values():
            check_sink(query)
        declare_functions(session, job)
        for schema, _ in sources.values():
            declare_stream(session, schema)
        job.table_sources()  # refused here, if a table has none
        self._declare_tables()
        self._declare_views(sources)
        for name, history in job.histories.items():
            if name in sources:
                session.history(name, **history.schema.declared())
        for query in job.queries.values():
            self.outlets.append(self._outlet(query, self._begun(query)))

    def _declare_views(self, streams: Iterable[str]) -> None:
        declare_views(self.session, self.job, streams)

    def _begun(self, query: JobQuery) -> Running:
        """A query at work."""
        query.check_begins()
        return self.session.query(query.text, query.name)

    def _outlet(self, query: JobQuery, running: Running) -> Outlet:
        return self.session.outlet_on(query, running, self._answered)

    def _declare_tables(self) -> None:
        declare_tables(self.session, self.job.tables.values())

    def _answered(self, query: str, answers: pa.Table) -> None:
        if self.job.queries[query].sink.shows == "answers":
            self.watcher.answered(query, answers)

    def _push(self, stream: str, rows: FileRows) -> None:
        self.session.push(stream, rows)

    def _finish(self) -> None:
        self.session.finish()

    def _read(self, files: SideBySide, interruption: Interruption) -> None:
        rows = 0
        while not interruption.came:
            read = files.next_batch()
            if read is None:
                return
            stream, batch = read
            self._push(stream, batch)
            rows += batch.num_rows
            self.watcher.advanced(rows, files.fraction)
            self.drain()
            self.watcher.stood(lambda: standings(self.session, self.outlets))

    def show_end(self) -> None:
        """What the job has come to."""
        session, watcher = self.session, self.watcher
        for outlet in self.outlets:
            outlet.drain()
            if outlet.query.sink.shows == "result":
                watcher.ended(outlet.query.name, outlet.running.result())
        for question in self.job.questions.values():
            watcher.ended(question.name, session.ask(question.text))
        watcher.stood(lambda: standings(session, self.outlets))
        ledger = session.ledger()
        bad_rows = {name: session.bad_rows(name) for name in ledger["stream"].to_pylist()}
        watcher.counted(ledger, bad_rows)
