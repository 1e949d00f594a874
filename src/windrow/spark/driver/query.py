"""The handle of one query on Spark: started with a sink, followed, stopped, started again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.connectors.files.spark_files_read import check_files_read
from windrow.connectors.spark_frames import addresses_behind, check_reached
from windrow.errors import BindingError, WindrowError
from windrow.event_time import show_instant
from windrow.governor.bounded.inner_plan import inner_plan
from windrow.notebook.plan_text import PlanText
from windrow.plan.answer_shape import AnswerShape, answer_shape
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.query import Query
from windrow.rows.prepare import can_shard
from windrow.spark.checkpoint.driver_lease import DriverLease
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.spark_part import check_spark_part, last_offsets
from windrow.spark.driver.batch_gate import STOP_TIMEOUT_S, BatchGate
from windrow.spark.driver.bundle import Bundle
from windrow.spark.driver.failures import SPARK_FAILURES, failure_of
from windrow.spark.driver.first_start import FirstStart
from windrow.spark.driver.governed_windows import window_rows_of
from windrow.spark.driver.governing import Governing
from windrow.spark.driver.pipeline import shard_outputs, started_stream
from windrow.spark.driver.query_outlet import QueryOutlet
from windrow.spark.driver.query_routing import NO_SPLIT, QueryRouting
from windrow.spark.driver.query_widths import QueryWidths
from windrow.spark.driver.triggers import AVAILABLE, trigger_options
from windrow.spark.monitoring.progress import progress_of
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.processes.usable import refuse_stopped
from windrow.spark.settings import query_settings, settings_applied
from windrow.spark.shuffle.buckets import bucket_ids
from windrow.spark.shuffle.control import check_orders, order_advance, order_finish
from windrow.spark.shuffle.known_completeness import tell_completeness
from windrow.spark.shuffle.routing import Routing
from windrow.spark.shuffle.splitting import Split
from windrow.spark.worker.shard_output import ShardOutput
from windrow.windows.lifetime import Lifetime

__all__ = ["SparkQuery"]


class SparkQuery(Query):
    """One query of a session on Spark; it does nothing until it is started.

    Example::

        query = session.query("SELECT COUNT(*) AS n FROM temp [1 MINUTE]")
        query.start("memory", trigger="1 second").await_end(timeout=5)
        query.answers()
    """

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        plan: QueryPlan,
        sources: Mapping[str, DataFrame],
        checkpoint: QueryCheckpoint,
        buckets: int | None,
        governing: Governing,
        is_recorded: Callable[[str], bool],
    ) -> None:
        super().__init__(name, threading.RLock())
        self.plan = plan
        self._run_plan = plan if plan.error_percent is None else inner_plan(plan).plan
        self._spark = spark
        self._sources = {stream: sources[stream] for stream in plan.streams}
        self._checkpoint = checkpoint
        self._wanted_buckets = buckets
        self._governing = governing
        self._is_recorded = is_recorded  # whether the checkpoint runs it in a shared operator
        self._was_stopped = False
        self._widths = QueryWidths(plan, checkpoint.control)
        self._outlet = QueryOutlet(name, plan)
        self._bundle: Bundle | None = None
        self._stream: StreamingQuery | None = None
        self._trigger: str | None = None
        self._failure: WindrowError | None = None
        self._options: Mapping[str, Any] = {}  # of the run
        self._gate = BatchGate()
        self._routing = QueryRouting(self._run_plan, checkpoint.storage)
        self._lease = DriverLease(checkpoint.storage, name, lambda: self._is_active)
        self._first = FirstStart(f"query {name!r}", lambda: self._run(self._options))

    def start(
        self, sink: object, trigger: str | None = None, split: Split | None = None
    ) -> SparkQuery:
        """Starts the query and returns at once.

        trigger: a span such as '1 second' between batches, 'available' to run through what is there
        and end, or None for a batch whenever there is something new. split: by alias, keys whose
        rows of this input are dealt out to all buckets; they stay so when it is started again.

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
                f"query {self.name!r} runs in an operator that it shares, by its checkpoint",
                hint="start it with session.start({...}), together with the others there; or end "
                f"it there first: session.start({{{self.name!r}: None}})",
            )
        options = trigger_options(trigger)
        self._leave_bundle()
        self._was_stopped = False
        self._outlet.open(sink, self._checkpoint)
        self._trigger = trigger
        self._first.begun()
        self._run(options, split or {})
        self._governing.started(self)
        return self

    @property
    def text(self) -> str:
        """The query as it was written."""
        return self.plan.text

    @property
    def shape(self) -> AnswerShape:
        """Its groups and values, and how often it answers."""
        return answer_shape(self.plan)

    @property
    def is_running(self) -> bool:
        """Whether Spark is at work on it."""
        if self._bundle is not None:
            return self._bundle.runs(self._outlet)
        return self._is_active or self._began_again()

    @property
    def _is_active(self) -> bool:
        return self._stream is not None and bool(self._stream.isActive)

    def _began_again(self) -> bool:
        """Whether it has ended for want of a Python worker, and runs once more."""
        problem = None if self._stream is None or self._was_stopped else self._stream.exception()
        return problem is not None and self._first.again(problem)

    def _run(self, options: Mapping[str, Any], split: Split = NO_SPLIT) -> None:
        refuse_stopped(self._spark)
        check_reached(self._sources.values())
        self._options = options
        print_ = fingerprint(self._run_plan)
        buckets = self._bucket_count()
        grid_us = self._outlet.grid_us
        self._checkpoint.claim(print_, buckets, grid_us, self.plan)
        self._failure = None
        self._begin()
        routing = self._split(split)
        self._gate.open()
        # Spark would read of the control stream only what is there when it begins: such a query
        # runs on, and is stopped when nothing is left.
        is_governed_run = "availableNow" in options and self.plan.error_percent is not None
        if is_governed_run:
            options = trigger_options(None)
        settings = query_settings(buckets, self._checkpoint.spark_location)
        try:
            with settings_applied(self._spark, settings):
                outputs = shard_outputs(
                    self._spark,
                    self._run_plan,
                    print_,
                    self._sources,
                    self._checkpoint,
                    bucket_ids(buckets, buckets),
                    grid_us,
                    routing,
                )
                self._stream = started_stream(outputs, self._on_batch, self._checkpoint, options)
        except SPARK_FAILURES as problem:
            self._lease.release()
            raise self._error(problem) from problem
        if is_governed_run:
            arguments = (self._stream, self._gate)
            threading.Thread(target=_stop_when_done, args=arguments, daemon=True).start()

    def _begin(self) -> None:
        """Becomes the one driver of the checkpoint, and checks what the last one left."""
        self._lease.take()
        try:
            self._checkpoint.sweep()
            check_orders(self._checkpoint.control)
            spark = self._checkpoint.storage.under("spark")
            check_spark_part(spark, self._outlet.last_saved)
            self._outlet.begin(last_offsets(spark))
        except WindrowError:
            self._lease.release()
            raise

    def _split(self, split: Split) -> Routing:
        try:
            return self._routing.with_split(split, self.status)
        except WindrowError:
            self._lease.release()
            raise

    def _bucket_count(self) -> int:
        if not can_shard(self.plan):
            return 1
        if self._wanted_buckets is not None:
            return self._wanted_buckets
        claimed = self._checkpoint.claimed_buckets()
        return claimed or max(1, int(self._spark.sparkContext.defaultParallelism))

    def _on_batch(self, frame: DataFrame, batch_id: int) -> None:
        """Takes what the shards gave in one batch; Spark commits the batch when this returns."""
        with self._gate.passed():
            self._first.batch_came()
            self._take_batch(frame, batch_id)

    def _take_batch(self, frame: DataFrame, batch_id: int) -> None:
        began = time.perf_counter()
        outlet = self._outlet
        try:
            column = frame.select("output").toArrow().column("output")
            check_files_read(self._spark)
            outputs = [ShardOutput.from_bytes(bytes(each.as_buffer())) for each in column]
            if not outputs:
                outlet.pass_over(batch_id)
                outlet.save()
                return
            outputs.sort(key=lambda output: output.bucket)
            tables = outlet.absorb(outputs, batch_id)
            self._lease.check()
            outlet.write(tables, outputs, batch_id)
            outlet.save(1_000 * (time.perf_counter() - began))
            owner, complete_us = self._checkpoint.spark_location, outputs[0].complete_us
            tell_completeness(self._spark.sparkContext, owner, batch_id, complete_us)
            self._governing.after_batch()
        except WindrowError as error:
            self._failure = error
            with shipping_errors():
                raise

    def await_end(self, timeout: float | None = None) -> bool:
        """Waits until the query has ended, or for so many seconds; raises what it failed with.

        Example::

            query.await_end(timeout=10)
        """
        if self._bundle is not None:
            return self._bundle.await_end(timeout)
        stream = self._started()
        try:
            if timeout is None:
                stream.awaitTermination()
                return True
            return bool(stream.awaitTermination(max(1, int(timeout))))
        except SPARK_FAILURES as problem:
            if self._first.again(problem):
                return self.await_end(timeout)
            raise self._error(problem) from problem

    def stop(self, timeout: float = STOP_TIMEOUT_S) -> None:
        """Stops the query; it can be started again and goes on where it stopped.

        timeout: so many seconds it waits for the batch in flight, so that none is run again.
        In an operator that it shares it ends for good, at an instant that is recorded; the others
        go on.

        Example::

            query.stop()
        """
        self._was_stopped = True
        self._leave_bundle()
        if self._stream is not None:
            was_running = self.is_running
            self._gate.stop(self._stream, timeout)
            self._outlet.end()
            if was_running:
                self._governing.ended(self)
        self._lease.release()

    def advance(self, stream: str, instant_us: int) -> None:
        """Orders a heartbeat: the stream is complete through that instant."""
        order_advance(self._checkpoint.control, stream, instant_us)

    def finish(self) -> None:
        """Works through what is there, then completes all streams; the last answers come out."""
        if self._bundle is not None:
            self._bundle.finish()
            return
        if self._stream is None or self._was_stopped:
            return
        if self._trigger == AVAILABLE:
            self.await_end()
        if self.is_running:
            self._catch_up()
            order_finish(self._checkpoint.control, self.plan.streams)
            self._catch_up()
            return
        order_finish(self._checkpoint.control, self.plan.streams)
        self._first.begun()
        self._run(trigger_options(AVAILABLE))
        self.await_end()

    def _catch_up(self) -> None:
        try:
            self._started().processAllAvailable()
        except SPARK_FAILURES as problem:
            if self._first.again(problem):
                self._catch_up()
                return
            raise self._error(problem) from problem

    def _error(self, problem: Exception) -> WindrowError:
        servers = addresses_behind(self._sources.values())
        return self._failure or failure_of(f"query {self.name!r}", problem, servers)

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
        stream = self._stream if self._bundle is None else self._bundle.stream
        last = stream.lastProgress if stream is not None else None
        rows = window_rows_of([self])
        return progress_of(self.name, self.status, self.is_running, last, rows, self.plan)

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

    def ordered_lifetime(self, position: int) -> Lifetime:
        """How long rows of an input stay, once all orders have reached the shards."""
        return self._widths.lifetime(self.status, position)

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

    def explain(self) -> str:
        """The plan, the algorithm and what it costs, from what running shards have measured.

        Example::

            print(query.explain())
        """
        return PlanText("\n".join([self._outlet.explain(), *self._routing.shown(self.status)]))

    def _facts(self) -> dict[str, str]:
        clock_us = self.status.clock_us
        return {"clock": "not begun" if clock_us is None else show_instant(clock_us)}

    def join(self, bundle: Bundle) -> None:
        """The query runs in an operator that it shares from now on."""
        self._bundle = bundle

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

    def _started(self) -> StreamingQuery:
        if self._stream is None:
            raise BindingError(
                "WB413", f"query {self.name!r} was not started", hint="call start(sink) first"
            )
        return self._stream


def _stop_when_done(stream: StreamingQuery, gate: BatchGate) -> None:
    try:
        stream.processAllAvailable()
    except SPARK_FAILURES:
        return  # it has ended by itself, and says why to whoever awaits its end
    gate.stop(stream)
