"""A session in this process with a log: opened again, it is as it was."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windrow.durable.asked import Asked, printed
from windrow.durable.declared import history_told, stream_told, table_told
from windrow.durable.errors import declared_otherwise, function_missing
from windrow.durable.folder import StateFolder
from windrow.durable.ingest import DurableIngest
from windrow.durable.interval import Ticking
from windrow.durable.journal import Journal
from windrow.durable.live_receiver import DurableReceiver
from windrow.durable.log import Log
from windrow.durable.log_files import LogReader
from windrow.durable.noted_alerts import NotedAlerts
from windrow.durable.queries import DurableHistoryQuery, DurableQuery
from windrow.durable.replay import Replay
from windrow.durable.saved_session import saved_session, why_no_snapshot
from windrow.durable.session_changes import ChangingSession
from windrow.durable.settings import Settings
from windrow.durable.snapshots import Snapshot, write_snapshot
from windrow.embedded.live_receiver import LiveReceiver
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.errors import CheckpointError, UnsupportedError, WindrowWarning
from windrow.plan.history_schema import HistorySchema
from windrow.plan.serialise import plan_from_json
from windrow.plan.user_functions import GivenFunction
from windrow.query import Query
from windrow.schema import StreamSchema
from windrow.table_schema import TableSchema

if TYPE_CHECKING:
    from windrow.embedded.history_query import EmbeddedHistoryQuery
    from windrow.embedded.query import EmbeddedQuery
    from windrow.embedded.view_run import ViewRun
    from windrow.plan.relations.tree_plan import TreePlan

__all__ = ["SNAPSHOT_BYTES", "DurableSession"]

# A snapshot is taken once the log since the last one has grown beyond so much.
SNAPSHOT_BYTES = 256 << 20
_LOGGER = logging.getLogger(__name__)


class DurableSession(NotedAlerts, ChangingSession):
    """What changes it is in its log before it happens; what was declared can be declared again.

    >>> import tempfile
    >>> import windrow
    >>> path = tempfile.mkdtemp()
    >>> for second in range(3):
    ...     session = windrow.connect(path=path)
    ...     session.stream("s", "ts timestamp, x int", time="ts")
    ...     total = session.query("SELECT SUM(x) AS x FROM s [1 MINUTE]", name="total")
    ...     session.push("s", {"ts": f"2026-01-01 00:00:0{second}", "x": 1})
    ...     session.stop()
    >>> total.result().to_pylist()  # through the instant before the last row
    [{'x': 2}]
    """

    _ingest_kind = DurableIngest
    _ingest: DurableIngest

    def __init__(self, folder: StateFolder, settings: Settings, durability: str) -> None:
        said = (settings.memory, settings.clock, settings.time_zone, settings.double_quotes)
        super().__init__(*said)
        self._folder, self.settings = folder, settings
        self.declared: list[dict[str, Any]] = []  # as records have it, in order
        self.journal = Journal(durability)
        self.journal.after = self._after_record
        self.journal.declared = self._note_declared
        self._snapshot_at = SNAPSHOT_BYTES
        self._ingest.attach(self.journal)
        self._histories.query_kind = partial(DurableHistoryQuery, self)
        self._asked: dict[str, Asked] = {}
        self._handed_out: set[str] = set()  # queries without a name that this process asked for
        self._replay: Replay | None = None
        self._wanted_memory: int | None = None
        self._ticking: Ticking | None = None

    # ---- opened and closed

    def _check_memory_may_change(self) -> None:
        self.journal.check()

    def _change_memory(self, budget: int) -> None:
        with self.journal.applying("memory", bytes=budget):
            self.changed_memory(budget)

    def changed_memory(self, budget: int) -> None:
        """Another budget, of a log."""
        super()._change_memory(budget)
        self.settings = replace(self.settings, memory=budget)

    @property
    def path(self) -> Path:
        """The folder that has its state."""
        return self._folder.path

    @property
    def ingest(self) -> DurableIngest:
        """The way of rows into it, for a replay."""
        return self._ingest

    @property
    def is_waiting(self) -> bool:
        """Whether functions are to be given before it can go on."""
        return self._replay is not None

    def recover(self, snapshot: Snapshot | None, reader: LogReader) -> None:
        """Replay the log, as far as the functions that were given allow."""
        self._replay = Replay(self, snapshot, reader)
        self.journal.missing = self._missing
        self._go_on(reader)

    def _missing(self) -> CheckpointError | None:
        replay = self._replay
        if replay is None or replay.missing is None:
            return None if replay is None else replay.problem
        return function_missing(*replay.missing)

    def _go_on(self, reader: LogReader) -> None:
        replay = self._replay
        assert replay is not None
        self._reader = reader
        if not replay.run():
            return
        self._ingest.note_written()
        self._ingest.governing.count()
        self.journal.open(Log(self._folder, reader))
        self._replay = None
        self._tell_of_torn(reader)
        for made in replay.offered.values():
            self.add_function(made)
        self._ingest.hold_again()
        if not self.journal.syncs_always:
            self._ticking = Ticking(self)
        self._take_wanted()

    def want(self, memory: int) -> None:
        """Have that memory as soon as all of the log is read."""
        self._wanted_memory = memory
        if self._replay is None:
            self._take_wanted()

    def _take_wanted(self) -> None:
        wanted, self._wanted_memory = self._wanted_memory, None
        if wanted is not None and wanted != self.memory:
            self.memory = wanted

    def _tell_of_torn(self, reader: LogReader) -> None:
        torn = reader.torn
        if torn is None or not torn.bytes:
            return
        told = (
            f"the log at {self.path} ended in {torn.bytes:,} bytes that were no whole record "
            f"({torn.name}, from byte {torn.offset:,} on): they were removed. What was pushed "
            "in the moment of the crash is not in the session"
        )
        warnings.warn(told, WindrowWarning, stacklevel=2)

    def stop(self) -> None:
        """Close the session; opened again, its queries go on.

        >>> import tempfile
        >>> import windrow
        >>> session = windrow.connect(path=tempfile.mkdtemp())
        >>> session.stop()
        """
        self.stop_sources()
        with self._lock:
            self._end_all()

    def _end_all(self) -> None:
        if self._ticking is not None:
            self._ticking.stop()
        try:
            if self.journal.is_open and not self.journal.is_torn:
                self._ingest.write_waiting()
        finally:
            self._close()

    def _close(self) -> None:
        is_sound = not self.journal.is_torn and self._replay is None
        try:
            self.journal.close()
        finally:
            self._folder.release()
            if is_sound:
                super()._end_all()
            self._is_stopped = True

    def _after_record(self) -> None:
        self._ingest.tell_after()
        # What was read and is to be noted later would be in neither.
        if self.journal.log.bytes > self._snapshot_at and self._reads is None:
            self.save()

    @one_at_a_time
    def save(self) -> bool:
        """Write a snapshot, where the session can be saved now, so that less is to be replayed."""
        self.journal.check()
        log = self.journal.log
        self._snapshot_at = log.bytes + SNAPSHOT_BYTES // 8  # no sooner again, if it cannot be
        why = why_no_snapshot(self)
        if why is not None:
            _LOGGER.info("no snapshot of %s: %s", self.path, why)
            return False
        header, parts = saved_session(self)
        try:
            log.begin_file()
            write_snapshot(self._folder, log.sequence, header, parts.sections)
        except (OSError, CheckpointError) as problem:
            _LOGGER.warning("no snapshot of %s: %s", self.path, problem)
            return False
        log.bytes, self._snapshot_at = 0, SNAPSHOT_BYTES
        return True

    def running_views(self) -> list[ViewRun]:
        """The views that queries read, those first that others read."""
        return self._views.runs()

    def view_plans(self, plans: Mapping[str, TreePlan]) -> None:
        """Views that begin from now on run by these plans, others by their texts."""
        self._views.plans = plans

    def knowing_functions(self) -> AbstractContextManager[None]:
        """Plans that are read within may call the functions of the session."""
        return self._knowing_functions()

    def running_queries(self) -> list[Any]:
        """The queries on windows that run."""
        self._running()  # forgets those whose life is over
        return [*self._queries.values()]

    def told_of(self, query: Query) -> dict[str, Any]:
        """How a query was registered, as a record has it."""
        asked = self._asked[query.name]
        return {
            "text": asked.text,
            "name": query.name,
            "has_name": asked.has_name,
            "algorithm": asked.algorithm,
            "store": asked.store,
        }

    @property
    def unnamed(self) -> int:
        """How many names were made up for queries."""
        return self._unnamed

    @unnamed.setter
    def unnamed(self, count: int) -> None:
        self._unnamed = count

    @one_at_a_time
    def tick(self) -> None:
        """Write rows that wait: nothing is lost that came before."""
        if self.journal.writes and not self.journal.is_torn:
            self._ingest.write_quietly()

    def _receiver(self) -> LiveReceiver:
        return DurableReceiver(self._lock, self._ingest, self.journal)

    def sync(self) -> None:
        """What is written is on the disk when it returns; rows may come meanwhile."""
        self.journal.sync()

    # ---- declared, once

    @one_at_a_time
    def declare_stream(self, declared: StreamSchema) -> None:
        """Declare a stream of a log."""
        self._declare_stream(declared)

    def _declare_stream(self, declared: StreamSchema) -> None:
        self.journal.check()
        if self._is_known("stream", declared.name, self._catalog.get(declared.name), declared):
            return
        self._catalog.with_stream(declared)  # raises before anything is written
        self._flush()
        with self.journal.applying("stream", **stream_told(declared)):
            super()._declare_stream(declared)

    def declare_table(self, declared: TableSchema) -> None:
        """Declare a table of a log."""
        self._declare_table(declared)

    def _declare_table(self, declared: TableSchema) -> None:
        self.journal.check()
        if self._is_known("table", declared.name, self._catalog.table(declared.name), declared):
            return
        self._catalog.with_table(declared)
        self._flush()
        with self.journal.applying("table", **table_told(declared)):
            super()._declare_table(declared)

    def declare_view(self, name: str, text: str) -> None:
        """Declare a view of a log."""
        self._declare_view(name, text)

    def _declare_view(self, name: str, plain: str) -> None:
        self.journal.check()
        view = self._catalog.view(name)
        known = None if view is None else printed(view.text)
        if self._is_known("view", name, known, printed(plain)):
            return
        with self._knowing_functions():
            self._views.declared(name, plain, self._queries)
        self._flush()
        with self.journal.applying("view", name=name, text=plain):
            super()._declare_view(name, plain)

    def declare_history(self, declared: HistorySchema) -> None:
        """Declare a history of a log."""
        self._declare_history(declared, None)

    def _declare_history(
        self, declared: HistorySchema, archive: str | os.PathLike[str] | None
    ) -> None:
        if archive is not None:
            raise UnsupportedError(
                "WU310",
                "a history of a durable session has no archive",
                hint="omit archive=: what is kept 'forever' is in the state of the session",
            )
        stream = declared.stream.name
        if self._is_known("history", stream, self._histories.schemas.get(stream), declared):
            return
        with self.journal.applying("history", **history_told(declared)):
            super()._declare_history(declared, archive)

    def _is_known(self, kind: str, name: str, known: Any, declared: Any) -> bool:
        """Whether it was declared before, in the same way."""
        if known is None or known == declared:
            return known is not None
        raise declared_otherwise(kind, name)

    def add_function(self, made: GivenFunction) -> None:
        """Add a function that is made already; one that the log knows is waited for."""
        replay = self._replay
        if replay is not None:
            replay.offered[made.name] = made
            if replay.missing is not None and replay.missing[0] == made.name:
                self._go_on(self._reader)
            return
        self.journal.check()
        if made.name not in self._functions:
            told: dict[str, Any] = {"name": made.name, "signature": made.signature}
            self.journal.note("function", **told)
            self.declared.append({"kind": "function", "wall": 0, **told})
        self.add_known_function(made)

    def add_known_function(self, made: GivenFunction) -> None:
        """Add a function of a log, which was given again."""
        super().add_function(made)

    # ---- queries

    @one_at_a_time
    def query(
        self, text: str, name: str | None = None, algorithm: str = "auto", store: str = "auto"
    ) -> EmbeddedQuery | EmbeddedHistoryQuery:
        """Register a continuous query; one that the session has already is given as it is.

        Without a name it is found by its text: each such query once in a process.
        """
        self.journal.check()
        asked = Asked(text, printed(text), algorithm, store, name is not None)
        known: EmbeddedQuery | EmbeddedHistoryQuery | None = self._running_as(asked, name)
        if known is None:
            self.plan_of(text)  # raises before anything is written
            self._flush()
            told: dict[str, Any] = {
                "text": text,
                "name": name,
                "algorithm": algorithm,
                "store": store,
            }
            with self.journal.applying("query", **told):
                known = self.register(text, name, algorithm, store)
        self._handed_out.add(known.name)
        return known

    def register(
        self,
        text: str,
        name: str | None,
        algorithm: str,
        store: str,
        *,
        has_name: bool | None = None,
        plan: str | None = None,
    ) -> EmbeddedQuery | EmbeddedHistoryQuery:
        """Register a query of which the log or a snapshot has a record.

        has_name: whether somebody named it. plan: by which it runs, whatever another version of
        Windrow would plan; its saved rows are of that plan.
        """
        made: EmbeddedQuery | EmbeddedHistoryQuery
        if plan is None:
            made = super().query(text, name, algorithm, store)
        else:
            with self._knowing_functions():
                made = self._begun(plan_from_json(plan), name)
        is_named = name is not None if has_name is None else has_name
        self._asked[made.name] = Asked(text, printed(text), algorithm, store, is_named)
        self._handed_out.discard(made.name)
        return made

    def _new_query(self, *given: Any, **named: Any) -> EmbeddedQuery:
        return DurableQuery(self, *given, **named)

    def _running_as(self, asked: Asked, name: str | None) -> Any:
        """The query that was registered so before, if it runs."""
        running = self._queries_by_name()
        if name is not None:
            if name in running and self._asked[name] != asked:
                raise declared_otherwise("query", name)
            return running.get(name)
        same = (each for each in running if self._asked[each] == asked)
        return next((running[each] for each in same if each not in self._handed_out), None)

    def _check_takes_state(self) -> None:
        raise UnsupportedError(
            "WU311",
            "a query of a durable session cannot begin with the state of another session: its log "
            "has what was pushed, and no states",
            hint="import the state into a session without path=",
        )

    def has(self, query: Query) -> bool:
        """Whether that is the query of its name."""
        return self._queries_by_name().get(query.name) is query

    def _queries_by_name(self) -> dict[str, Any]:
        self.journal.check()
        return super()._queries_by_name()
