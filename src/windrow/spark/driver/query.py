"""The handle of one query on Spark: started with a sink, followed, stopped, started again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from windrow.errors import BindingError
from windrow.event_time import show_instant
from windrow.notebook.plan_text import PlanText
from windrow.plan.planned_query import PlannedQuery
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.query import Query
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.batch_gate import STOP_TIMEOUT_S
from windrow.spark.driver.bundle import Bundle
from windrow.spark.driver.governed_windows import window_rows_of
from windrow.spark.driver.governing import Governing
from windrow.spark.driver.query_outlet import QueryOutlet
from windrow.spark.driver.query_routing import NO_SPLIT
from windrow.spark.driver.query_run import QueryRun
from windrow.spark.driver.query_widths import QueryWidths
from windrow.spark.driver.streaming_run import StreamingRun
from windrow.spark.driver.table_feed import TableFeed
from windrow.spark.driver.triggers import trigger_options
from windrow.spark.monitoring.progress import progress_of
from windrow.spark.monitoring.query_account import ledger_of
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.shuffle.splitting import Split
from windrow.windows.lifetime import Lifetime

__all__ = ["SparkQuery"]


class SparkQuery(PlannedQuery, Query):
    """One query of a session on Spark; it does nothing until it is started.

    Example::

        query = session.query("SELECT COUNT(*) AS n FROM temp [1 MINUTE]")
        query.start("memory", trigger="1 second").await_end(timeout=5)
        query.answers()
    """

    plan: RunnablePlan

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        plan: RunnablePlan,
        sources: Mapping[str, DataFrame],
        checkpoint: QueryCheckpoint,
        buckets: int | None,
        governing: Governing,
        is_recorded: Callable[[str], bool],
        tables: Mapping[str, TableFeed],
    ) -> None:
        super().__init__(name, threading.RLock())
        self.plan = plan
        self._checkpoint = checkpoint
        self._governing = governing
        self._is_recorded = is_recorded  # whether the checkpoint runs it in a shared operator
        self._widths = QueryWidths(plan, checkpoint.control)
        self._outlet = QueryOutlet(name, plan)
        place = (sources, checkpoint, buckets, governing.after_batch, tables)
        self._own = QueryRun(spark, plan, self._outlet, *place)
        self._bundle: Bundle | None = None
        self._started: tuple[object, str | None] = (None, None)

    def start(
        self, sink: object, trigger: str | None = None, split: Split | None = None
    ) -> SparkQuery:
        """Starts the query and returns at once.

        trigger: a span such as '1 second' between batches, 'available' to run through what is there
        and end, or None for a batch whenever there is something new. split: by alias, keys whose
        rows of this input are spread over all buckets; they stay so when it is started again.

        Example::

            query.start(windrow.sinks.parquet("answers"), trigger="1 second")
        """
        if self.is_running:
            raise BindingError(
                "WB412", f"query {self.name!r} is running already", hint="stop() it first"
            )
        if self._is_recorded(self.name):
            raise BindingError(
                "WB453",
                f"by its checkpoint, query {self.name!r} runs in a shared operator",
                hint="start it with session.start({...}), together with the others there; or end "
                f"it there first: session.start({{{self.name!r}: None}})",
            )
        trigger_options(trigger)  # a span that is none is refused before anything is done
        self._leave_bundle()
        self._own.start(sink, trigger, split or NO_SPLIT)
        self._started = (sink, trigger)
        self._governing.started(self)
        return self

    @property
    def is_running(self) -> bool:
        """Whether Spark is at work on it."""
        bundle = self._bundle
        return self._own.is_running if bundle is None else bundle.runs(self._outlet)

    @property
    def run(self) -> StreamingRun:
        """What runs it on Spark: an operator of its own, or one that it shares."""
        return self._own if self._bundle is None else self._bundle

    def await_end(self, timeout: float | None = None) -> bool:
        """Waits until the query has ended, at most this many seconds; raises what it failed with.

        Example::

            query.await_end(timeout=10)
        """
        return self.run.await_end(timeout)

    def stop(self, timeout: float = STOP_TIMEOUT_S) -> None:
        """Stops the query; it can be restarted and resumes where it stopped.

        timeout: how many seconds it waits for the batch in flight, so that none is repeated.
        In an operator that it shares it ends for good, at an instant that is recorded; the others
        go on.

        Example::

            query.stop()
        """
        self._leave_bundle()
        was_running = self._own.is_active
        self._own.stop(timeout)
        if was_running:
            self._governing.ended(self)

    def advance(self, stream: str, instant_us: int) -> None:
        """Orders a heartbeat: the stream is complete through that instant."""
        self._own.advance(stream, instant_us)

    def finish(self) -> None:
        """Works through what is there, then completes all streams; the last answers come out."""
        self.run.finish()

    def _answers(self) -> pa.Table:
        return self._outlet.answers()

    def _result(self) -> pa.Table:
        return self._outlet.result()

    def _changes(self, limit: int | None) -> pa.Table:
        return self._outlet.changes(limit)

    def progress(self) -> dict[str, Any]:
        """How the query stands after its last batch.

        Example::

            query.progress()["is_running"]
        """
        rows = window_rows_of([self])
        return progress_of(self.name, self.status, self.is_running, self.run, rows, self.plan)

    def rows_read(self, batch_id: int) -> int | None:
        """How many rows a batch of its own run has read; None where only Spark knows."""
        return self._own.rows_read(batch_id)

    @property
    def status(self) -> QueryStatus:
        """The reports of the last batch, added up."""
        return self._outlet.status

    def tolerated_span_us(self) -> int:
        """How much narrower the window may be for answers within the tolerated error."""
        return self._widths.tolerated_span_us(self._outlet.publication)

    def rows_per_second(self, span_us: int) -> float:
        """Rows of a query with ERROR that came within a span, held by a window or not."""
        publication = self._outlet.publication
        return 0.0 if publication is None else publication.rows_per_second(span_us)

    def ordered_lifetime(self, input_index: int) -> Lifetime:
        """How long rows of an input stay, once all orders have reached the shards."""
        return self._widths.lifetime(self.status, input_index)

    @property
    def has_pending_order(self) -> bool:
        """Whether an order has not reached the shards yet."""
        return self._widths.is_pending(self.status)

    def order(self, lifetimes: Mapping[int, Lifetime]) -> None:
        """Let rows stay so long from the next batch on."""
        self._widths.order(self.status, lifetimes)

    def late(self, stream: str) -> pa.Table:
        """Late rows that this query has kept, of the columns that it reads.

        Example::

            query.late("temp").num_rows
        """
        return self._outlet.late(stream)

    def bad_time(self, stream: str) -> pa.Table:
        """Some of the rows whose time was missing or absurd.

        Example::

            query.bad_time("temp").num_rows
        """
        return self._outlet.bad_time(stream)

    def bad_rows(self, stream: str) -> pa.Table:
        """Some of the rows that were set aside because of a value, as text.

        Example::

            query.bad_rows("temp")["why"].to_pylist()
        """
        return self._outlet.bad_rows(stream)

    def ledger(self) -> pa.Table:
        """What became of the rows of each input: those that came on time, applied, set aside.

        Joined rows and groups that ON ERROR SET ASIDE left out have a row with an empty name.

        Example::

            query.ledger()["set_aside"].to_pylist()
        """
        return ledger_of(self.plan, self.status.account).table()

    def rows_set_aside(self) -> pa.Table:
        """The newest rows that ON ERROR SET ASIDE left out: which expression had no value, of what.

        Example::

            query.rows_set_aside()["expression"].to_pylist()
        """
        return ledger_of(self.plan, self.status.account).aside_table()

    def explain(self) -> str:
        """The plan, the algorithm and what it costs, from what running shards have measured.

        Example::

            print(query.explain())
        """
        return PlanText("\n".join([self._outlet.explain(), *self._own.routing.shown(self.status)]))

    def _facts(self) -> dict[str, str]:
        clock_us = self.status.clock_us
        return {"clock": "not begun" if clock_us is None else show_instant(clock_us)}

    def join(self, bundle: Bundle, sink: object, trigger: str | None) -> None:
        """The query runs in an operator that it shares from now on."""
        self._bundle, self._started = bundle, (sink, trigger)

    @property
    def started(self) -> tuple[object, str | None]:
        """The sink and the trigger that it was last started with."""
        return self._started

    @property
    def checkpoint(self) -> QueryCheckpoint:
        """That of its own run."""
        return self._checkpoint

    @property
    def has_begun_alone(self) -> bool:
        """Whether it has run in an operator of its own, by its checkpoint."""
        return self._checkpoint.claimed_buckets() is not None

    @property
    def is_bundled(self) -> bool:
        """Whether it runs in an operator that it shares."""
        return self._bundle is not None

    @property
    def outlet(self) -> QueryOutlet:
        """Where its answers go."""
        return self._outlet

    def _leave_bundle(self) -> None:
        if self._bundle is not None:
            was_running = self.is_running
            self._bundle.end(self._outlet)
            self._bundle = None
            if was_running:
                self._governing.ended(self)
