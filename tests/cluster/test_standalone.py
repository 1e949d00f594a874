"""The same job on a cluster: a master and two workers, some of which are killed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import windrow
from support.servers.spark_cluster import StandaloneCluster
from support.spark.stream_files import Files, embedded, in_order, random_batches, read_sink
from windrow.errors import BindingError
from windrow.spark.driver.session import SparkWindrowSession

pytestmark = [pytest.mark.cluster, pytest.mark.spark]

JOIN = """SELECT h.room, COUNT(*) AS n, SUM(c.value) AS total
    FROM h [30 SECONDS], c [20 SECONDS] WHERE h.room = c.room GROUP BY h.room"""
BATCHES = 8
BUCKETS = 3
PATIENCE_S = 600


@dataclass
class Job:
    """The join over files that are there already, one of each stream a batch."""

    spark: SparkSession
    root: Path

    def run(self, disturb: Callable[[int], bool] = lambda _count: True) -> None:
        """Run it to its end; what disturbs is told how many files came, until it says so."""
        files = Files(self.spark, self.root / "in")
        self.batches = random_batches(BATCHES, seed=7)
        files.put_all(self.batches)
        session = SparkWindrowSession(
            self.spark, checkpoint=self.root / "checkpoint", buckets=BUCKETS
        )
        for stream in ("h", "c"):
            session.stream(stream, files.stream(stream), time="ts")
        self.query = session.query(JOIN, name="pairs")
        sink = windrow.sinks.parquet(self.root / "out", feed="changes")
        try:
            self.query.start(sink, trigger="available")
            was_disturbed = any(map(disturb, self.outputs()))
            self.query.await_end()
            assert was_disturbed
            session.finish()
        finally:
            session.stop()

    def outputs(self) -> Iterator[int]:
        """Counts the files of the sink, each as soon as it is there, until the query ends."""
        count = 0
        until = time.monotonic() + PATIENCE_S
        while self.query.is_running:
            assert time.monotonic() < until
            if len(list((self.root / "out").glob("*.parquet"))) > count:
                count += 1
                yield count
            else:
                time.sleep(0.01)

    def told(self) -> list[tuple[object, ...]]:
        """What reached the sink."""
        return in_order(read_sink(self.root / "out"))

    def expected(self) -> list[tuple[object, ...]]:
        """What a session in this process tells."""
        return in_order(embedded(JOIN, self.batches)[0].changes())


def test_answers_are_those_of_a_session_in_process(spark: SparkSession, tmp_path: Path) -> None:
    job = Job(spark, tmp_path)
    job.run()
    assert job.told() == job.expected()
    assert job.query.progress()["ledger"]["h"]["waiting"] == 0


def test_killed_executors_change_no_answer(
    spark: SparkSession, cluster: StandaloneCluster, tmp_path: Path
) -> None:
    def disturb(count: int) -> bool:
        if count in (1, 3):
            cluster.workers[count // 2].kill_executors()
        return count == 3

    job = Job(spark, tmp_path)
    job.run(disturb)
    assert job.told() == job.expected()


def test_a_killed_worker_changes_no_answer(
    spark: SparkSession, cluster: StandaloneCluster, tmp_path: Path
) -> None:
    def disturb(_count: int) -> bool:
        cluster.workers[0].kill()
        return True

    job = Job(spark, tmp_path)
    job.run(disturb)
    assert job.told() == job.expected()
    assert cluster.workers[0].process.poll() is not None


def test_a_checkpoint_must_be_given(spark: SparkSession) -> None:
    with pytest.raises(BindingError, match="WB490"):
        SparkWindrowSession(spark)
