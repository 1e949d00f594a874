"""The handle of one history on Spark: a streaming query of its own, which runs until it is stopped.

It is asked through its control stream: the batch that carries a question brings the answer.
"""

from __future__ import annotations

import threading
import uuid

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.connectors.files.spark_files_read import check_files_read
from windrow.connectors.spark_frames import addresses_behind, check_reached
from windrow.errors import BindingError, WindrowError
from windrow.event_time import span_of
from windrow.plan.history_plan import HistoryPlan
from windrow.plan.history_schema import HistorySchema
from windrow.runtime.ledger import Ledger
from windrow.spark.checkpoint.history_checkpoint import HistoryCheckpoint
from windrow.spark.checkpoint.history_declaration import columns_kept, history_text
from windrow.spark.driver.batch_gate import STOP_TIMEOUT_S, BatchGate
from windrow.spark.driver.failures import SPARK_FAILURES, failure_of
from windrow.spark.driver.first_start import FirstStart
from windrow.spark.driver.gathered_history import GatheredHistory
from windrow.spark.driver.pipeline import OUTPUT_MODE
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.processes.usable import refuse_stopped
from windrow.spark.settings import query_settings, settings_applied
from windrow.spark.shuffle.buckets import bucket_ids
from windrow.spark.shuffle.control import order_advance, order_finish
from windrow.spark.shuffle.history_control import history_orders, order_question
from windrow.spark.shuffle.history_packer import history_packing
from windrow.spark.shuffle.history_question import BucketReply, HistoryQuestion
from windrow.spark.shuffle.judged_frames import judged
from windrow.spark.shuffle.packets import PACKET_SCHEMA
from windrow.spark.worker.history_operator import HistoryOperator
from windrow.spark.worker.history_output import HistoryOutput, total_ledger
from windrow.spark.worker.shard_output import OUTPUT_SCHEMA

__all__ = ["SparkHistory"]

# How often it is looked whether the stream still runs while an answer is awaited.
POLL_S = 0.1


class SparkHistory:
    """The history of one stream."""

    def __init__(
        self, spark: SparkSession, schema: HistorySchema, checkpoint: HistoryCheckpoint
    ) -> None:
        self.schema = schema
        self._spark = spark
        self._checkpoint = checkpoint
        self._stream: StreamingQuery | None = None
        self._outputs: list[HistoryOutput] = []
        self._awaited: set[str] = set()
        self._replies: dict[str, list[BucketReply]] = {}
        self._changed = threading.Condition()
        self._gate = BatchGate()
        self._source: DataFrame | None = None
        self._first = FirstStart(f"the history of {schema.stream.name!r}", lambda: None)

    def start(
        self, source: DataFrame, buckets: int, archive: str | None, trigger: str | None
    ) -> None:
        """Sets it to work; trigger: the span between batches, None for one whenever rows come."""
        self._source = source
        what = f"the history of {self.schema.stream.name!r}"
        self._first = FirstStart(what, lambda: self._run(source, buckets, archive, trigger))
        self._first.begun()
        self._run(source, buckets, archive, trigger)

    def _run(
        self, source: DataFrame, buckets: int, archive: str | None, trigger: str | None
    ) -> None:
        span_ms = 0 if trigger is None else max(0, span_of(trigger) // 1_000)
        location = self._checkpoint.spark_location
        self._gate.open()
        refuse_stopped(self._spark)
        check_reached([source])
        try:
            with settings_applied(self._spark, query_settings(buckets, location)):
                self._stream = (
                    self._frame(source, bucket_ids(buckets, buckets), archive)
                    .writeStream.foreachBatch(self._on_batch)
                    .outputMode(OUTPUT_MODE)
                    .option("checkpointLocation", location)
                    .queryName(f"windrow history {uuid.uuid4().hex[:8]}")
                    .trigger(processingTime=f"{span_ms} milliseconds")
                    .start()
                )
        except SPARK_FAILURES as problem:
            raise self._error(problem) from problem

    def _frame(self, source: DataFrame, buckets: tuple[int, ...], archive: str | None) -> DataFrame:
        """The stream of what the buckets give, one row per bucket and batch."""
        text = history_text(self.schema)
        rows = judged(source, columns_kept(self.schema), self.schema.stream)
        packed = rows.mapInArrow(history_packing(text, buckets), PACKET_SCHEMA)
        orders = history_orders(self._spark, self._checkpoint.control.uri, buckets)
        operator = HistoryOperator(text, self._checkpoint.spark_location, buckets, archive)
        return (
            packed.union(orders)
            .groupBy("bucket")
            .transformWithStateInPandas(operator, OUTPUT_SCHEMA, OUTPUT_MODE, "None")
        )

    def _on_batch(self, frame: DataFrame, batch_id: int) -> None:  # noqa: ARG002 - Spark gives it
        """Takes what the buckets gave; a batch that is run again gives the same."""
        with self._gate.passed():
            self._first.batch_came()
            self._take_batch(frame)

    def _take_batch(self, frame: DataFrame) -> None:
        with shipping_errors():
            column = frame.select("output").toArrow().column("output")
            check_files_read(self._spark)
            outputs = [HistoryOutput.from_bytes(bytes(each.as_buffer())) for each in column]
        outputs.sort(key=lambda output: output.bucket)
        replies: dict[str, list[BucketReply]] = {}
        for output in outputs:
            for reply in output.replies:
                replies.setdefault(reply.name, []).append(reply)
        with self._changed:
            self._outputs = outputs or self._outputs
            awaited = {name: each for name, each in replies.items() if name in self._awaited}
            self._replies.update(awaited)
            self._changed.notify_all()

    def ask(self, plan: HistoryPlan, levels: tuple[int | None, ...]) -> GatheredHistory:
        """What all buckets know of a question, once all that is there has been taken."""
        self.catch_up()
        question = HistoryQuestion.of_plan(uuid.uuid4().hex, plan, levels)
        return GatheredHistory(self.schema, self._answered(question))

    def _answered(self, question: HistoryQuestion) -> list[BucketReply]:
        stream: StreamingQuery | None = self._running()
        with self._changed:
            self._awaited.add(question.name)
            try:
                order_question(self._checkpoint.control, question)
                while question.name not in self._replies:
                    stream = self._check(stream)
                    self._changed.wait(POLL_S)
                return self._replies.pop(question.name)
            finally:
                self._awaited.discard(question.name)

    def catch_up(self) -> None:
        """Waits until all that is there has been taken."""
        stream = self._running()
        try:
            stream.processAllAvailable()
        except SPARK_FAILURES as problem:
            if self._first.again(problem):
                self.catch_up()
                return
            raise self._error(problem) from problem
        self._check(stream)

    def advance(self, instant_us: int) -> None:
        """Orders a heartbeat: the stream is complete through that instant."""
        order_advance(self._checkpoint.control, self.schema.stream.name, instant_us)

    def finish(self) -> None:
        """Takes all that is there, then completes the stream."""
        self.catch_up()
        order_finish(self._checkpoint.control, [self.schema.stream.name])
        self.catch_up()

    def stop(self, timeout: float = STOP_TIMEOUT_S) -> None:
        """Ends it; declared again on the same checkpoint it goes on where it stopped.

        timeout: so many seconds it waits for the batch in flight.
        """
        if self._stream is not None:
            self._gate.stop(self._stream, timeout)

    @property
    def is_running(self) -> bool:
        """Whether Spark is at work on it."""
        return self._stream is not None and bool(self._stream.isActive)

    def outputs(self) -> list[HistoryOutput]:
        """How the buckets stand; a history that goes on from a checkpoint is asked first."""
        if not self._outputs and self.is_running:
            self._answered(HistoryQuestion(uuid.uuid4().hex))
        return self._outputs

    @property
    def ledger(self) -> Ledger:
        """Where the rows went, as of the last batch."""
        return total_ledger(self._outputs)

    def _running(self) -> StreamingQuery:
        if self._stream is None or not self._stream.isActive:
            found = self._check(self._stream)
            if found is not None and found.isActive:
                return found
            raise BindingError(
                "WB430",
                f"the history of {self.schema.stream.name!r} is not kept any more: it was stopped",
                hint="open another session on the same checkpoint and declare it again",
            )
        return self._stream

    def _check(self, stream: StreamingQuery | None) -> StreamingQuery | None:
        """The stream that is at work; raises what it failed with."""
        problem = None if stream is None or stream.isActive else stream.exception()
        if problem is None:
            return stream
        if self._first.again(problem):
            return self._stream
        raise self._error(problem) from problem

    def _error(self, problem: Exception) -> WindrowError:
        servers = "" if self._source is None else addresses_behind([self._source])
        return failure_of(f"the history of {self.schema.stream.name!r}", problem, servers)
