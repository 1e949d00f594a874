"""A bundle on the driver: one Spark streaming query that runs several queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.connectors.files.spark_files_read import check_files_read
from windrow.connectors.spark_frames import addresses_behind, check_reached
from windrow.errors import BindingError, WindrowError
from windrow.plan.fingerprint import fingerprint
from windrow.plan.serialise import plan_to_json
from windrow.spark.checkpoint.driver_lease import DriverLease
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.spark_part import check_spark_part, last_offsets
from windrow.spark.driver.batch_gate import STOP_TIMEOUT_S, BatchGate
from windrow.spark.driver.bundle_record import BundleRecord
from windrow.spark.driver.failures import SPARK_FAILURES, failure_of
from windrow.spark.driver.first_start import FirstStart
from windrow.spark.driver.pipeline import bundle_outputs, started_stream
from windrow.spark.driver.query_outlet import QueryOutlet
from windrow.spark.driver.triggers import AVAILABLE, trigger_options
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.processes.usable import refuse_stopped
from windrow.spark.settings import query_settings, settings_applied
from windrow.spark.shuffle.buckets import bucket_ids
from windrow.spark.shuffle.carrier import carrier_of
from windrow.spark.shuffle.control import check_orders, order_advance, order_finish, order_member
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.worker.bundle_output import BundleOutput

__all__ = ["Bundle"]


class Bundle:
    """Queries that are dealt out alike; they come and go while it runs."""

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: QueryCheckpoint,
        record: BundleRecord,
        sources: Mapping[str, DataFrame],
        buckets: int | None,
        after_batch: Callable[[], None],
    ) -> None:
        self.record = record
        self._spark = spark
        self._checkpoint = checkpoint
        self._sources = sources
        self._wanted_buckets = buckets
        self._after_batch = after_batch
        self._queries: dict[int, QueryOutlet] = {}
        self._trigger: str | None = None
        self._lease = DriverLease(checkpoint.storage, checkpoint.query, lambda: self._is_active)
        self._first = FirstStart(checkpoint.query, self._run_again)
        self._options: Mapping[str, Any] = {}  # of the run
        self._was_halted = False
        self._gate = BatchGate()
        self.stream: StreamingQuery | None = None
        self.failure: WindrowError | None = None

    @property
    def _read(self) -> dict[str, DataFrame]:
        """What it reads, by stream."""
        streams = [stream.name for stream in self.record.partitioning.streams]
        return {stream: self._sources[stream] for stream in streams if stream in self._sources}

    @property
    def name(self) -> str:
        """The directory of its checkpoint."""
        return self._checkpoint.query

    @property
    def is_running(self) -> bool:
        """Whether Spark is at work on it."""
        return self._is_active or self._began_again()

    @property
    def _is_active(self) -> bool:
        return self.stream is not None and bool(self.stream.isActive)

    def _began_again(self) -> bool:
        """Whether it has ended for want of a Python worker, and runs once more."""
        problem = None if self.stream is None or self._was_halted else self.stream.exception()
        return problem is not None and self._first.again(problem)

    def _run_again(self) -> None:
        self._run(self._options, self._bucket_count())

    def runs(self, query: QueryOutlet) -> bool:
        """Whether a query is at work in it."""
        return self.is_running and query in self._queries.values()

    def start(
        self,
        given: Sequence[tuple[QueryOutlet, object]],
        trigger: str | None,
        ends: Sequence[str] = (),
    ) -> None:
        """Lets queries begin, or go on from the checkpoint; those that run are not disturbed.

        given: queries with their sinks. ends: names of queries that the checkpoint runs, and that
        end instead of going on.
        """
        refuse_stopped(self._spark)
        options = trigger_options(trigger)
        self._check([*(query.name for query, _ in given), *ends], trigger)
        columns = self.record.columns
        buckets = self._bucket_count()
        known = self.record.running()
        # Those that ran before come first: one that is another query now is refused, and nothing
        # has been done.
        for query, sink in sorted(given, key=lambda pair: pair[0].name not in known):
            self._admit(query, sink, buckets)
        for name in ends:
            number = known[name]
            if number in self._queries:
                self.end(self._queries[number])
            else:
                self._order_end(number)
        if not self.record.running():
            return
        self._trigger = trigger
        if self.is_running and self.record.columns == columns:
            return
        # Spark's plan is fixed when it starts: for more columns it is started again.
        self._halt()
        self._first.begun()
        self._run(options, buckets)

    def _check(self, names: list[str], trigger: str | None) -> None:
        if self.is_running and trigger != self._trigger:
            raise BindingError(
                "WB450",
                f"the operator that runs {', '.join(self._names())} has the trigger "
                f"{self._trigger!r}, not {trigger!r}",
                hint="start the query with the same trigger, or on its own: query.start(sink, ...)",
            )
        missing = sorted(set(self.record.running()) - {*self._names(), *names})
        if missing:
            raise BindingError(
                "WB451",
                f"the checkpoint of {self.name} runs {', '.join(missing)}, too",
                hint="start them together with the others, each with its sink; or with None as its "
                "sink, to end it",
            )

    def _names(self) -> list[str]:
        return [query.name for query in self._queries.values()]

    def _admit(self, query: QueryOutlet, sink: object, buckets: int) -> None:
        """Gives a query its number, and the order to begin where it has not been given."""
        known = self.record.running().get(query.name)
        number = self.record.next_number if known is None else known
        folder = f"{number:06d}-{query.name}"  # a name may come again, with another plan
        place = QueryCheckpoint(self._checkpoint.storage.inside("queries"), query.name, folder)
        query.open(sink, place)
        if known is None:  # not before: a query whose sink cannot be used has not begun
            query.begin(-1)
            self.record.add(query.name, query.plan)
        place.claim(fingerprint(query.plan), buckets, query.grid_us, query.plan)
        # Before its order is there: with the batch that reads it the first answers come.
        self._queries = {**self._queries, number: query}
        order = MemberOrder(number, plan_to_json(query.plan), query.grid_us)
        order_member(self._checkpoint.control, order)

    def _bucket_count(self) -> int:
        if self._wanted_buckets is not None:
            return self._wanted_buckets
        claimed = self._checkpoint.claimed_buckets()
        return claimed or max(1, int(self._spark.sparkContext.defaultParallelism))

    def _run(self, options: Mapping[str, Any], buckets: int) -> None:
        refuse_stopped(self._spark)
        check_reached(self._read.values())
        self._options, self._was_halted = options, False
        print_ = self.record.partitioning.fingerprint
        self._checkpoint.claim(print_, buckets, 1, carrier_of(self.record.partitioning, {}))
        self.failure = None
        self._begin()
        self._gate.open()
        settings = query_settings(buckets, self._checkpoint.spark_location)
        try:
            with settings_applied(self._spark, settings):
                outputs = bundle_outputs(
                    self._spark,
                    self.record.carrier,
                    print_,
                    self._sources,
                    self._checkpoint,
                    bucket_ids(buckets, buckets),
                )
                self.stream = started_stream(outputs, self._on_batch, self._checkpoint, options)
        except SPARK_FAILURES as problem:
            self._lease.release()
            raise self._error(problem) from problem

    def _begin(self) -> None:
        """Becomes the one driver of the checkpoint, and checks what the last one left."""
        self._lease.take()
        try:
            self._checkpoint.sweep()
            check_orders(self._checkpoint.control)
            spark = self._checkpoint.storage.under("spark")
            saved = [query.last_saved for query in self._queries.values()]
            check_spark_part(spark, max(saved, default=-1))
            for query in self._queries.values():
                query.begin(last_offsets(spark))
        except WindrowError:
            self._lease.release()
            raise

    def _on_batch(self, frame: DataFrame, batch_id: int) -> None:
        """Takes what the buckets gave in one batch; Spark commits the batch when this returns."""
        with self._gate.passed():
            self._first.batch_came()
            self._take_batch(frame, batch_id)

    def _take_batch(self, frame: DataFrame, batch_id: int) -> None:
        began = time.perf_counter()
        try:
            column = frame.select("output").toArrow().column("output")
            check_files_read(self._spark)
            outputs = [BundleOutput.from_bytes(bytes(each.as_buffer())) for each in column]
            outputs.sort(key=lambda output: output.common.bucket)
            for query in self._published(outputs, batch_id):
                query.save(1_000 * (time.perf_counter() - began))
            self._after_batch()
        except WindrowError as error:
            self.failure = error
            with shipping_errors():
                raise

    def _published(self, outputs: list[BundleOutput], batch_id: int) -> list[QueryOutlet]:
        """The queries of the batch, after each has given it to its sink."""
        parts = [output.by_member() for output in outputs]
        self._lease.check()
        taken = []
        for number, query in self._queries.items():
            if parts and number in parts[0]:
                own = [part[number] for part in parts]
                if number in outputs[0].begun:
                    query.begin_at(batch_id, own[0].began_us)
                query.write(query.absorb(own, batch_id), own, batch_id)
                taken.append(query)
            elif not parts and query.last_saved >= 0:
                query.pass_over(batch_id)
                taken.append(query)
        return taken

    def end(self, query: QueryOutlet) -> None:
        """Orders the end of a query and waits until it has come; the others go on."""
        number = next((n for n, each in self._queries.items() if each is query), None)
        if number is None:
            return
        self._order_end(number)
        if self.is_running and self._trigger != AVAILABLE:
            self._catch_up()
        self._queries = {n: each for n, each in self._queries.items() if n != number}
        query.end()
        if not self._queries:
            self.stop()

    def _order_end(self, number: int) -> None:
        self.record.end(number)
        order_member(self._checkpoint.control, MemberOrder(number))

    def advance(self, stream: str, instant_us: int) -> None:
        """Orders a heartbeat for its queries: the stream is complete through that instant."""
        if self._queries and stream in [each.name for each in self.record.partitioning.streams]:
            order_advance(self._checkpoint.control, stream, instant_us)

    def finish(self) -> None:
        """Works through what is there, then completes all streams; the last answers come out."""
        if self.stream is None or not self._queries:
            return
        streams = [stream.name for stream in self.record.partitioning.streams]
        if self._trigger == AVAILABLE:
            self.await_end()
        if self.is_running:
            self._catch_up()
            order_finish(self._checkpoint.control, streams)
            self._catch_up()
            return
        order_finish(self._checkpoint.control, streams)
        self._first.begun()
        self._run(trigger_options(AVAILABLE), self._bucket_count())
        self.await_end()

    def _catch_up(self) -> None:
        assert self.stream is not None
        try:
            self.stream.processAllAvailable()
        except SPARK_FAILURES as problem:
            if self._first.again(problem):
                self._catch_up()
                return
            raise self._error(problem) from problem

    def await_end(self, timeout: float | None = None) -> bool:
        """Waits until it has ended, or for so many seconds; raises what it failed with."""
        assert self.stream is not None
        try:
            if timeout is None:
                self.stream.awaitTermination()
                return True
            return bool(self.stream.awaitTermination(max(1, int(timeout))))
        except SPARK_FAILURES as problem:
            if self._first.again(problem):
                return self.await_end(timeout)
            raise self._error(problem) from problem

    def _error(self, problem: Exception) -> WindrowError:
        shown = ", ".join(map(repr, self._names()))
        servers = addresses_behind(self._read.values())
        return self.failure or failure_of(f"the operator of the queries {shown}", problem, servers)

    def stop(self, timeout: float = STOP_TIMEOUT_S) -> None:
        """Stops all of it, after its batch in flight; started again, it goes on from there."""
        self._halt(timeout)
        for query in self._queries.values():
            query.end()
        self._lease.release()

    def _halt(self, timeout: float = STOP_TIMEOUT_S) -> None:
        if self.stream is not None:
            self._was_halted = True
            self._gate.stop(self.stream, timeout)
