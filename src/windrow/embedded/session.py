"""The session in this process: streams, queries, and the clock that moves them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from windrow.asking import Asking
from windrow.clocks import ARRIVAL, COMPLETE, check_lateness, clock_named
from windrow.deferred import deferred
from windrow.embedded.growth_warning import warn_of_growth
from windrow.embedded.history_registry import Histories
from windrow.embedded.ingest import Ingest
from windrow.embedded.kept_for import fill, keeps_for
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.query_events import QueryEvents
from windrow.embedded.session_budget import SessionBudget
from windrow.embedded.session_carryover import SessionCarryover
from windrow.embedded.session_reports import SessionReports
from windrow.embedded.session_sinks import SessionSinks
from windrow.embedded.session_sources import SessionSources
from windrow.embedded.session_tables import SessionTables
from windrow.embedded.session_time import SessionTime
from windrow.embedded.session_views import SessionViews, name_taken
from windrow.embedded.unread_answers import UNREAD_FLOOR, UNREAD_PARTS
from windrow.errors import DataError
from windrow.event_time import span_of
from windrow.giving_functions import GivingFunctions
from windrow.memory_size import DEFAULT_MEMORY, memory_of
from windrow.named_parts import NamedParts
from windrow.notebook.cards import session_card
from windrow.plan.catalog import Catalog
from windrow.plan.history_binder import bind_history
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.history_refusals import reads_history
from windrow.plan.history_schema import HistorySchema, LevelSpans, declared_history
from windrow.plan.refusals import one_select
from windrow.plan.relations.planner import plan_query
from windrow.plan.session_zone import DEFAULT_ZONE, checked_zone
from windrow.rows.given_rows import Rows
from windrow.schema import StreamSchema, columns_of, max_ahead_of
from windrow.sql import parse_query
from windrow.sql.double_quotes import double_quotes_named, names_in_backquotes
from windrow.sql.statements import QueryText, Select
from windrow.stream_options import Span, stream_options

if TYPE_CHECKING:
    from windrow.carryover.carryover import Carryover
    from windrow.carryover.fitting import fitted
    from windrow.connectors.contract import Source
    from windrow.embedded.feeding import Feeding
    from windrow.embedded.history_query import EmbeddedHistoryQuery
    from windrow.metrics_server import MetricsServer
    from windrow.plan.relations.tree_plan import RunnablePlan
else:
    fitted = deferred("windrow.carryover.fitting", "fitted")
    MetricsServer = deferred("windrow.metrics_server", "MetricsServer")

__all__ = ["EmbeddedSession"]


class EmbeddedSession(
    GivingFunctions,
    SessionSinks,
    SessionReports,
    SessionTime,
    SessionSources,
    SessionTables,
    SessionCarryover,
    SessionBudget,
    NamedParts,
    Asking,
):
    """Continuous queries in this process.

    >>> session = EmbeddedSession(memory="64 MB")
    >>> session.stream("s", "ts timestamp, x int", time="ts")
    >>> query = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]")
    >>> session.push("s", [{"ts": "2026-01-01", "x": 1}])
    >>> session.finish()
    >>> query.result().to_pylist()
    [{'n': 1}]
    """

    _ingest_kind: type[Ingest] = Ingest

    def __init__(
        self,
        memory: str | int = DEFAULT_MEMORY,
        clock: str = COMPLETE,
        time_zone: str = DEFAULT_ZONE,
        double_quotes: str = "text",
    ) -> None:
        budget = memory_of(memory)
        self._double_quotes = double_quotes_named(double_quotes)
        self._clock = clock_named(clock)
        self._lock = threading.RLock()
        self._servers: list[MetricsServer] = []
        self._is_stopped = False
        self.alert_runs, self._listeners = {}, []
        self._sources: dict[str, Source] = {}
        self._feeding: Feeding | None = None
        self._catalog = Catalog(time_zone=checked_zone(time_zone))
        self._queries: dict[str, EmbeddedQuery] = {}  # those that run, by name
        self._unnamed = 0  # names that were made up so far
        self._histories = Histories(max(budget // UNREAD_PARTS, UNREAD_FLOOR))
        # By arrival several steps may be of one instant: then views are parts of their queries.
        self._shares_views = self._clock != ARRIVAL
        beside = (self._running, self._histories, budget)
        self._ingest = self._ingest_kind(self._lock, *beside, is_by_arrival=not self._shares_views)
        self._flush = self._ingest.flush
        self._governing = self._ingest.governing
        views = (lambda: self._catalog, self._running, self._rate_of, self._ingest.tables)
        self._views = SessionViews(self._ingest, *views)

    @one_at_a_time
    def stream(
        self,
        name: str,
        schema: Mapping[str, str] | str | pa.Schema,
        *,
        time: str,
        lateness: str | int | float = 0,
        source: object = None,
        on_bad_row: str = "auto",
        max_ahead: str | int | float | timedelta | None = "auto",
        bad_rows_into: str | os.PathLike[str] | None = None,
        unit: str | None = None,
        idle_after: Span | None = None,
        keep: Span | None = None,
        unknown_fields: str = "auto",
    ) -> None:
        """Declare a stream: its columns, which of them is event time, how late rows may come.

        source: where its rows come from once run() or start_sources() is called, such as
        windrow.sources.jsonl("log", follow=True); others are pushed.
        on_bad_row: 'fail' refuses a push with a value that its column cannot hold, 'set aside'
        takes the other rows; 'auto' refuses, but sets damaged rows aside. bad_rows_into: a folder
        for all bad rows. max_ahead: rows further ahead of the others, or of the clock on the wall,
        are set aside; 'auto': those a day ahead of the clock, None none. unit: of times that are
        numbers since 1970: 's', 'ms', 'us' or 'ns'. idle_after: after so long without rows, by the
        clock on the wall, the stream holds nothing back. keep: for so long rows are kept for later
        queries and ask(). unknown_fields: 'ignore' or 'refuse' fields that are no columns; 'auto'
        refuses those of a push.

        >>> session = EmbeddedSession()
        >>> session.stream("temp", "ts timestamp, celsius double", time="ts", lateness="5 seconds")
        >>> session.stream("smoke", {"ts": "timestamp", "strength": "double"}, time="ts")
        """
        into = None if bad_rows_into is None else os.fspath(bad_rows_into)
        options = stream_options(name, unit, idle_after, keep, unknown_fields)
        taking = (on_bad_row, max_ahead_of(max_ahead), into, options)
        declared = StreamSchema(name, columns_of(schema), time, span_of(lateness), *taking)
        check_lateness(self._clock, name, declared.lateness_us)
        read = None if source is None else self._checked_source(declared, source)
        self._declare_stream(declared)
        if read is not None:
            self._sources[name] = read

    def _declare_stream(self, declared: StreamSchema) -> None:
        self._catalog = self._catalog.with_stream(declared)
        self._ingest.declare(declared)

    @one_at_a_time
    def view(self, name: str, text: str) -> None:
        """Give a query a name under which other queries can read it.

        It runs, once, while at least one query reads it.

        >>> session = EmbeddedSession()
        >>> session.stream("s", "ts timestamp, k string", time="ts")
        >>> session.view("busy", "SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k")
        >>> session.query("SELECT MAX(n) AS n FROM busy").result().to_pylist()
        [{'n': None}]
        """
        self._declare_view(name, names_in_backquotes(text, self._double_quotes))

    def _declare_view(self, name: str, plain: str) -> None:
        with self._knowing_functions():
            self._catalog = self._views.declared(name, plain, self._queries)

    @one_at_a_time
    def query(
        self, text: str, name: str | None = None, algorithm: str = "auto", store: str = "auto"
    ) -> EmbeddedQuery | EmbeddedHistoryQuery:
        """Register a continuous query; it sees the rows that come from now on.

        Of streams with keep= it begins with the rows that these have kept.

        One of HISTORY(s) [FROM ... TO NOW] sees what the history has, too; it is an
        EmbeddedHistoryQuery, with the same methods for its readers.

        >>> session = EmbeddedSession()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> largest = session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]", name="largest")
        >>> largest.name
        'largest'
        >>> top = session.query("SELECT x FROM s [1 MINUTE] ORDER BY x DESC LIMIT 3")
        >>> top.explain().splitlines()[0]
        'tree over 1 window'
        """
        select = parse_query(names_in_backquotes(text, self._double_quotes))
        if isinstance(select, Select) and reads_history(select):
            return self._follow(select, name)
        with self._knowing_functions():
            return self._registered(select, name, algorithm, store)

    def _registered(
        self,
        select: QueryText,
        name: str | None,
        algorithm: str,
        store: str,
        carried: Carryover | None = None,
    ) -> EmbeddedQuery:
        # What goes on from a carryover has no views beside it: they are parts of it.
        how = {"shares_views": self._shares_views and carried is None}
        plan = plan_query(select, self._catalog, algorithm, store, **how)
        return self._begun(plan, name, carried)

    def _begun(
        self, plan: RunnablePlan, name: str | None, carried: Carryover | None = None
    ) -> EmbeddedQuery:
        name = self._free_name(name)
        self._flush()
        if carried is not None:
            carried = fitted(carried, plan)
            self._check_streams(carried)
        warn_of_growth(name, plan)
        clock = self._ingest.clock_for(plan)
        # Constants read no stream; their answer holds from the start of time on.
        first = self._ingest.streams[plan.streams[0]] if plan.streams else None
        first_us = None if first is None else first.first_us
        if carried is not None and plan.streams:
            first_us = carried.streams[plan.streams[0]].first_us
        views = self._views.runs_for(plan, clock)
        beside = (self._flush, self._lock, self._ingest.pool, first_us, self._ended)
        begins_full = carried is not None or keeps_for(self._ingest.streams, plan)
        tables = self._ingest.tables.read_by(plan)
        query = self._new_query(name, plan, clock, *beside, views, tables, begins_full=begins_full)
        query.events = QueryEvents(query, self._ingest)
        self._governing.limit(query)
        try:
            self._queries[name] = query
            self._views.admit()
            self._governing.admit(query, self._rate_of)
            if first is not None:
                self._histories.complete(query, plan.streams[0], first.completeness.newest + 1)
            self._governing.started(query, self._rate_of)
            if carried is not None:
                self._carry_on(query, carried)
                self._governing.after_step()
            elif begins_full:
                fill(self._ingest.streams, query, clock)
                self._governing.after_step()
        except BaseException:
            # Nobody has it: whatever has come in between, it is as if it had never been asked for.
            query.stop()
            raise
        return query

    def _new_query(self, *given: Any, **named: Any) -> EmbeddedQuery:
        return EmbeddedQuery(*given, **named)

    def plan_of(self, text: str) -> RunnablePlan | HistoryPlan:
        """The bound plan of a query, or of a question about the past; nothing is registered."""
        select = parse_query(names_in_backquotes(text, self._double_quotes))
        if not isinstance(select, Select) or not reads_history(select):
            with self._knowing_functions():
                return plan_query(select, self._catalog, shares_views=self._shares_views)
        schemas, goes_on = self._histories.schemas, select.every_us is not None
        return bind_history(select, self._catalog, schemas, continuous=goes_on)

    def push(self, stream: str, rows: Rows) -> None:
        """Give rows to a stream: Arrow, pandas, Polars, DuckDB, dicts, or a dict of columns.

        A tuple is one row: its values in the order of the stream's columns.

        >>> session = EmbeddedSession()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> session.push("s", {"ts": "2026-01-01 00:00:01", "x": 1})
        >>> session.push("s", [{"ts": "2026-01-01 00:00:02", "x": 2}])
        >>> session.push("s", {"ts": ["2026-01-01 00:00:03"] * 2, "x": [3, 4]})
        >>> session.push("s", ("2026-01-01 00:00:04", 5))
        >>> session.ledger()["rows_in"].to_pylist()
        [5]
        """
        with self._lock:
            if self._is_stopped:
                self._check_open(stream)
            self._ingest.push(stream, rows)

    @property
    def lock(self) -> threading.RLock:
        """Held by who uses the session in another thread: calls within it see one moment."""
        return self._lock

    @one_at_a_time
    def serve_metrics(self, port: int = 0, host: str = "127.0.0.1") -> MetricsServer:
        """Answers GET /metrics until the session is stopped; port 0: any that is free.

        >>> session = EmbeddedSession()
        >>> server = session.serve_metrics()
        >>> server.address.endswith("/metrics")
        True
        >>> session.stop()
        """
        self._servers.append(MetricsServer(self.metrics, host, port))
        return self._servers[-1]

    @one_at_a_time
    def _repr_html_(self) -> str:
        return session_card("in this process", self.nbytes, self)

    @property
    @one_at_a_time
    def nbytes(self) -> int:
        """Bytes of windows, keys, sums and results, of what is unread, and of histories."""
        if self._ingest.has_batches:
            self._flush()
        return self._governing.nbytes

    @one_at_a_time
    def history(
        self,
        stream: str,
        *,
        measures: Iterable[str] = (),
        by: Iterable[str] = (),
        levels: LevelSpans,
        quantiles: Iterable[str] = (),
        distincts: Iterable[str] = (),
        split_above: int | None = None,
        archive: str | os.PathLike[str] | None = None,
    ) -> None:
        """Keep the past of a stream: aggregates of measures, by keys, at several granularities.

        levels: pairs of spans, a granularity and how long it is kept (None or "forever": for ever),
        from fine to coarse. quantiles and distincts: columns with sketches, for APPROX_PERCENTILE
        and COUNT(DISTINCT). archive: a new directory for what leaves memory and stays answerable.

        >>> session = EmbeddedSession()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> levels = [("1 second", "1 hour"), ("1 minute", "forever")]
        >>> session.history("s", measures=["x"], levels=levels)
        >>> session.histories()["levels"].to_pylist()
        [['1 second for 1 hour', '1 minute for ever']]
        """
        schema = self._ingest.stream(stream).schema
        self._flush()
        declared = declared_history(schema, measures, by, levels, quantiles, distincts, split_above)
        self._declare_history(declared, archive)

    def _declare_history(
        self, declared: HistorySchema, archive: str | os.PathLike[str] | None
    ) -> None:
        schema = declared.stream
        self._histories.declare(declared, self._ingest.streams[schema.name], archive)
        for query in self._running():
            if query.plan.streams == (schema.name,):
                self._histories.complete(query, schema.name)

    @one_at_a_time
    def _ask(self, text: str, progressive: bool) -> pa.Table | Iterator[pa.Table]:
        query = parse_query(names_in_backquotes(text, self._double_quotes))
        if not isinstance(query, Select) or not reads_history(query):
            with self._knowing_functions():
                return self._views.ask(query, is_progressive=progressive)
        plan = bind_history(one_select(query), self._catalog, self._histories.schemas)
        self._flush()
        if progressive:
            return self._one_by_one(self._histories.ask_progressively(plan))
        return self._histories.ask(plan)

    def _one_by_one(self, answers: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """Each is computed on request, while nobody else changes anything."""
        while True:
            with self._lock:
                answer = next(answers, None)
            if answer is None:
                return
            yield answer

    @property
    def past(self) -> Histories:
        """The histories themselves, for who draws them; to be used within the lock."""
        return self._histories

    def stop(self) -> None:
        """End all queries; sources are read no further, and no more rows are taken.

        >>> session = EmbeddedSession()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> count = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]")
        >>> session.stop()
        >>> count.is_running
        False
        """
        self.stop_sources()
        with self._lock:
            self._end_all()

    def _end_all(self) -> None:
        self._close_sinks()
        for query in [*self._queries.values()]:
            query.stop()
        self._histories.stop()
        while self._servers:
            self._servers.pop().close()
        self._is_stopped = True

    def _check_open(self, stream: str) -> None:
        """Rows and heartbeats are refused where nothing would come of them."""
        if self._is_stopped:
            raise DataError(
                "WD121",
                f"the session is stopped and accepts no more rows of {stream!r}",
                hint="push() before stop(), or connect() a new session",
            )
        self._ingest.open_stream(stream)

    def _follow(self, select: Select, name: str | None) -> EmbeddedHistoryQuery:
        """Register a continuous query about the past."""
        schemas = self._histories.schemas
        plan = bind_history(select, self._catalog, schemas, continuous=True)
        name = self._free_name(name)
        self._flush()
        return self._histories.follow(name, plan, self._flush, self._lock)

    def _free_name(self, name: str | None) -> str:
        """A name that no running query has; without one, the next that is made up."""
        while name is None:
            self._unnamed += 1
            made_up = f"query{self._unnamed}"
            name = None if self._is_taken(made_up) else made_up
        if self._is_taken(name):
            raise name_taken(name, "query" if self._catalog.view(name) is None else "view")
        return name

    @one_at_a_time
    def _queries_by_name(self) -> dict[str, Any]:
        self._running()
        return {**self._histories.followed(), **self._queries}

    @one_at_a_time
    def views(self) -> pa.Table:
        """One row per view that was declared: its text, who reads it, its rows and bytes.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, k int", time="ts")
        >>> session.view("busy", "SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k")
        >>> query = session.query("SELECT MAX(n) AS n FROM busy", name="most")
        >>> session.views().select(["view", "readers", "rows"]).to_pylist()
        [{'view': 'busy', 'readers': ['most'], 'rows': 0}]
        """
        self._flush()
        return self._views.table()

    def _is_taken(self, name: str) -> bool:
        known = self._queries.get(name)
        is_used = self._catalog.view(name) is not None or self._histories.is_followed_by(name)
        return is_used or (known is not None and known.is_running)

    def _ended(self, query: EmbeddedQuery) -> None:
        """A query was stopped: who holds it can read what it has answered; nobody else needs it."""
        if self._queries.get(query.name) is query:
            del self._queries[query.name]
        self._governing.ended(query)
        self._views.forget()

    def _rate_of(self, stream: str, range_us: int) -> float:
        return self._ingest.streams[stream].rate_for(range_us)

    def _running(self) -> list[EmbeddedQuery]:
        running = [query for query in self._queries.values() if query.reading.is_running]
        if len(running) < len(self._queries):  # the life of some is over
            self._queries = {query.name: query for query in running}
        return self._views.before(running) if self._views.registry.running else running
