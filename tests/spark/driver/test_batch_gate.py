"""Stopping between batches, on queries of Spark without any of ours."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.spark.driver.batch_gate import BatchGate

pytestmark = pytest.mark.spark


class Job:
    """A query whose batches wait until they are let go."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.gate = BatchGate()
        self.began: list[int] = []
        self.ended: list[int] = []
        self.enters, self.goes_on = threading.Event(), threading.Event()

    def on_batch(self, frame: DataFrame, batch_id: int) -> None:
        with self.gate.passed():
            self.began.append(batch_id)
            self.enters.set()
            self.wait()
            frame.count()
            self.ended.append(batch_id)

    def wait(self) -> None:
        """Until it is let go."""
        assert self.goes_on.wait(60)

    def start(self) -> StreamingQuery:
        source = self.spark.readStream.format("rate").option("rowsPerSecond", 1_000).load()
        self.gate.open()
        return (
            source.writeStream.foreachBatch(self.on_batch)
            .option("checkpointLocation", str(self.folder))
            .start()
        )

    @property
    def committed(self) -> list[int]:
        return sorted(
            int(file.name) for file in (self.folder / "commits").iterdir() if file.name.isdigit()
        )


class LongJob(Job):
    """A query whose batches take until Spark interrupts them."""

    def wait(self) -> None:
        assert self.spark._jvm is not None
        thread = self.spark._jvm.java.lang.Thread.currentThread()
        until = time.monotonic() + 60
        while not thread.isInterrupted():
            assert time.monotonic() < until
            time.sleep(0.01)


@pytest.mark.long_spark
def test_the_batch_in_flight_is_committed_and_none_is_run_twice(
    spark: SparkSession, tmp_path: Path
) -> None:
    job = Job(spark, tmp_path)
    for _ in range(2):
        job.enters.clear()
        job.goes_on.clear()
        stream = job.start()
        assert job.enters.wait(60)
        stopped: list[bool] = []
        stopping = threading.Thread(target=lambda: stopped.append(job.gate.stop(stream)))  # noqa: B023
        stopping.start()
        job.goes_on.set()
        stopping.join(60)
        assert stopped == [True]
        assert stream.exception() is None
        assert not stream.isActive
        assert job.committed == job.ended == job.began
    assert job.began == sorted(set(job.began))


@pytest.mark.long_spark
def test_a_batch_that_takes_too_long_is_interrupted(spark: SparkSession, tmp_path: Path) -> None:
    job = LongJob(spark, tmp_path)
    stream = job.start()
    assert job.enters.wait(60)
    assert not job.gate.stop(stream, timeout=0)
    assert not stream.isActive
    assert 0 not in job.committed


def test_a_query_that_has_ended_is_stopped_at_once(spark: SparkSession, tmp_path: Path) -> None:
    job = Job(spark, tmp_path)
    job.goes_on.set()
    stream = job.start()
    assert job.enters.wait(60)
    stream.stop()
    assert job.gate.stop(stream)


class AskingStream:
    """A query of Spark whose source does not answer."""

    def __init__(self) -> None:
        self.isActive = True
        self.status = {"isTriggerActive": True, "message": "Getting offsets from KafkaV2[...]"}

    def stop(self) -> None:
        self.isActive = False


def test_a_source_that_does_not_answer_is_no_batch_to_wait_for() -> None:
    stream, gate = AskingStream(), BatchGate()
    assert gate.stop(cast("StreamingQuery", stream), timeout=60)
    assert not stream.isActive
    stream = AskingStream()
    stream.status["message"] = "Processing new data"
    assert not gate.stop(cast("StreamingQuery", stream), timeout=0.1)
