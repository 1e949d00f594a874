"""Those who run the anchor query. Each takes the data and gives its answers and what it cost."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from anchor_data import WINDOW_MS, AnchorData
from process_tree import tree_cpu_seconds, tree_peak_bytes

import windrow

__all__ = ["CONTENDERS", "Outcome"]

QUERY = "SELECT COUNT(*) AS n, SUM(A.v) AS s FROM A [60 SECONDS], B [60 SECONDS] WHERE A.k = B.k"
BATCH_ROWS = 100_000
# On Spark the rows are so many times more: starting costs as much as millions of them.
SPARK_TIMES = 6
Answers = dict[int, tuple[int, int]]
REMARKS: list[str] = []


@dataclass
class Outcome:
    """What a run gave; answers by whole second, those of the first repeat."""

    rows: int
    cpu_seconds: float
    wall_seconds: float
    answers: Answers = field(default_factory=dict)
    peak_mb: int = 0
    remark: str = ""


class Meter:
    """Measures what happens between its making and `outcome`."""

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._cpu = tree_cpu_seconds()

    def outcome(self, rows: int, answers: Answers, remark: str = "") -> Outcome:
        """What it cost."""
        cpu = tree_cpu_seconds() - self._cpu
        wall = time.perf_counter() - self._wall
        return Outcome(rows, cpu, wall, answers, tree_peak_bytes() >> 20, remark)


def plain_python(data: AnchorData, _repeats: int) -> Outcome:
    """The loop that one would write by hand: per key counts and sums, O(1) a row."""
    sides = np.repeat([0, 1], [data.times[0].size, data.times[1].size])
    times, keys, values = (np.concatenate(each) for each in (data.times, data.keys, data.values))
    order = np.argsort(times, kind="stable")
    events = list(
        zip(*(each[order].tolist() for each in (times, sides, keys, values)), strict=True)
    )
    meter = Meter()
    return meter.outcome(len(events), _plain_loop(events, data.seconds))


def _plain_loop(events: list[tuple[int, int, int, int]], seconds: int) -> Answers:
    key_count = 1 + max(event[2] for event in events)
    left_count, left_sum, right_count = ([0] * key_count for _ in range(3))
    left: deque[tuple[int, int, int]] = deque()
    right: deque[tuple[int, int]] = deque()
    answers: Answers = {}
    count = total = 0
    second = 1
    # A last event beyond the end gives the remaining whole seconds.
    for now, side, key, value in [*events, ((seconds + 1) * 1000, 1, 0, 0)]:
        while second * 1000 < now:
            limit = second * 1000 - WINDOW_MS
            while left and left[0][0] <= limit:
                _, old, gone = left.popleft()
                count -= right_count[old]
                total -= gone * right_count[old]
                left_count[old] -= 1
                left_sum[old] -= gone
            while right and right[0][0] <= limit:
                old = right.popleft()[1]
                count -= left_count[old]
                total -= left_sum[old]
                right_count[old] -= 1
            answers[second] = (count, total)
            second += 1
        limit = now - WINDOW_MS
        while left and left[0][0] < limit:
            _, old, gone = left.popleft()
            count -= right_count[old]
            total -= gone * right_count[old]
            left_count[old] -= 1
            left_sum[old] -= gone
        while right and right[0][0] < limit:
            old = right.popleft()[1]
            count -= left_count[old]
            total -= left_sum[old]
            right_count[old] -= 1
        if side == 0:
            left.append((now, key, value))
            count += right_count[key]
            total += value * right_count[key]
            left_count[key] += 1
            left_sum[key] += value
        else:
            right.append((now, key))
            count += left_count[key]
            total += left_sum[key]
            right_count[key] += 1
    return answers


def embedded(data: AnchorData, repeats: int) -> Outcome:
    """Windrow in this process, an exact answer at every row, read after every push."""
    return _embedded(data, repeats, text_keys=False)


def embedded_text_keys(data: AnchorData, repeats: int) -> Outcome:
    """The same with keys that are texts."""
    return _embedded(data, repeats, text_keys=True)


def _embedded(data: AnchorData, repeats: int, *, text_keys: bool) -> Outcome:
    second_by_second = f"{QUERY} EVERY (1 SECOND)"
    checked = _run_embedded(data.tables(1, text_keys), second_by_second, text_keys, data.end_us)
    answers = _by_second(checked.answers())
    tables = data.tables(repeats, text_keys)
    meter = Meter()
    _run_embedded(tables, QUERY, text_keys, data.end_us * repeats, read=True)
    return meter.outcome(data.row_count * repeats, answers)


def _run_embedded(
    tables: tuple[pa.Table, pa.Table],
    text: str,
    text_keys: bool,
    end_us: int,
    *,
    read: bool = False,
) -> windrow.embedded.EmbeddedQuery:
    session = windrow.connect(memory="4 GB")
    key = "string" if text_keys else "bigint"
    for name in ("A", "B"):
        session.stream(name, f"ts timestamp, k {key}, v bigint", time="ts")
    query = session.query(text)
    for start in range(0, tables[0].num_rows, BATCH_ROWS):
        session.push("A", tables[0].slice(start, BATCH_ROWS))
        session.push("B", tables[1].slice(start, BATCH_ROWS))
        if read:
            query.answers()
    session.advance("A", to=end_us)
    session.advance("B", to=end_us)
    return query


def _by_second(answers: pa.Table) -> Answers:
    at = answers.column("at").cast(pa.int64()).to_pylist()
    rows = zip(at, answers.column("n").to_pylist(), answers.column("s").to_pylist(), strict=True)
    return {instant // 1_000_000: (count, total) for instant, count, total in rows}


def windrow_on_spark(data: AnchorData, repeats: int) -> Outcome:
    """Windrow on Spark in local mode, from Parquet, one answer a second, state in RocksDB."""
    return _on_spark(data, repeats * SPARK_TIMES, _windrow_query)


def spark_alone(data: AnchorData, _repeats: int) -> Outcome:
    """Spark's own stream-stream join followed by an aggregate, in update mode."""
    outcome = _on_spark(data, 1, _spark_query)
    outcome.remark = "no expired pair is ever taken out"
    return outcome


def _on_spark(data: AnchorData, repeats: int, run: Callable[[Any, Path, int], Answers]) -> Outcome:
    from windrow.spark.settings import local_session  # noqa: PLC0415 - only these need Spark

    work = Path(tempfile.mkdtemp(prefix="windrow-anchor-"))
    try:
        _write_files(data, repeats, work)
        spark = local_session(cores=2)
        meter = Meter()
        answers = run(spark, work, data.end_us * repeats)
        outcome = meter.outcome(data.row_count * repeats, answers, " ".join(REMARKS))
        spark.stop()
        return outcome
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _write_files(data: AnchorData, repeats: int, work: Path) -> None:
    """Files of up to 500,000 rows a side, in time order: each is a micro-batch."""
    for name, table in zip("AB", data.tables(repeats), strict=True):
        (work / name).mkdir()
        step = max(20_000, min(500_000, table.num_rows // 10))
        for number, start in enumerate(range(0, table.num_rows, step)):
            path = work / name / f"{number:05d}.parquet"
            pq.write_table(table.slice(start, step), path)
            os.utime(path, (number, number))  # Spark takes files in the order of their times


def _streams(spark: Any, work: Path) -> list[Any]:
    read = spark.readStream.schema("ts timestamp, k bigint, v bigint")
    return [read.option("maxFilesPerTrigger", 1).parquet(str(work / name)) for name in "AB"]


def _windrow_query(spark: Any, work: Path, end_us: int) -> Answers:
    session = windrow.connect(spark, memory="4 GB", checkpoint=str(work / "checkpoint"))
    for name, frame in zip("AB", _streams(spark, work), strict=True):
        session.stream(name, frame, time="ts")
    found: list[pa.Table] = []
    spent: list[float] = []

    def keep(table: pa.Table, _batch: int) -> None:
        found.append(table)
        spent.append(tree_cpu_seconds())

    query = session.query(f"{QUERY} EVERY (1 SECOND)")
    query.start(keep, trigger="available")
    query.await_end()
    _remark_steady(spent, query.progress())
    for name in "AB":
        session.advance(name, to=end_us)
    session.finish()
    answers: Answers = {}
    for table in found:
        answers |= _by_second(table)
    return answers


def _remark_steady(spent: list[float], progress: dict[str, Any]) -> None:
    """Say what a million rows cost once everything is warm: over the second half of the batches."""
    half = len(spent) // 2
    rows = sum(progress["rows_in"].values()) * (len(spent) - 1 - half) / len(spent)
    if rows:
        steady = (spent[-1] - spent[half]) / rows * 1e6
        REMARKS.append(f"steady {steady:.2f} CPU-s per million rows")


def _spark_query(spark: Any, work: Path, _end_us: int) -> Answers:
    from pyspark.sql import functions as F  # noqa: N812, PLC0415 - its usual name; only here

    left, right = (
        frame.withWatermark("ts", "0 seconds").alias(name)
        for name, frame in zip("AB", _streams(spark, work), strict=True)
    )
    span = F.expr("INTERVAL 60 SECONDS")
    near = (F.col("A.ts") <= F.col("B.ts") + span) & (F.col("B.ts") <= F.col("A.ts") + span)
    joined = left.join(right, (F.col("A.k") == F.col("B.k")) & near)
    totals = joined.agg(F.count(F.lit(1)).alias("n"), F.sum("A.v").alias("s"))
    answers: Answers = {}

    def keep(frame: Any, _batch: int) -> None:
        for row in frame.collect():
            answers[0] = (row["n"], row["s"])

    writer = totals.writeStream.outputMode("update").foreachBatch(keep)
    writer = writer.option("checkpointLocation", str(work / "checkpoint")).trigger(
        availableNow=True
    )
    writer.start().awaitTermination()
    return answers


CONTENDERS: dict[str, Callable[[AnchorData, int], Outcome]] = {
    "plain-python": plain_python,
    "windrow-embedded": embedded,
    "windrow-embedded-text-keys": embedded_text_keys,
    "windrow-spark": windrow_on_spark,
    "spark-alone": spark_alone,
}
