"""Ways for rows through Spark: from a bare scan to Windrow and Spark's own join-then-aggregate.

Each reads the files of A and B in one directory, and keeps the answers that it found, if any.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.settings import query_settings

__all__ = ["PATHS", "STOCK_SCAN", "Meter", "Run"]

STOCK_SCAN = "scan, stock session"  # in a session with Spark's own settings
QUERY = "SELECT COUNT(*) AS n, SUM(A.v) AS s FROM A [60 SECONDS], B [60 SECONDS] WHERE A.k = B.k"
SCHEMA = "ts timestamp, k bigint, v bigint"
Answers = dict[int, tuple[int, int | None]]  # by instant, in microseconds


@dataclass
class Run:
    """One run: where it works, and what it found out."""

    spark: SparkSession
    work: Path
    buckets: int
    answers: Answers = field(default_factory=dict)
    cpu_at_batch: list[float] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def streams(self) -> list[DataFrame]:
        """A and B, one file of each in every micro-batch."""
        read = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return [read.parquet(str(self.work / name)) for name in "AB"]

    def drain(self, frame: DataFrame, sink: Any = None, mode: str = "append") -> None:
        """Runs all that is there through the sink, or through one that drops it."""
        writer = frame.writeStream.outputMode(mode)
        writer = writer.foreachBatch(sink) if sink else writer.format("noop")
        writer = writer.option("checkpointLocation", str(self.work / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()

    def note_batch(self) -> None:
        """Remembers what had been spent when a batch was done."""
        self.cpu_at_batch.append(sum(cpu_seconds().values()))


class Meter:
    """Measures what the whole process tree spends between its making and `spent`."""

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._cpu = cpu_seconds()

    def spent(self) -> dict[str, float]:
        """CPU seconds by kind of process, and wall seconds."""
        now = cpu_seconds()
        spent = {f"{kind}_s": now[kind] - self._cpu[kind] for kind in now}
        return {"cpu_s": sum(spent.values()), **spent, "wall_s": time.perf_counter() - self._wall}


def cpu_seconds() -> dict[str, float]:
    """CPU seconds of the driver's Python, of the JVM and of the Python workers."""
    here = psutil.Process()
    total = {"driver": 0.0, "jvm": 0.0, "workers": 0.0}
    for process in [here, *here.children(recursive=True)]:
        try:
            times, name = process.cpu_times(), process.name()
        except psutil.NoSuchProcess:
            continue
        kind = "jvm" if name.startswith("java") else "workers"
        kind = "driver" if process.pid == here.pid else kind
        total[kind] += times.user + times.system + times.children_user + times.children_system
    return total


def scan(run: Run) -> None:
    """Rows are read and dropped."""
    left, right = run.streams()
    run.drain(left.union(right))


def bare_map(run: Run) -> None:
    """Rows cross to Python once, and one row a task comes back."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([pa.array([sum(batch.num_rows for batch in batches)])], names=["n"])

    for name, value in query_settings(run.buckets, str(run.work)).items():
        run.spark.conf.set(name, value)
    left, right = run.streams()
    run.drain(left.mapInArrow(count, "n bigint").union(right.mapInArrow(count, "n bigint")))


def windrow_at_rows(run: Run) -> None:
    """Windrow with an exact answer at every instant at which a row came."""
    _windrow(run, QUERY)


def windrow_every(run: Run) -> None:
    """Windrow with one answer a second."""
    _windrow(run, f"{QUERY} EVERY (1 SECOND)")


def _windrow(run: Run, text: str) -> None:
    checkpoint = str(run.work / "checkpoint")
    session = SparkWindrowSession(run.spark, "4 GB", checkpoint, buckets=run.buckets)
    for name, frame in zip("AB", run.streams(), strict=True):
        session.stream(name, frame, time="ts")

    def keep(table: pa.Table, _batch: int) -> None:
        run.note_batch()
        run.answers |= _answers(table, is_sample="EVERY" not in text)

    query = session.query(text, name="anchor")
    query.start(keep, trigger="available")
    query.await_end()
    progress = query.progress()
    run.facts = {name: progress[name] for name in ("answers", "state_bytes", "panes", "rebuilt")}
    run.facts["window_rows"] = progress["window_rows"]


def _answers(table: pa.Table, is_sample: bool) -> Answers:
    """Answers by instant; of many, two a batch."""
    if is_sample:
        table = table.take([0, table.num_rows // 2]) if table.num_rows else table
    times = table.column("at").cast(pa.int64()).to_pylist()
    pairs = zip(table.column("n").to_pylist(), table.column("s").to_pylist(), strict=True)
    return dict(zip(times, pairs, strict=True))


def spark_join(run: Run) -> None:
    """Spark's stream-stream join, then an aggregate, in update mode: no expired pair leaves it."""
    for name, value in query_settings(run.buckets, str(run.work)).items():
        run.spark.conf.set(name, value)
    sides = zip("AB", run.streams(), strict=True)
    left, right = (frame.withWatermark("ts", "0 seconds").alias(name) for name, frame in sides)
    span = F.expr("INTERVAL 60 SECONDS")
    near = (F.col("A.ts") <= F.col("B.ts") + span) & (F.col("B.ts") <= F.col("A.ts") + span)
    joined = left.join(right, (F.col("A.k") == F.col("B.k")) & near)
    totals = joined.agg(F.count(F.lit(1)).alias("n"), F.sum("A.v").alias("s"))

    def keep(frame: DataFrame, _batch: int) -> None:
        run.note_batch()
        for row in frame.collect():
            run.facts["says"] = [row["n"], row["s"]]

    run.drain(totals, keep, "update")


def spark_aggregate(run: Run) -> None:
    """Spark's own stateful batch: counts per key in the same state store."""
    for name, value in query_settings(run.buckets, str(run.work)).items():
        run.spark.conf.set(name, value)
    left, right = run.streams()

    def keep(frame: DataFrame, _batch: int) -> None:
        frame.toArrow()
        run.note_batch()

    run.drain(left.union(right).groupBy("k").count(), keep, "update")


class Nothing(StatefulProcessor):
    """Keeps one number a key."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declares it."""
        self._seen = handle.getValueState("seen", "n long")

    def handleInputRows(  # noqa: N802 - the name is Spark's
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803, ARG002 - the name is Spark's
    ) -> Iterator[pd.DataFrame]:
        """Counts the rows."""
        count = sum(len(frame) for frame in rows)
        self._seen.update((count,))
        yield pd.DataFrame({"bucket": [int(key[0])], "n": [count]})

    def close(self) -> None:
        """Nothing to do."""


def spark_python_state(run: Run) -> None:
    """The least that a stateful operator in Python can do: one number a bucket."""
    for name, value in query_settings(run.buckets, str(run.work)).items():
        run.spark.conf.set(name, value)
    left, right = run.streams()
    bucket = (F.col("k") % run.buckets).cast("int").alias("bucket")
    grouped = left.union(right).select(bucket, "v").groupBy("bucket")

    def keep(frame: DataFrame, _batch: int) -> None:
        frame.toArrow()
        run.note_batch()

    counted = grouped.transformWithStateInPandas(Nothing(), "bucket int, n long", "append", "None")
    run.drain(counted, keep)


PATHS: dict[str, Callable[[Run], None]] = {
    "scan": scan,
    STOCK_SCAN: scan,
    "scan + mapInArrow": bare_map,
    "windrow": windrow_at_rows,
    "windrow EVERY 1 s": windrow_every,
    "spark join, aggregate": spark_join,
    "spark aggregate": spark_aggregate,
    "spark python state": spark_python_state,
}
