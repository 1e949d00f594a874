"""How long a row takes on Spark from its arrival to its answer at the sink, and the first answer.

    python benchmarks/spark_latency.py                      # about three minutes
    python benchmarks/spark_latency.py --every-ms 500 --seconds 120
    python benchmarks/spark_latency.py --only windrow

A file of ten rows is moved into the folder of a source again and again. Their event time is when
they arrive, so a row is answered with the first answer that is not older. Rows of equal time might
still come, so that answer is complete only when the next file is there: the last columns are from
then on. Spark's own aggregate counts rows by key; a file is answered when its rows are counted.
Each way runs in a process of its own on two cores, and its first seconds do not count. These are
seconds on the wall: a busy machine tells little.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from process_tree import machine
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console
from rich.table import Table

from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.settings import local_session, query_settings

ROWS = 10
WARM_S = 15.0
SCHEMA = "ts timestamp, k bigint, v bigint"
QUERY = "SELECT COUNT(*) AS n, SUM(A.v) AS s FROM A [60 SECONDS]"


class Trickle(threading.Thread):
    """Moves a file into a folder at equal intervals and remembers when it was there."""

    def __init__(self, folder: Path, every_s: float) -> None:
        super().__init__(daemon=True)
        self._folder, self._every_s = folder, every_s
        self.arrived_s: list[float] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        """Until it is over."""
        while not self.is_over.wait(self._every_s):
            number, now_us = len(self.arrived_s), time.time_ns() // 1_000
            rows = {
                "ts": pa.array([now_us] * ROWS).view(pa.timestamp("us", tz="UTC")),
                "k": pa.array(range(ROWS), pa.int64()),
                "v": pa.array([number] * ROWS, pa.int64()),
            }
            hidden = self._folder / f"_{number}"
            pq.write_table(pa.table(rows), hidden)
            hidden.rename(self._folder / f"{number:08d}.parquet")
            self.arrived_s.append(now_us / 1e6)


class Answers:
    """When which answer was at the sink: pairs of what is answered, and the time."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, float]] = []

    def note(self, reached: float) -> None:
        """Everything up to this file or instant is answered now."""
        self.seen.append((reached, time.time()))

    def waits_s(self, wanted: list[tuple[float, float]]) -> list[float]:
        """How long each waited that is answered; wanted: what it is, and when it arrived."""
        waits, place = [], 0
        for each, arrived_s in wanted:
            while place < len(self.seen) and self.seen[place][0] < each:
                place += 1
            if place == len(self.seen):
                break
            waits.append(self.seen[place][1] - arrived_s)
        return waits


def main() -> int:
    """Run both ways; print a table and JSON lines."""
    options = _options()
    if options.alone:
        print(json.dumps(_measured(options)))  # the parent process reads it
        return 0
    rows = [_in_own_process(name, options) for name in options.only or list(WAYS)]
    table = Table(title=f"A file of {ROWS} rows every {options.every_ms} ms: seconds")
    for heading in rows[0]:
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console(width=120).print(table)
    facts = {"command": " ".join(["python", *sys.argv]), **machine()}
    for row in rows:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(WAYS))
    parser.add_argument("--every-ms", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_own_process(name: str, options: argparse.Namespace) -> dict[str, Any]:
    Console(stderr=True).print(f"running {name} ...")
    command = [sys.executable, __file__, "--alone", name, "--every-ms", str(options.every_ms)]
    command += ["--seconds", str(options.seconds), "--cores", str(options.cores)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _measured(options: argparse.Namespace) -> dict[str, Any]:
    began_s, answers = time.time(), Answers()
    with tempfile.TemporaryDirectory(prefix="windrow-latency-") as work:
        spark = local_session(cores=options.cores)
        folder = Path(work) / "A"
        folder.mkdir()
        trickle = Trickle(folder, options.every_ms / 1_000)
        trickle.start()
        stop = WAYS[options.alone](spark, Path(work), answers)
        while not answers.seen:
            time.sleep(0.05)
        first_s = answers.seen[0][1] - began_s
        time.sleep(WARM_S + options.seconds)
        trickle.is_over.set()
        trickle.join()
        trickle_end_s = time.time()
        stop()
        spark.stop()
    arrived = list(trickle.arrived_s)
    by_time = options.alone == "windrow"
    wanted = [(at_s if by_time else number + 1, at_s) for number, at_s in enumerate(arrived)]
    counted_from_s = answers.seen[0][1] + WARM_S
    waits = sorted(answers.waits_s([pair for pair in wanted if pair[1] > counted_from_s]))
    cuts = statistics.quantiles(waits, n=20)
    # With Spark's aggregate a file waits for no other.
    complete = [*arrived[1:], trickle_end_s] if by_time else arrived
    known = [(what, complete[n]) for n, (what, at_s) in enumerate(wanted) if at_s > counted_from_s]
    since = sorted(answers.waits_s(known))
    return {
        "way": options.alone,
        "files": len(waits),
        "p50": round(statistics.median(waits), 3),
        "p95": round(cuts[-1], 3),
        "longest": round(waits[-1], 3),
        "first answer": round(first_s, 1),
        "p50 since complete": round(statistics.median(since), 3),
        "p95 since complete": round(statistics.quantiles(since, n=20)[-1], 3),
    }


def _stream(spark: SparkSession, work: Path) -> DataFrame:
    return spark.readStream.schema(SCHEMA).parquet(str(work / "A"))


def windrow(spark: SparkSession, work: Path, answers: Answers) -> Any:
    """A count and a sum over a window, at every instant at which a row came."""
    session = SparkWindrowSession(spark, "1 GB", str(work / "checkpoint"))
    session.stream("A", _stream(spark, work), time="ts")
    query = session.query(QUERY, name="latest")

    def keep(table: pa.Table, _batch: int) -> None:
        if table.num_rows:
            answers.note(table.column("at").cast(pa.int64())[-1].as_py() / 1e6)

    query.start(keep)
    return query.stop


def spark_aggregate(spark: SparkSession, work: Path, answers: Answers) -> Any:
    """Spark's own stateful batch: counts per key in the same state store."""
    for name, value in query_settings(2, str(work)).items():
        spark.conf.set(name, value)
    counted = _stream(spark, work).groupBy("k").count()

    def keep(frame: DataFrame, _batch: int) -> None:
        counts = frame.toArrow().column("count").to_pylist()
        answers.note(max(counts))  # each file has one row of every key

    writer = counted.writeStream.foreachBatch(keep).outputMode("update")
    writer = writer.option("checkpointLocation", str(work / "checkpoint"))
    return writer.start().stop


WAYS = {"spark aggregate": spark_aggregate, "windrow": windrow}

if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parent))
    sys.exit(main())
