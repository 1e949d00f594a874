"""The session on Spark: streams are streaming DataFrames, each query is a Spark streaming query."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from time import monotonic
from typing import Protocol, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.asking import Asking
from windrow.connectors.contract import Source
from windrow.connectors.spark_columns import columns_of_frame
from windrow.connectors.spark_frames import source_frame
from windrow.connectors.spark_times import with_instants
from windrow.errors import BindingError, UnsupportedError
from windrow.event_time import instant_of, is_plausible, span_of
from windrow.giving_functions import GivingFunctions
from windrow.memory_size import memory_of
from windrow.metrics_server import MetricsServer
from windrow.named_parts import NamedParts
from windrow.notebook.cards import session_card
from windrow.plan.catalog import Catalog
from windrow.plan.history_binder import bind_history
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.history_refusals import reads_history
from windrow.plan.history_schema import LevelSpans, declared_history
from windrow.plan.refusals import one_select
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.plan.session_zone import DEFAULT_ZONE, checked_zone
from windrow.schema import StreamSchema, columns_of, max_ahead_of
from windrow.sources import source_given
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint, session_mark
from windrow.spark.cluster import check_executors, refuse_temporary
from windrow.spark.driver.batch_gate import STOP_TIMEOUT_S
from windrow.spark.driver.bundle_registry import BundleRegistry
from windrow.spark.driver.continuous_questions import ContinuousQuestions
from windrow.spark.driver.governing import Governing
from windrow.spark.driver.history import HistoryRun
from windrow.spark.driver.history_query import SparkHistoryQuery
from windrow.spark.driver.history_registry import HistoryRegistry
from windrow.spark.driver.inlined_views import InlinedViews
from windrow.spark.driver.query import SparkQuery
from windrow.spark.driver.question_run import QuestionRun
from windrow.spark.driver.session_carryover import SparkSessionCarryover
from windrow.spark.driver.session_reports import SparkSessionReports
from windrow.spark.driver.session_tables import SparkSessionTables
from windrow.spark.driver.table_feed import TableFeed
from windrow.spark.monitoring.session_metrics import SessionMetrics
from windrow.spark.processes.leftovers import temporary_folder
from windrow.spark.processes.usable import advise, refuse_stopped, refuse_unusable
from windrow.spark.shuffle.buckets import MAX_BUCKETS
from windrow.sql import parse_query
from windrow.sql.double_quotes import double_quotes_named, names_in_backquotes
from windrow.sql.statements import Select
from windrow.storage import Storage
from windrow.stream_options import Span, on_spark, stream_options

__all__ = ["SparkSession", "SparkWindrowSession"]

_QUERY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\Z")


class Stoppable(Protocol):
    """What a session stops with itself."""

    def stop(self, timeout: float) -> None:
        """Stops it; timeout: how many seconds it waits for batches in flight."""


class SparkWindrowSession(
    GivingFunctions,
    SparkSessionReports,
    SparkSessionCarryover,
    InlinedViews,
    ContinuousQuestions,
    SparkSessionTables,
    NamedParts,
    Asking,
):
    """What windrow.connect(spark) returns.

    Example::

        session = windrow.connect(spark, checkpoint="checkpoint")
        session.stream("temp", frame, time="ts", lateness="10 seconds")
        text = "SELECT COUNT(*) AS n FROM temp [10 MINUTES]"
        query = session.query(text, name="count").start("memory")
    """

    def __init__(
        self,
        spark: SparkSession,
        memory: str | int = "1 GB",
        checkpoint: str | os.PathLike[str] | None = None,
        buckets: int | None = None,
        time_zone: str = DEFAULT_ZONE,
        double_quotes: str = "text",
    ) -> None:
        refuse_unusable(spark)
        self._double_quotes = double_quotes_named(double_quotes)
        if buckets is not None and not 1 <= buckets <= MAX_BUCKETS:
            raise BindingError(
                "WB417",
                f"{buckets} is not a possible number of buckets",
                hint=f"give 1 to {MAX_BUCKETS}",
            )
        self._bytes = memory_of(memory)
        self._spark = spark
        self._buckets = buckets
        if not checkpoint:
            refuse_temporary(spark)
        self._temporary = None if checkpoint else temporary_folder()
        self._root = Storage(os.fspath(checkpoint or self._temporary or ""))
        check_executors(spark, self._root)
        advise(spark)
        self._catalog = Catalog(time_zone=checked_zone(time_zone))
        self._sources: dict[str, DataFrame] = {}
        self._tables: dict[str, TableFeed] = {}
        self._queries: dict[str, SparkQuery] = {}
        self._questions: dict[str, SparkHistoryQuery] = {}
        self._governing = Governing(self._bytes, self._running, self._bytes_of_questions)
        self._histories = HistoryRegistry(spark, self._root, buckets)
        heard = (session_mark(self._root), self._operator_members, self._other_runs)
        self._metrics = SessionMetrics(spark, self._queries, self._bytes, *heard)
        together = (self._sources, buckets, self._governing.after_batch)
        is_lasting = self._temporary is None
        self._bundles = BundleRegistry(spark, self._root, *together, is_lasting=is_lasting)

    def stream(
        self,
        name: str,
        schema: DataFrame | Mapping[str, str] | str | pa.Schema,
        *,
        time: str,
        lateness: str | int | float = 0,
        source: Source | None = None,
        on_bad_row: str = "auto",
        max_ahead: str | int | float | timedelta | None = "auto",
        unit: str | None = None,
        idle_after: Span | None = None,
        keep: Span | None = None,
        unknown_fields: str = "auto",
    ) -> None:
        """Declares a stream: its rows, its time column, and how late rows may come.

        schema: a streaming DataFrame; or, with source=windrow.sources..., the columns. on_bad_row:
        'fail' ends queries at a value that its column cannot hold, 'set aside' counts the row and
        goes on; 'auto' fails, but sets damaged rows aside. max_ahead: rows further ahead of the
        others, or of the clock on the wall, are set aside; 'auto': those a day ahead of the clock.
        unit: of times that are numbers since 1970: 's', 'ms', 'us' or 'ns'. idle_after, keep and
        unknown_fields="refuse" are refused: only a session in this process has them.

        Example::

            session.stream("temp", spark_streaming_dataframe, time="ts", lateness="10 seconds")
            source = windrow.sources.parquet("data/smoke")
            session.stream("smoke", "ts timestamp, strength double", time="ts", source=source)
        """
        if source is None:
            columns, frame = columns_of_frame(name, schema), cast("DataFrame", schema)
        else:
            refuse_stopped(self._spark)
            columns = columns_of(schema)
        options = on_spark(name, stream_options(name, unit, idle_after, keep, unknown_fields))
        taking = (on_bad_row, max_ahead_of(max_ahead), None, options)
        declared = StreamSchema(name, columns, time, span_of(lateness), *taking)
        if source is not None:
            frame = source_frame(self._spark, declared, source_given(source))
        else:
            frame = with_instants(frame, declared)
        self._catalog = self._catalog.with_stream(declared)
        self._sources[declared.name] = frame

    def query(
        self, text: str, name: str | None = None, algorithm: str = "auto", store: str = "auto"
    ) -> SparkQuery | SparkHistoryQuery:
        """Registers a query; start(sink) on the returned query starts it.

        Example::

            count = session.query("SELECT COUNT(*) AS n FROM temp [1 MINUTE]", name="count")
            count.start("memory", trigger="1 second")
        """
        plain = names_in_backquotes(text, self._double_quotes)
        select = parse_query(plain)
        if isinstance(select, Select) and reads_history(select):
            return self._follow(select, plain, self._new_name(name))
        with self._knowing_functions():
            plan = plan_on_spark(select, self._catalog, algorithm, store)
        chosen = self._new_name(name)
        query = SparkQuery(
            self._spark,
            chosen,
            plan,
            self._sources,
            QueryCheckpoint(self._root, chosen, is_lasting=self._temporary is None),
            self._buckets,
            self._governing,
            self._bundles.runs,
            self._tables,
        )
        self._governing.admit(query)
        self._queries[chosen] = query
        self._metrics.follow()
        return query

    def _new_name(self, name: str | None) -> str:
        known = self._queries_by_name()
        chosen = name or f"query{len(known) + 1}"
        if not _QUERY_NAME.match(chosen):
            raise BindingError(
                "WB418",
                f"{chosen!r} cannot be the name of a query on Spark, where it becomes a directory",
                hint="use letters, digits, '_', '-' and '.', at most 100",
            )
        if chosen in known:
            message = f"there already is a query {chosen!r}"
            raise BindingError("WB419", message, hint="choose another name")
        return chosen

    def start(
        self, queries: Mapping[str, object], trigger: str | None = None
    ) -> dict[str, SparkQuery | SparkHistoryQuery]:
        """Starts queries, by name with their sinks, in as few Spark queries as can be.

        Those that read the same streams and can be partitioned by a common key run in one operator,
        on one copy of the rows; so do those that are started later, from the next batch on. The
        others run on their own. A sink None ends a query that the checkpoint still runs.

        Example::

            session.start({"count": "memory", "alarms": windrow.sinks.parquet("alarms")})
        """
        named = [(self._named(name), sink) for name, sink in queries.items() if sink is not None]
        for query, _ in named:
            if query.is_running:
                raise BindingError(
                    "WB412", f"query {query.name!r} is running already", hint="stop() it first"
                )
        given = [(query, sink) for query, sink in named if isinstance(query, SparkQuery)]
        ends = [name for name, sink in queries.items() if sink is None]
        for name in set(ends).difference(self._bundles.recorded()):
            self._named(name)  # whom nobody knows cannot be ended
        alone = self._bundles.start(given, trigger, ends)
        for query, sink in given:
            if query in alone:
                query.start(sink, trigger)
            else:
                self._governing.started(query)
        for query, sink in named:
            if isinstance(query, SparkHistoryQuery):
                query.start(sink, trigger)
        known = self._queries_by_name()
        return {name: known[name] for name in queries if name in known}

    def recorded(self) -> list[str]:
        """Queries that share operators by the checkpoint, which start() must be told of.

        Example::

            session.recorded()
        """
        return self._bundles.recorded()

    def _queries_by_name(self) -> dict[str, SparkQuery | SparkHistoryQuery]:
        return {**self._queries, **self._questions}

    def _named(self, name: str) -> SparkQuery | SparkHistoryQuery:
        queries = self._queries_by_name()
        if name not in queries:
            known = ", ".join(queries) or "none"
            raise BindingError(
                "WB452",
                f"there is no query {name!r}",
                hint=f"register it with query(text, name); there are: {known}",
            )
        return queries[name]

    def plan_of(self, text: str) -> RunnablePlan | HistoryPlan:
        """The bound plan of a query, or of a question about the past; nothing is registered.

        Example::

            session.plan_of("SELECT COUNT(*) AS n FROM temp [1 MINUTE]").streams
        """
        select = parse_query(names_in_backquotes(text, self._double_quotes))
        if isinstance(select, Select) and reads_history(select):
            schemas, goes_on = self._histories.schemas, select.every_us is not None
            return bind_history(select, self._catalog, schemas, continuous=goes_on)
        with self._knowing_functions():
            return plan_on_spark(select, self._catalog, "auto", "auto")

    def push(self, stream: str, rows: object) -> None:  # noqa: ARG002 - as in the embedded session
        """Refused: on Spark rows come from the streaming DataFrame.

        Example::

            session.push("temp", [])
        """
        raise UnsupportedError(
            "WU413",
            f"rows cannot be pushed into stream {stream!r} on Spark",
            hint="write them where its DataFrame reads from, or connect() without Spark",
        )

    def advance(self, stream: str, *, to: str | int | datetime) -> None:
        """Event time of the stream moves on without rows: it is complete through that instant.

        Example::

            session.advance("temp", to="2026-01-01 12:00:00")
        """
        name = self._catalog.stream(stream).name
        instant_us = instant_of(to)
        if not is_plausible(instant_us):
            raise BindingError(
                "WB420", f"{to!r} is not a plausible event time", hint="use years 1 to 2199"
            )
        for query in self._reading(name):
            if not query.is_bundled:
                query.advance(name, instant_us)
        self._bundles.advance(name, instant_us)
        for question in self._questions_of(name):
            question.advance(name, instant_us)
        self._histories.advance(name, instant_us)

    def finish(self) -> None:
        """Completes all streams once queries and histories have worked through what is there.

        Example::

            session.finish()
        """
        for query in self._queries.values():
            if not query.is_bundled:
                query.finish()
        self._bundles.finish()
        for question in self._questions.values():
            question.finish()
        self._histories.finish()

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
        trigger: str | None = None,
    ) -> None:
        """Keeps the past of a stream: aggregates of measures, by keys, at several granularities.

        It is a streaming query of its own, which runs at once, from the start of the source or from
        where the checkpoint stopped. levels: pairs of spans, a granularity and how long it is kept
        (None or "forever": for ever), from fine to coarse. quantiles and distincts: columns with
        sketches. archive: a new directory, seen by all workers, for what leaves memory and stays
        answerable. trigger: the span between batches.

        Example::

            levels = [("1 second", "10 minutes"), ("1 minute", "forever")]
            session.history("temp", measures=["celsius"], levels=levels)
        """
        schema = self._catalog.stream(stream)
        declared = declared_history(schema, measures, by, levels, quantiles, distincts, split_above)
        self._metrics.follow()
        self._histories.declare(declared, self._sources[schema.name], archive, trigger)

    def _ask(self, text: str, progressive: bool) -> pa.Table | Iterator[pa.Table]:
        plan = bind_history(
            one_select(parse_query(names_in_backquotes(text, self._double_quotes))),
            self._catalog,
            self._histories.schemas,
        )
        if progressive:
            return self._histories.ask_progressively(plan)
        return self._histories.ask(plan)

    @property
    def memory(self) -> int:
        """The budget in bytes."""
        return self._bytes

    @memory.setter
    def memory(self, memory: str | int) -> None:
        del memory
        raise UnsupportedError(
            "WU312",
            "the memory of a session on Spark cannot be changed while it runs: batches that are "
            "replayed have to decide as before",
            hint="start the queries again from their checkpoints, in a session with more memory=",
        )

    @property
    def past(self) -> HistoryRegistry:
        """The histories themselves."""
        return self._histories

    def _repr_html_(self) -> str:
        return session_card("on Spark", None, self)

    def metrics(self) -> str:
        """How the session stands, as Prometheus reads it.

        Example::

            print(session.metrics())
        """
        return self._metrics.text()

    def serve_metrics(self, port: int = 0, host: str = "127.0.0.1") -> MetricsServer:
        """Answers GET /metrics until the session is stopped; port 0: any that is free.

        Example::

            session.serve_metrics(port=9090).address
        """
        return self._metrics.serve(host, port)

    def stop(self, timeout: float = STOP_TIMEOUT_S) -> None:
        """Stops all queries and histories; a temporary checkpoint is removed.

        timeout: how many seconds it waits in all for batches in flight, so that none is repeated.

        Example::

            session.stop(timeout=10)
        """
        deadline = monotonic() + timeout

        def stop(part: Stoppable) -> None:
            part.stop(max(0.0, deadline - monotonic()))

        # All of it is done, from the last to the first, though a part of it may fail.
        with ExitStack() as stopping:
            if self._temporary is not None:
                stopping.callback(shutil.rmtree, self._temporary, ignore_errors=True)
            stopping.callback(self._metrics.close)
            stopping.callback(stop, self._histories)
            stopping.callback(stop, self._bundles)
            for query in self._queries.values():
                if not query.is_bundled:
                    stopping.callback(stop, query)
            for question in self._questions.values():
                stopping.callback(stop, question)

    def _other_runs(self) -> dict[str, HistoryRun | QuestionRun]:
        """What runs besides queries over windows, by the names that people read."""
        questions = {name: question.run for name, question in self._questions.items()}
        return {**self._histories.runs, **questions}

    def _operator_members(self, operator: str) -> list[str]:
        return self._bundles.members(operator)

    def _running(self) -> list[SparkQuery]:
        return [query for query in self._queries.values() if query.is_running]
