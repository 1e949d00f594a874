"""The run of one query in an operator of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.governor.bounded.inner_plan import inner_plan
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import one_block
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan
from windrow.rows.prepare import can_shard
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.spark_part import check_spark_part, last_offsets
from windrow.spark.checkpoint.table_declaration import with_tables
from windrow.spark.driver.batch_gate import BatchGate
from windrow.spark.driver.failures import SPARK_FAILURES
from windrow.spark.driver.first_batch import awaits_first_batch, run_first_batch
from windrow.spark.driver.other_buckets import into_buckets
from windrow.spark.driver.pipeline import shard_outputs
from windrow.spark.driver.query_outlet import QueryOutlet
from windrow.spark.driver.query_routing import NO_SPLIT, QueryRouting
from windrow.spark.driver.stage_outputs import by_bucket
from windrow.spark.driver.streaming_run import Batch, StreamingRun
from windrow.spark.driver.table_feed import TableFeed
from windrow.spark.driver.triggers import trigger_options
from windrow.spark.monitoring.batch_listener import BATCHES_KEPT
from windrow.spark.processes.usable import refuse_stopped
from windrow.spark.shuffle.buckets import bucket_ids
from windrow.spark.shuffle.known_completeness import tell_completeness
from windrow.spark.shuffle.routing import NO_ROUTING, Routing
from windrow.spark.shuffle.splitting import Split
from windrow.spark.worker.shard_output import ShardOutput

__all__ = ["QueryRun"]


class QueryRun(StreamingRun):
    """One query; what its shards give goes to its outlet."""

    def __init__(
        self,
        spark: SparkSession,
        plan: RunnablePlan,
        outlet: QueryOutlet,
        sources: Mapping[str, DataFrame],
        checkpoint: QueryCheckpoint,
        buckets: int | None,
        after_batch: Callable[[], None],
        tables: Mapping[str, TableFeed],
    ) -> None:
        super().__init__(spark, checkpoint, f"query {checkpoint.query!r}", buckets)
        self._plan = plan
        is_exact = plan.error_percent is None
        self._run_plan = plan if is_exact else inner_plan(one_block(plan)).plan
        self._outlet = outlet
        self._read = {stream: sources[stream] for stream in plan.streams}
        read = plan.own_tables if isinstance(plan, TreePlan) else ()
        self._tables = [tables[name] for name in read]
        self._checkpoint = checkpoint
        self._after_batch = after_batch
        self.routing = QueryRouting(self._run_plan, checkpoint)
        self._split: Split = NO_SPLIT
        self._routed: Routing = NO_ROUTING
        self._rows_read: dict[int, int] = {}  # by batch, of the latest ones

    def start(self, sink: object, trigger: str | None, split: Split) -> None:
        """Opens the sink and sets Spark to work; split: keys whose rows go to all buckets."""
        self._checkpoint.look_again()
        self._partition_anew()
        self._outlet.open(sink, self._checkpoint, may_pass=True)
        self._split = split
        self.launch(trigger)

    def _partition_anew(self) -> None:
        """Its state goes into other buckets, where so many are wanted."""
        claimed = self._checkpoint.claimed_buckets()
        if claimed is None or claimed == self.bucket_count():
            return
        refuse_stopped(self._spark)
        self._lease.take()
        try:
            into_buckets(self._spark, self._checkpoint, self.bucket_count())
        finally:
            self._lease.release()

    def _sources(self) -> Mapping[str, DataFrame]:
        return {**self._read, **{feed.schema.name: feed.frame for feed in self._tables}}

    def _streams(self) -> Iterable[str]:
        return self._read

    def bucket_count(self) -> int:
        """As any run's, where the query can be sharded."""
        plan = self._plan
        if isinstance(plan, TreePlan):
            return super().bucket_count() if plan.is_sharded else 1
        return super().bucket_count() if can_shard(plan) else 1

    def _claim(self, buckets: int) -> None:
        outlet = self._outlet
        place = (self._fingerprint, buckets, outlet.grid_us, self._plan)
        self._checkpoint.claim(*place, passes_rows=outlet.passes)

    @property
    def _fingerprint(self) -> str:
        """Of all that fixes the state of the buckets."""
        tables = [feed.schema for feed in self._tables]
        return with_tables(fingerprint(self._run_plan), tables)

    def _open(self) -> None:
        if awaits_first_batch(self._checkpoint):
            run_first_batch(
                self._spark,
                self._checkpoint,
                self._read,
                self._first_outputs,
                self._outlet.take_first,
            )
        if self._checkpoint.generation:
            self._checkpoint.forget_others()
        spark = self._checkpoint.spark_part
        check_spark_part(spark, self._outlet.last_saved)
        last = last_offsets(spark)
        self._outlet.begin(last)
        for feed in self._tables if last < 0 else ():
            feed.prepare(self._checkpoint)
        self._routed = self.routing.with_split(self._split, self._outlet.status)
        self._split = NO_SPLIT  # it is in the checkpoint now, for all runs to come

    def _first_outputs(self, none: Mapping[str, DataFrame], control: str) -> DataFrame:
        """What buckets give that take their state over, and no rows."""
        count = self.bucket_count()
        ids = bucket_ids(count, count)
        plan, begins = self._run_plan, self._checkpoint.begins
        assert begins is not None
        place = (none, self._checkpoint, ids, self._outlet.grid_us)
        fixed, begun = self._fingerprint, begins.uri
        return shard_outputs(self._spark, plan, fixed, *place, begins=begun, control=control)

    def _outputs(self, buckets: tuple[int, ...]) -> DataFrame:
        place = (self._read, self._checkpoint, buckets, self._outlet.grid_us, self._routed)
        begins = self._checkpoint.begins
        folder = "" if begins is None else begins.uri
        plan, fixed = self._run_plan, self._fingerprint
        passes = self._outlet.passes
        return shard_outputs(
            self._spark, plan, fixed, *place, tables=self._tables, begins=folder, passes=passes
        )

    @property
    def _ends_when_done(self) -> bool:
        """Whether it is to work through what is there, while the governor sends orders.

        Spark would read of the control stream only what is there when it begins: such a query runs
        on, and is stopped when nothing is left.
        """
        return "availableNow" in self._options and self._plan.error_percent is not None

    def _spark_options(self) -> Mapping[str, Any]:
        return trigger_options(None) if self._ends_when_done else self._options

    def _run(self) -> None:
        super()._run()
        if self._ends_when_done:
            arguments = (self._started(), self._gate)
            threading.Thread(target=_stop_when_done, args=arguments, daemon=True).start()

    def _take(self, batch: Batch) -> None:
        outlet = self._outlet
        outputs = [ShardOutput.from_bytes(given) for given in batch.outputs]
        if not outputs:
            outlet.pass_over(batch.number)
            outlet.save()
            return
        outputs = by_bucket(outputs)
        self._rows_read[batch.number] = sum(output.rows_read for output in outputs)
        self._rows_read.pop(batch.number - BATCHES_KEPT, None)
        tables = outlet.absorb(outputs, batch.number)
        self._lease.check()
        outlet.write(tables, outputs, batch.number)
        outlet.save(batch.elapsed_ms)
        owner, complete_us = self._checkpoint.spark_location, outputs[0].complete_us
        tell_completeness(self._spark.sparkContext, owner, batch.number, complete_us)
        self._after_batch()

    def rows_read(self, batch_id: int) -> int | None:
        """How many rows a batch has read: to Spark, a file that tasks read is one."""
        return self._rows_read.get(batch_id)

    @property
    def clock_us(self) -> int | None:
        """The instant through which its last batch has answered."""
        return self._outlet.status.clock_us

    def _ended(self) -> None:
        self._outlet.end()


def _stop_when_done(stream: StreamingQuery, gate: BatchGate) -> None:
    try:
        stream.processAllAvailable()
    except SPARK_FAILURES:
        return  # it has ended by itself; await_end() raises the reason
    gate.stop(stream)
