"""One run of ours on Spark: a streaming query that is started, followed, begun again and stopped.

The kinds of run (one query, a bundle of queries, a history) differ in what they check before they
start, in what Spark shall work on, and in what they do with what the buckets give.
"""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.connectors.files.spark_files_read import check_files_read
from windrow.connectors.spark_frames import addresses_behind, check_reached, fault_in
from windrow.errors import BindingError, WindrowError
from windrow.spark.checkpoint.control_log import shorten_log
from windrow.spark.checkpoint.driver_lease import DriverLease
from windrow.spark.checkpoint.spark_part import batch_time_us
from windrow.spark.driver.batch_gate import STOP_TIMEOUT_S, BatchGate
from windrow.spark.driver.failures import SPARK_FAILURES, failure_of, is_unread
from windrow.spark.driver.pipeline import started_stream
from windrow.spark.driver.restarts import Restarts
from windrow.spark.driver.triggers import AVAILABLE, trigger_options, trigger_us
from windrow.spark.monitoring.run_meter import RunMeter
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.processes.usable import refuse_stopped
from windrow.spark.settings import query_settings, settings_applied
from windrow.spark.shuffle.batch_time import tell_time
from windrow.spark.shuffle.buckets import bucket_ids
from windrow.spark.shuffle.control import check_orders, order_advance, order_finish
from windrow.storage import Storage

__all__ = ["Batch", "StreamingRun"]

# To look at the log of the control stream costs a listing of its folder.
BATCHES_BETWEEN_LOOKS = 64
# It is shortened when it has grown to this: about two thousand orders.
CONTROL_LOG_BYTES = 1 << 18


class RunCheckpoint(Protocol):
    """The directories of a run."""

    storage: Storage
    control: Storage

    @property
    def spark_part(self) -> Storage:
        """The directory that Spark has."""

    @property
    def spark_location(self) -> str:
        """What Spark is given as checkpointLocation."""

    @property
    def run_name(self) -> str:
        """How Spark calls its runs, each with a word of its own behind it."""

    def claimed_buckets(self) -> int | None:
        """How many buckets the checkpoint was begun with; None when it is new."""

    def sweep(self) -> None:
        """Removes what drivers that were killed have left unfinished."""


@dataclass(frozen=True)
class Batch:
    """What the buckets gave in one batch; began_s: on the clock of time.perf_counter()."""

    number: int
    outputs: Sequence[bytes]
    began_s: float

    @property
    def elapsed_ms(self) -> float:
        """How long the driver has been at it."""
        return 1_000 * (time.perf_counter() - self.began_s)


class StreamingRun(ABC):
    """A streaming query of Spark and all that is needed to resume it from its checkpoint.

    label: what it is called where it is named in short. buckets: how many are wanted, if that is
    said.
    """

    def __init__(
        self, spark: SparkSession, checkpoint: RunCheckpoint, label: str, buckets: int | None
    ) -> None:
        self.stream: StreamingQuery | None = None
        self._spark = spark
        self._control = checkpoint.control
        self._directories = checkpoint
        self._label = label
        self._wanted_buckets = buckets
        self._trigger: str | None = None
        self._options: Mapping[str, Any] = {}
        self._failure: WindrowError | None = None
        self._was_stopped = False
        self._gate = BatchGate()
        self._lease = DriverLease(checkpoint.storage, label, lambda: self.is_active)
        self._restarts = Restarts(label, self._run)
        self.meter = RunMeter()
        # Whoever looks whether it runs may start it again, also in the thread of another's batch.
        self._starting = threading.RLock()

    @property
    def what(self) -> str:
        """What errors call it."""
        return self._label

    @abstractmethod
    def _sources(self) -> Mapping[str, DataFrame]:
        """What it reads, by stream."""

    @abstractmethod
    def _claim(self, buckets: int) -> None:
        """Takes a new checkpoint, or checks that an old one is its own."""

    def _open(self) -> None:  # noqa: B027 - not all kinds have something to do
        """Checks what the previous driver left in the checkpoint, and resumes from it."""

    @abstractmethod
    def _outputs(self, buckets: tuple[int, ...]) -> DataFrame:
        """The stream of what the buckets give, one row per bucket and batch."""

    @abstractmethod
    def _take(self, batch: Batch) -> None:
        """Takes what the buckets gave in one batch; Spark commits the batch when this returns."""

    def _ended(self) -> None:  # noqa: B027 - as above
        """It has stopped: what it held open is released."""

    def launch(self, trigger: str | None) -> None:
        """Sets Spark to work and returns at once."""
        options = self._trigger_options(trigger)
        with self._starting:
            self._options, self._trigger = options, trigger
            self._was_stopped = False
            self._restarts.begun()
            self.meter.times.launched(trigger_us(trigger))
            self._run()

    def _trigger_options(self, trigger: str | None) -> Mapping[str, Any]:
        return trigger_options(trigger)

    def _spark_options(self) -> Mapping[str, Any]:
        return self._options

    def _run(self) -> None:
        refuse_stopped(self._spark)
        check_reached(self._sources().values())
        buckets = self.bucket_count()
        self._claim(buckets)
        self._failure = None
        self._begin()
        self._gate.open()
        settings = query_settings(buckets, self._directories.spark_location)
        try:
            self.meter.reads(self._sources())
            with settings_applied(self._spark, settings):
                outputs = self._outputs(bucket_ids(buckets, buckets))
                place = (self._directories.spark_location, self._directories.run_name)
                self.stream = started_stream(outputs, self._on_batch, *place, self._spark_options())
        except SPARK_FAILURES as problem:
            self._lease.release()
            raise self._error(problem) from problem

    def _begin(self) -> None:
        """Becomes the one driver of the checkpoint, and checks what the last one left."""
        self._lease.take()
        try:
            self._directories.sweep()
            check_orders(self._control)
            self._open()
        except WindrowError:
            self._lease.release()
            raise

    def bucket_count(self) -> int:
        """How many buckets it has: as wanted, as before, or one for each core."""
        if self._wanted_buckets is not None:
            return self._wanted_buckets
        claimed = self._directories.claimed_buckets()
        return claimed or max(1, int(self._spark.sparkContext.defaultParallelism))

    def _on_batch(self, frame: DataFrame, batch_id: int) -> None:
        with self._gate.passed():
            began_s = time.perf_counter()
            try:
                now_us = batch_time_us(self._directories.spark_part, batch_id)
                tell_time(self._spark.sparkContext, batch_id, now_us)
                column = frame.toArrow().column("output")
                files = check_files_read(self._spark)
                given = [bytes(each.as_buffer()) for each in column]
                self._take(Batch(batch_id, given, began_s))
                if batch_id % BATCHES_BETWEEN_LOOKS == 0:
                    shorten_log(self._directories.spark_part, self._control, CONTROL_LOG_BYTES)
            except WindrowError as error:
                self._failure = error
                with shipping_errors():
                    raise
            self.meter.batch(now_us, self.clock_us, files)
            self._restarts.batch_done()

    @property
    def clock_us(self) -> int | None:
        """The instant through which its last batch has answered, if that is known."""
        return None

    @property
    def restarts(self) -> int:
        """How often it was started once more by itself."""
        return self._restarts.count

    @property
    def last_progress(self) -> Mapping[str, Any] | None:
        """What Spark says of the last batch."""
        last = None if self.stream is None else self.stream._jsq.lastProgress()
        # As one text: PySpark asks the JVM for each of some two hundred figures.
        return None if last is None else cast("Mapping[str, Any]", json.loads(last.json()))

    @property
    def is_running(self) -> bool:
        """Whether Spark is at work on it."""
        return self.is_active or self._began_again()

    @property
    def is_active(self) -> bool:
        """Whether Spark is at work on it and has not been interrupted."""
        return self.stream is not None and bool(self.stream.isActive)

    def _began_again(self) -> bool:
        """Whether it has ended for want of a Python worker, and runs once more."""
        stream = self.stream
        problem = None if stream is None or self._was_stopped else stream.exception()
        return problem is not None and self._again(stream, problem)

    def _again(self, ended: StreamingQuery | None, problem: BaseException) -> bool:
        """Starts it once more, where that may help, after a stream that has ended with a problem.

        Another thread may have done so: a second start would stop the first.
        """
        with self._starting:
            if self.stream is not ended:
                return True
            return self._failure is None and self._restarts.again(problem)

    def await_end(self, timeout: float | None = None) -> bool:
        """Waits until it has ended, for at most this many seconds; raises what it failed with."""
        stream = self._started()
        try:
            if timeout is None:
                stream.awaitTermination()
                return True
            return bool(stream.awaitTermination(max(1, int(timeout))))
        except SPARK_FAILURES as problem:
            if self._again(stream, problem):
                return self.await_end(timeout)
            raise self._error(problem) from problem

    def catch_up(self) -> None:
        """Waits until all that is there has been taken."""
        stream = self._started()
        try:
            stream.processAllAvailable()
        except SPARK_FAILURES as problem:
            if self._again(stream, problem):
                self.catch_up()
                return
            raise self._error(problem) from problem

    def advance(self, stream: str, instant_us: int) -> None:
        """Orders a heartbeat: the stream is complete through that instant."""
        order_advance(self._control, stream, instant_us)

    def finish(self) -> None:
        """Works through what is there, then completes all streams; the last answers come out."""
        if self.stream is None or self._was_stopped:
            return
        if self._trigger == AVAILABLE:
            self.await_end()
        if self.is_running:
            self.catch_up()
            order_finish(self._control, self._streams())
            self.catch_up()
            return
        if self._trigger != AVAILABLE:
            # It has failed: rows that it has not read must not come behind the end of their stream.
            self.launch(AVAILABLE)
            self.await_end()
        order_finish(self._control, self._streams())
        self.launch(AVAILABLE)
        self.await_end()

    def _streams(self) -> Iterable[str]:
        return self._sources()

    def stop(self, timeout: float = STOP_TIMEOUT_S) -> None:
        """Stops it after its batch in flight; restarted, it resumes from there.

        timeout: how many seconds it waits for that batch.
        """
        self._halt(timeout)
        self._ended()
        self._lease.release()

    def _halt(self, timeout: float = STOP_TIMEOUT_S) -> None:
        self._was_stopped = True
        if self.stream is not None:
            self._gate.stop(self.stream, timeout)

    def _started(self) -> StreamingQuery:
        if self.stream is None:
            raise BindingError(
                "WB413", f"{self.what} was not started", hint="call start(sink) first"
            )
        return self.stream

    def _error(self, problem: Exception) -> WindrowError:
        if self._failure is not None:
            return self._failure
        frames = list(self._sources().values())
        if is_unread(problem):
            return fault_in(frames) or failure_of(self.what, problem)
        return failure_of(self.what, problem, addresses_behind(frames))
