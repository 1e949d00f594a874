"""The handle of one query on Spark: started with a sink, followed, stopped, started again."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.engine.change_limit import check_limit
from windrow.engine.inner_plan import inner_plan
from windrow.engine.prepare import can_shard
from windrow.errors import BindingError, UnsupportedError, WindrowError
from windrow.event_time import span_of
from windrow.plan.explain import explain
from windrow.plan.figures import Figures
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.sinks import Memory, sink_of
from windrow.spark.buckets import bucket_ids
from windrow.spark.checkpoint import QueryCheckpoint
from windrow.spark.columns import schema_read
from windrow.spark.control import check_orders, order_advance, order_finish
from windrow.spark.driver_lease import DriverLease
from windrow.spark.governing import Governing
from windrow.spark.kept_rows import KeptRows
from windrow.spark.pipeline import OUTPUT_MODE, shard_outputs
from windrow.spark.progress import progress_of
from windrow.spark.publication import Publication
from windrow.spark.query_widths import QueryWidths
from windrow.spark.settings import query_settings, settings_applied
from windrow.spark.shard_output import ShardOutput
from windrow.spark.shipped_errors import cause_line, received_error, shipping_errors
from windrow.spark.sinks import MemoryWriter, Writer, begin_writing, end_writing, writer_of
from windrow.spark.spark_part import check_spark_part, checkpoint_trouble, last_offsets
from windrow.spark.status import QueryStatus
from windrow.windows.lifetime import Lifetime

__all__ = ["SparkQuery"]

AVAILABLE = "available"


class SparkQuery:
    """One query of a session on Spark; it does nothing until it is started."""

    def __init__(
        self,
        spark: SparkSession,
        name: str,
        plan: QueryPlan,
        sources: Mapping[str, DataFrame],
        checkpoint: QueryCheckpoint,
        buckets: int | None,
        governing: Governing,
    ) -> None:
        self.name = name
        self.plan = plan
        self._run_plan = plan if plan.error_percent is None else inner_plan(plan).plan
        self._spark = spark
        self._sources = {stream: sources[stream] for stream in plan.streams}
        self._checkpoint = checkpoint
        self._wanted_buckets = buckets
        self._governing = governing
        self._widths = QueryWidths(plan, checkpoint.control)
        self._publication: Publication | None = None
        self._writer: Writer | None = None
        self._stream: StreamingQuery | None = None
        self._trigger: str | None = None
        self._failure: WindrowError | None = None
        self._lease = DriverLease(checkpoint.storage, name, lambda: self.is_running)
        schemas = {stream: schema_read(plan, stream) for stream in plan.streams}
        self._late = {stream: KeptRows(schema) for stream, schema in schemas.items()}
        self._unplaced = {stream: KeptRows(schema) for stream, schema in schemas.items()}

    def start(self, sink: object, trigger: str | None = None) -> SparkQuery:
        """Starts the query and returns at once.

        trigger: a span such as '1 second' between batches, 'available' to run through what is there
        and end, or None for a batch whenever there is something new.
        """
        if self.is_running:
            raise BindingError(
                "WB412", f"query {self.name!r} is running already", hint="stop() it first"
            )
        options = _trigger_options(trigger)
        self._writer = writer_of(sink_of(sink), self.plan, self._checkpoint)
        self._trigger = trigger
        self._run(options)
        self._governing.started(self)
        return self

    @property
    def is_running(self) -> bool:
        """Whether Spark is at work on it."""
        return self._stream is not None and bool(self._stream.isActive)

    def _run(self, options: Mapping[str, Any]) -> None:
        print_ = fingerprint(self._run_plan)
        buckets = self._bucket_count()
        grid_us = self._grid_us()
        self._checkpoint.claim(print_, buckets, grid_us, self.plan)
        self._failure = None
        if self._publication is None:
            self._publication = Publication(self.plan, self._checkpoint.publish)
        self._begin(self._publication)
        # Spark would read of the control stream only what is there when it begins: such a query
        # runs on, and is stopped when nothing is left.
        is_governed_run = "availableNow" in options and self.plan.error_percent is not None
        if is_governed_run:
            options = _trigger_options(None)
        settings = query_settings(buckets, self._checkpoint.spark_location)
        with settings_applied(self._spark, settings):
            outputs = shard_outputs(
                self._spark,
                self._run_plan,
                print_,
                self._sources,
                self._checkpoint,
                bucket_ids(buckets, buckets),
                grid_us,
            )
            writer = (
                outputs.writeStream.foreachBatch(self._on_batch)
                .outputMode(OUTPUT_MODE)
                .option("checkpointLocation", self._checkpoint.spark_location)
                .queryName(f"windrow {self.name} {uuid.uuid4().hex[:8]}")
                .trigger(**options)
            )
            try:
                self._stream = writer.start()
            except PySparkException as problem:
                raise self._error(problem) from problem
        if is_governed_run:
            arguments = (self._stream,)
            threading.Thread(target=_stop_when_done, args=arguments, daemon=True).start()

    def _begin(self, publication: Publication) -> None:
        """Becomes the one driver of the checkpoint, and checks what the last one left."""
        assert self._writer is not None
        self._lease.take()
        try:
            self._checkpoint.control.sweep()
            self._checkpoint.publish.sweep()
            check_orders(self._checkpoint.control)
            spark = self._checkpoint.storage.under("spark")
            check_spark_part(spark, publication.last_saved)
            begin_writing(self._writer, last_offsets(spark))
        except WindrowError:
            self._lease.release()
            raise

    def _grid_us(self) -> int:
        """Shards report only what answers at ticks need, unless the sink takes every change.

        Windows that take turns answer between ticks.
        """
        assert self._writer is not None
        if self.plan.error_percent is not None:
            return 1
        return 1 if "changes" in self._writer.feeds else self.plan.every_us or 1

    def _bucket_count(self) -> int:
        if not can_shard(self.plan):
            return 1
        if self._wanted_buckets is not None:
            return self._wanted_buckets
        claimed = self._checkpoint.claimed_buckets()
        return claimed or max(1, int(self._spark.sparkContext.defaultParallelism))

    def _on_batch(self, frame: DataFrame, batch_id: int) -> None:
        """Takes what the shards gave in one batch; Spark commits the batch when this returns."""
        assert self._publication is not None
        assert self._writer is not None
        began = time.perf_counter()
        try:
            column = frame.select("output").toArrow().column("output")
            outputs = [ShardOutput.from_bytes(bytes(each.as_buffer())) for each in column]
            if not outputs:
                self._publication.pass_over(batch_id)
                self._publication.save()
                return
            outputs.sort(key=lambda output: output.bucket)
            tables = self._publication.absorb(batch_id, outputs, self._writer.feeds)
            self._lease.check()
            self._writer.write(tables, batch_id)
            self._keep(outputs)
            self._publication.status.batch_ms = 1_000 * (time.perf_counter() - began)
            self._publication.save()
            self._governing.after_batch()
        except WindrowError as error:
            self._failure = error
            with shipping_errors():
                raise

    def _keep(self, outputs: list[ShardOutput]) -> None:
        for output in outputs:
            for stream, rows in output.late.items():
                self._late[stream].add(rows)
            for stream, rows in output.unplaced.items():
                self._unplaced[stream].add(rows)

    def await_end(self, timeout: float | None = None) -> bool:
        """Waits until the query has ended, or for so many seconds; raises what it failed with."""
        stream = self._started()
        try:
            if timeout is None:
                stream.awaitTermination()
                return True
            return bool(stream.awaitTermination(max(1, int(timeout))))
        except PySparkException as problem:
            raise self._error(problem) from problem

    def stop(self) -> None:
        """Stops the query; it can be started again and goes on where it stopped."""
        if self._stream is not None:
            was_running = self.is_running
            self._stream.stop()
            end_writing(self._writer)
            if was_running:
                self._governing.ended(self)
        self._lease.release()

    def advance(self, stream: str, instant_us: int) -> None:
        """Orders a heartbeat: the stream is complete through that instant."""
        order_advance(self._checkpoint.control, stream, instant_us)

    def finish(self) -> None:
        """Works through what is there, then completes all streams; the last answers come out."""
        if self._stream is None:
            return
        if self._trigger == AVAILABLE:
            self.await_end()
        if self.is_running:
            self._catch_up()
            order_finish(self._checkpoint.control, self.plan.streams)
            self._catch_up()
            return
        order_finish(self._checkpoint.control, self.plan.streams)
        self._run(_trigger_options(AVAILABLE))
        self.await_end()

    def _catch_up(self) -> None:
        try:
            self._started().processAllAvailable()
        except PySparkException as problem:
            raise self._error(problem) from problem

    def _error(self, problem: PySparkException) -> WindrowError:
        if self._failure is not None:
            return self._failure
        text = str(problem)
        cause = cause_line(text)
        found = received_error(text) or checkpoint_trouble(self.name, cause, text)
        return found or WindrowError(
            "WX401",
            f"query {self.name!r} failed on Spark: {cause}",
            hint="the cause of this exception is Spark's own error, with all its detail",
        )

    def answers(self) -> pa.Table:
        """Every answer since the last call; the sink must be 'memory'."""
        return self._taken("answers")

    def changes(self, limit: int | None = None) -> pa.Table:
        """Every change since the last call; the sink must be 'memory'.

        limit: at most so many rows, the rest at the next call; only an instant that alone has more
        is cut apart.
        """
        check_limit(limit)
        return self._taken("changes", limit)

    def result(self) -> pa.Table:
        """The answer now; the sink must be 'memory'."""
        self._memory()
        assert self._publication is not None
        return self._publication.result()

    def _taken(self, feed: str, limit: int | None = None) -> pa.Table:
        writer = self._memory()
        assert self._publication is not None
        return writer.take(feed, self._publication.empty(feed), limit)

    def _memory(self) -> MemoryWriter:
        if not isinstance(self._writer, MemoryWriter):
            raise UnsupportedError(
                "WU411",
                f"query {self.name!r} does not hold its answers in memory",
                hint=f"start it with the sink {Memory()} or 'memory'",
            )
        return self._writer

    def progress(self) -> dict[str, Any]:
        """How the query stands after its last batch."""
        last = self._stream.lastProgress if self._stream is not None else None
        return progress_of(self.name, self.status, self.is_running, last)

    @property
    def status(self) -> QueryStatus:
        """The reports of the last batch, added up."""
        if self._publication is None:
            return QueryStatus.new(self.plan)
        return self._publication.status

    def tolerated_span_us(self) -> int:
        """How much narrower the window may be for answers within the tolerated error."""
        return self._widths.tolerated_span_us(self._publication)

    def rows_per_second(self, span_us: int) -> float:
        """Rows of a query with ERROR that came within a span, held by a window or not."""
        return 0.0 if self._publication is None else self._publication.rows_per_second(span_us)

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
        """Late rows that this query has kept, of the columns that it reads."""
        return self._late[stream].table()

    def bad_time(self, stream: str) -> pa.Table:
        """Some of the rows whose time was missing or absurd."""
        return self._unplaced[stream].table()

    def explain(self) -> str:
        """The plan, the algorithm and what it costs, from what running shards have measured."""
        status = None if self._publication is None else self._publication.status
        if status is None or status.figures is None:
            return explain(self.plan)
        running = " and ".join(status.algorithms)
        return explain(self.plan, Figures.from_json(status.figures), running)

    def _started(self) -> StreamingQuery:
        if self._stream is None:
            raise BindingError(
                "WB413", f"query {self.name!r} was not started", hint="call start(sink) first"
            )
        return self._stream


def _stop_when_done(stream: StreamingQuery) -> None:
    try:
        stream.processAllAvailable()
    except PySparkException:
        return  # it has ended by itself, and says why to whoever awaits its end
    stream.stop()


def _trigger_options(trigger: str | None) -> dict[str, Any]:
    if trigger is None:
        return {"processingTime": "0 seconds"}
    if trigger == AVAILABLE:
        return {"availableNow": True}
    return {"processingTime": f"{max(0, span_of(trigger) // 1_000)} milliseconds"}
