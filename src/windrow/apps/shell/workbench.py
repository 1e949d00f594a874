"""What a shell works on: all that was declared, and the session in this process that runs it.

Rows come from files, which are read in the background, or flow. As long as nothing has flowed, the
session can restart and read the files again: so a query sees them from their start, whenever it
is registered, and its answers are those of `windrow run`.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable

import pyarrow as pa

from windrow.connectors.contract import Source
from windrow.embedded.job import (
    declare_functions,
    declare_stream,
    declare_tables,
    declare_views,
)
from windrow.embedded.outlet import Outlet, check_sink, standings
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.embedded.side_by_side import SideBySide, check_source
from windrow.errors import BindingError, WindrowError, WindrowWarning
from windrow.jobs.functions import NO_MODULES, Modules
from windrow.jobs.job import Job, JobQuery, with_statement
from windrow.jobs.watcher import Standing
from windrow.memory_size import DEFAULT_MEMORY, memory_of
from windrow.plan.nearest import nearest
from windrow.rows.file_rows import FileRows
from windrow.sql.statements import (
    CreateFunction,
    CreateHistory,
    CreateQuery,
    CreateStream,
    CreateTable,
    CreateView,
    Creation,
    Statement,
)

__all__ = ["Workbench"]

ANSWERS_KEPT = 1_000
PROBLEMS_KEPT = 5
BREATH_S = 0.001  # between two batches, so that others get the lock


class Workbench:
    """One thread at a time works on it; `lock` is held while the session is used."""

    def __init__(self, modules: Modules = NO_MODULES) -> None:
        self.lock = threading.RLock()
        self.job = Job(modules=modules)
        self.session = EmbeddedSession()
        self.outlets: dict[str, Outlet] = {}
        self.latest: dict[str, pa.Table] = {}  # the newest answers of each query
        self.rows = 0
        self.has_flowed = False
        self.problems: list[WindrowError] = []  # of what runs in the background
        self.notes: list[str] = []  # to be shown once
        self._pushed: list[tuple[str, Source]] = []
        self._files: list[SideBySide] = []
        self._begun: set[str] = set()  # streams whose own files were given to be read
        self._fed: set[str] = set()  # streams that have been given rows
        self._is_finished = False
        self._is_held = False
        self._reader: threading.Thread | None = None
        self._closed = threading.Event()

    def declare(self, statement: Statement) -> Job:
        """Takes a statement in, or nothing of it; gives the job with it."""
        with self.lock:
            job = with_statement(self.job, statement)
            if isinstance(statement, CreateStream):
                self._add_stream(job, statement)
            elif isinstance(statement, CreateFunction):
                self.session.add_function(job.functions[statement.name.lower()])
                self.job = job
            elif isinstance(statement, CreateTable):
                declare_tables(self.session, [job.tables[statement.name]])
                self.job = job
            elif job.settings.time_zone != self.job.settings.time_zone:
                self._begin_anew(job)
            elif job.settings.memory != self.job.settings.memory:
                self.session.memory = job.settings.memory or memory_of(DEFAULT_MEMORY)
                self.job = job
            elif isinstance(statement, CreateHistory):
                self._add_history(job, statement)
            elif isinstance(statement, CreateView):
                view = job.views[statement.name]
                self.session.view(view.name, view.text)
                self.job = job
            elif isinstance(statement, CreateQuery) and statement.mode != "create":
                self._replace_query(job, statement)
            else:
                self._add_queries(job)
            self._read_on()
            return job

    def push(self, stream: str, source: Source) -> None:
        """Has the rows of files read into a stream, in the background, behind all others."""
        with self.lock:
            schema = self.job.catalog.stream(stream)
            source.check(schema)
            if self._is_finished:
                self._begin_anew(self.job)
            self._pushed.append((schema.name, source))
            self._files.append(SideBySide({schema.name: (schema, source)}))
            self._read_on()

    def hold(self, held: bool) -> None:
        """While it is held, no files begin to be read: more is about to be declared."""
        with self.lock:
            self._is_held = held
            self._read_on()

    def begin_flow(self) -> None:
        """From now on rows come whose pace matters: nothing ends, and nothing is read again."""
        with self.lock:
            if self._is_finished:
                self._begin_anew(self.job)
            self.has_flowed = True

    def give(self, stream: str, rows: pa.Table | FileRows) -> None:
        """Gives rows to a stream, and answers to their sinks; problems are kept."""
        with self.lock:
            self._fed.add(stream)
            self.rows += rows.num_rows
            try:
                self.session.push(stream, rows)
                self._drain()
            except WindrowError as error:
                self.note_problem(error)

    def note_problem(self, error: WindrowError) -> None:
        """Keeps a problem to show at the next prompt; of many, the first ones."""
        if len(self.problems) < PROBLEMS_KEPT:
            self.problems.append(error)

    def stop(self, name: str) -> None:
        """Ends a query, and forgets it."""
        with self.lock:
            outlet = self.outlet(name)
            outlet.running.stop()
            del self.outlets[outlet.query.name]
            self.latest.pop(outlet.query.name, None)
            queries = {key: each for key, each in self.job.queries.items() if key != name}
            self.job.queries = queries

    def outlet(self, name: str) -> Outlet:
        """The query of that name at work."""
        if name in self.outlets:
            return self.outlets[name]
        guess = nearest(name, self.outlets)
        known = ", ".join(self.outlets) or "none; CREATE QUERY name AS SELECT ... creates one"
        hint = f"did you mean {guess}?" if guess else f"the queries are: {known}"
        raise BindingError("WB522", f"there is no query {name!r}", hint=hint)

    def standings(self, names: Iterable[str] | None = None) -> list[Standing]:
        """How queries stand; None: all of them."""
        with self.lock:
            chosen = (
                self.outlets if names is None else [name for name in names if name in self.outlets]
            )
            return standings(self.session, [self.outlets[name] for name in chosen])

    def has_files(self, streams: Iterable[str]) -> bool:
        """Whether all rows of these streams come from files, and from some."""
        known = {name for name, stream in self.job.streams.items() if stream.source is not None}
        known |= {name for name, _ in self._pushed}
        return not self.has_flowed and known.issuperset(streams)

    def files_of(self, streams: Iterable[str]) -> list[SideBySide]:
        """All files of these streams, from their start."""
        with self.lock:
            read = [(name, self.job.streams[name]) for name in dict.fromkeys(streams)]
            own = {name: (each.schema, each.source) for name, each in read if each.source}
            catalog, names = self.job.catalog, dict(read)
            pushed = [
                SideBySide({name: (catalog[name], source)})
                for name, source in self._pushed
                if name in names
            ]
            return [SideBySide(own), *pushed] if own else pushed

    @property
    def is_reading(self) -> bool:
        """Whether files are being read."""
        return self._reader is not None

    @property
    def fraction(self) -> float:
        """Which part of the files that are still to be read is read."""
        files = list(self._files)
        return sum(each.fraction for each in files) / len(files) if files else 1.0

    def read_again(self) -> bool:
        """Restarts with all files; False if there were live rows, which cannot be read again."""
        with self.lock:
            if not self.has_flowed:
                self._begin_anew(self.job)
                self._read_on()
            return not self.has_flowed

    def stop_reading(self) -> None:
        """Leaves the rest of the files unread."""
        with self.lock:
            self._files = []

    def close(self) -> None:
        """Ends all queries, and whatever runs in the background."""
        self._closed.set()
        self.stop_reading()
        reader = self._reader
        if reader is not None:
            reader.join()
        with self.lock:
            self.session.stop()

    @property
    def closed(self) -> threading.Event:
        """Set when the shell is left."""
        return self._closed

    def _add_stream(self, job: Job, statement: CreateStream) -> None:
        stream = job.streams[statement.name]
        if stream.source is not None:
            check_source(statement.name, stream.source)
            stream.source.check(stream.schema)
        declare_stream(self.session, stream.schema)
        self.job = job

    def _add_queries(self, job: Job) -> None:
        new = [query for name, query in job.queries.items() if name not in self.outlets]
        for query in new:
            check_sink(query)
        if self._must_begin_anew({name for query in new for name in query.plan.streams}):
            self._begin_anew(job)
            return
        for query in new:
            self.outlets[query.name] = self._at_work(query, self.session)
        self.job = job

    def _replace_query(self, job: Job, statement: CreateQuery) -> None:
        """Changes a query: where rows flow it goes on with those of its windows."""
        query = job.queries[statement.name]
        before = self.outlets.get(query.name)
        if before is None:
            query.check_begins()
            self._add_queries(job)
            return
        check_sink(query)
        if self._must_begin_anew({*before.query.plan.streams, *query.plan.streams}):
            self._begin_anew(job)
            return
        before.drain()
        outlet = Outlet(query, before.running, self._keep_answers, before=before)
        outlet.running = self._changed(query, statement.mode)
        self.outlets[query.name], self.job = outlet, job
        self.latest.pop(query.name, None)

    def _changed(self, query: JobQuery, mode: Creation) -> EmbeddedQuery:
        begin_anew = mode == "create or replace"
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", WindrowWarning)
            changed = self.session.replace(query.name, query.text, begin_anew=begin_anew)
        self.notes += [str(each.message) for each in told]
        return changed

    def _add_history(self, job: Job, statement: CreateHistory) -> None:
        schema = job.histories[job.catalog.stream(statement.stream).name].schema
        if self._must_begin_anew({schema.stream.name}):
            self._begin_anew(job)
        else:
            self.session.history(schema.stream.name, **schema.declared())
            self.job = job

    def _must_begin_anew(self, streams: set[str]) -> bool:
        is_late = self._is_finished or not streams.isdisjoint(self._fed)
        return bool(streams) and is_late and not self.has_flowed

    def _begin_anew(self, job: Job) -> None:
        """A new session with all that the job declares; the old one stays where that fails."""
        session = EmbeddedSession(
            job.settings.memory or DEFAULT_MEMORY,
            job.settings.clock or "complete",
            job.settings.time_zone,
        )
        try:
            declare_functions(session, job)
            for stream in job.streams.values():
                declare_stream(session, stream.schema)
            declare_tables(session, job.tables.values())
            declare_views(session, job, job.streams)
            for name, history in job.histories.items():
                session.history(name, **history.schema.declared())
            outlets = {name: self._at_work(query, session) for name, query in job.queries.items()}
        except WindrowError:
            session.stop()
            raise
        self.session.stop()
        self.job, self.session, self.outlets = job, session, outlets
        self.latest, self.rows = {}, 0
        self._begun, self._fed, self._is_finished = set(), set(), False
        streams = job.catalog
        self._files = [SideBySide({name: (streams[name], each)}) for name, each in self._pushed]

    def _at_work(self, query: JobQuery, session: EmbeddedSession) -> Outlet:
        return session.outlet_for(query, self._keep_answers)

    def _keep_answers(self, query: str, answers: pa.Table) -> None:
        known = self.latest.get(query)
        kept = answers if known is None else pa.concat_tables([known, answers])
        self.latest[query] = kept.slice(max(0, kept.num_rows - ANSWERS_KEPT))

    def _drain(self) -> None:
        for outlet in list(self.outlets.values()):
            outlet.drain()

    def _read_on(self) -> None:
        """Reads the files of streams that somebody reads, and those that were pushed."""
        if self._is_held:
            return
        read = {name for query in self.job.queries.values() for name in query.plan.streams}
        fresh = {
            name: (stream.schema, stream.source)
            for name, stream in self.job.streams.items()
            if stream.source is not None and name in (read | {*self.job.histories}) - self._begun
        }
        if fresh:
            self._files.insert(0, SideBySide(fresh))
            self._begun |= {*fresh}
        if self._files and self._reader is None:
            self._reader = threading.Thread(target=self._read_all, name="files", daemon=True)
            self._reader.start()

    def _read_all(self) -> None:
        while self._step():
            self._closed.wait(BREATH_S)

    def _step(self) -> bool:
        """Takes one batch; False when all files are read, and the reader has ended."""
        with self.lock:
            try:
                while self._files:
                    read = self._files[0].next_batch()
                    if read is not None:
                        self.give(*read)
                        return True
                    self._files.pop(0)
                self._end_of_files()
            except WindrowError as error:
                self.note_problem(error)
                if self._files:
                    self._files.pop(0)
                    return True
            self._reader = None
            return False

    def _end_of_files(self) -> None:
        """What waits for rows that will not come is answered, as at the end of a job."""
        if not self.has_flowed and self._fed:
            self._is_finished = True
            self.session.finish()
            self._drain()
