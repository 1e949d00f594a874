"""What a row and what a micro-batch cost on Spark, from a bare scan to Windrow, in one run.

    python benchmarks/spark_pipeline.py                          # 1, 4 and 16 million rows
    python benchmarks/spark_pipeline.py --rows 1 --rows 50       # in millions
    python benchmarks/spark_pipeline.py --only windrow --rate 50000
    python benchmarks/spark_pipeline.py --buckets 2 --buckets 64 --rows 4 --only windrow
    python benchmarks/spark_pipeline.py --small                  # to try it out

CPU seconds of the driver, the JVM and the Python workers together. Each way runs in a process of
its own, which first runs a million rows that do not count: they pay for starting and compiling. The
files of one micro-batch hold half a million rows. Answers are checked, second by second or for two
instants a batch, before a figure is shown. The fixed cost is that of a batch of two rows. The bare
scan is run twice: in the session that Windrow has, whose settings make it cheaper as well, and in
one with the settings that Spark has by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pipeline_data import PipelineData, pipeline_data
from pipeline_paths import PATHS, STOCK_SCAN, Meter, Run
from process_tree import machine
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

from windrow.spark.processes.java import ensure_java
from windrow.spark.settings import local_session

MILLION = 1_000_000
MEMORY = "4g"
SCALED = ("scan", STOCK_SCAN, "scan + mapInArrow", "windrow", "windrow EVERY 1 s")
FIXED = ("spark aggregate", "spark python state", "windrow", "windrow EVERY 1 s")
JOIN = "spark join, aggregate"
JOIN_ROWS = 400_000  # more than these would take it hours
JOIN_BATCH_ROWS = 40_000
CHECKED_INSTANTS = 40
WARM_BATCHES, COUNTED_BATCHES = 40, 60


def main() -> int:
    """Run the ways that were asked for; print tables and JSON lines."""
    options = _options()
    if options.alone:
        for row in _measured(options):
            print(json.dumps(row))  # the parent process reads it
        return 0
    rows = [row for name in _chosen(options) for row in _in_own_process(name, options)]
    _compare(rows)
    _show(rows)
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    facts |= {"spark_cores": options.cores, "batch": options.batch}
    for row in rows:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0 if all(row.get("is_right", True) for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(PATHS))
    parser.add_argument("--rows", type=float, action="append", help="in millions; may be repeated")
    parser.add_argument("--rate", type=int, default=1_000, help="rows per second and side")
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--batch", type=int, default=500_000, help="rows of a micro-batch")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--buckets", type=int, action="append", help="of Windrow; may be repeated")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--no-fixed", action="store_true", help="leave small batches out")
    parser.add_argument("--small", action="store_true", help="a million rows and no join")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.rows = options.rows or ([1] if options.small else [1, 4, 16])
    options.buckets = options.buckets or [options.cores]
    return options


def _chosen(options: argparse.Namespace) -> list[str]:
    names = options.only or list(PATHS)
    return [name for name in names if name != JOIN or options.only or not options.small]


def _measured(options: argparse.Namespace) -> list[dict[str, Any]]:
    name = options.alone
    data = pipeline_data(options.rate, options.keys, options.seed)
    # Workers must find the operator of one of the ways.
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)
    made = _stock_session if name == STOCK_SCAN else local_session
    spark = made(cores=options.cores, memory=MEMORY)
    rows: list[dict[str, Any]] = []
    for buckets in options.buckets if name.startswith("windrow") else options.buckets[:1]:
        if name == JOIN:
            rows.append(_run(spark, name, data, JOIN_ROWS, JOIN_BATCH_ROWS, buckets))
        if name in SCALED:
            _run(spark, name, data, MILLION, options.batch, buckets)
            for millions in options.rows:
                count = int(millions * MILLION)
                rows.append(_run(spark, name, data, count, options.batch, buckets))
        if name in FIXED and not options.no_fixed:
            rows.append(_fixed(spark, name, data, buckets))
    spark.stop()
    return rows


def _stock_session(cores: int, memory: str) -> SparkSession:
    """A session as Spark makes it, but for its cores, memory, page and address."""
    os.environ.update(ensure_java())
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", memory)
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    return builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()


def _run(
    spark: Any, name: str, data: PipelineData, rows: int, batch_rows: int, buckets: int
) -> dict[str, Any]:
    """One way over so many rows."""
    work = Path(tempfile.mkdtemp(prefix="windrow-pipeline-"))
    try:
        data.write(work, rows, batch_rows)
        run = Run(spark, work, buckets)
        meter = Meter()
        PATHS[name](run)
        spent = meter.spent()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    report = {"way": name, "rows": rows, "rate": data.rate, "buckets": buckets}
    report |= {kind: round(seconds, 2) for kind, seconds in spent.items()}
    report["cpu_s_per_million"] = round(spent["cpu_s"] / rows * MILLION, 3)
    if len(run.cpu_at_batch) > 3:
        report["later_half"] = _later_half(run.cpu_at_batch, batch_rows)
    if run.answers:
        report["right"], report["is_right"] = _checked(name, data, rows, run)
    return {**report, **run.facts}


def _later_half(cpu_at_batch: list[float], batch_rows: int) -> float:
    """CPU seconds per million rows over the later half of the batches, when more is compiled."""
    later = cpu_at_batch[len(cpu_at_batch) // 2 :]
    return round((later[-1] - later[0]) / (len(later) - 1) / batch_rows * MILLION, 3)


def _checked(name: str, data: PipelineData, rows: int, run: Run) -> tuple[str, bool]:
    if "EVERY" in name:
        wanted = {second * MILLION: answer for second, answer in data.answers(rows).items()}
    else:
        instants = sorted(run.answers)
        step = max(1, len(instants) // CHECKED_INSTANTS)
        wanted = {at_us: data.answer_at(at_us) for at_us in instants[::step]}
    right = sum(run.answers.get(at_us) == answer for at_us, answer in wanted.items())
    return f"{right} of {len(wanted)}", 0 < right == len(wanted)


def _fixed(spark: Any, name: str, data: PipelineData, buckets: int) -> dict[str, Any]:
    """What a batch of two rows costs, in milliseconds, once everything is warm."""
    work = Path(tempfile.mkdtemp(prefix="windrow-pipeline-"))
    try:
        data.write(work, 2 * (WARM_BATCHES + COUNTED_BATCHES), 2)
        run = Run(spark, work, buckets)
        PATHS[name](run)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    counted = run.cpu_at_batch[WARM_BATCHES:]
    batch_ms = 1_000 * (counted[-1] - counted[0]) / (len(counted) - 1)
    return {"way": name, "buckets": buckets, "batch_cpu_ms": round(batch_ms, 1)}


def _in_own_process(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    Console(stderr=True).print(f"running {name} ...")
    command = [sys.executable, __file__, "--alone", name, "--seed", str(options.seed)]
    command += ["--rate", str(options.rate), "--keys", str(options.keys)]
    command += ["--batch", str(options.batch), "--cores", str(options.cores)]
    for millions in options.rows:
        command += ["--rows", str(millions)]
    for buckets in options.buckets:
        command += ["--buckets", str(buckets)]
    command += ["--no-fixed"] if options.no_fixed else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def _compare(rows: list[dict[str, Any]]) -> None:
    """Each way knows how many times a scan of as many rows it takes, in either session."""
    for column, scan in (("times_scan", "scan"), ("times_stock", STOCK_SCAN)):
        least = {row["rows"]: row["cpu_s"] for row in rows if row["way"] == scan and "rows" in row}
        for row in rows:
            if row.get("rows") in least:
                row[column] = round(row["cpu_s"] / least[row["rows"]], 2)


def _show(rows: list[dict[str, Any]]) -> None:
    scaled = [row for row in rows if "cpu_s" in row]
    fixed = [row for row in rows if "batch_cpu_ms" in row]
    table = Table(title="COUNT(*), SUM(A.v) over A[60 s] join B[60 s] on k: CPU seconds")
    columns = {"way": "way", "buckets": "buckets", "rows": "rows", "cpu_s_per_million": "a million"}
    columns |= {
        "later_half": "later half",
        "cpu_s": "all",
        "driver_s": "driver",
        "jvm_s": "JVM",
        "workers_s": "workers",
    }
    columns |= {"times_scan": "x scan", "times_stock": "x stock"}
    columns |= {"wall_s": "wall s", "right": "right", "says": "says"}
    for heading in columns.values():
        table.add_column(heading, justify="left" if heading in ("way", "right") else "right")
    for row in scaled:
        table.add_row(*[_cell(row.get(name, "")) for name in columns])
    Console(width=150).print(table)
    if fixed:
        table = Table(title="A batch of two rows: CPU milliseconds")
        for heading in ("way", "buckets", "CPU ms"):
            table.add_column(heading, justify="left" if heading == "way" else "right")
        for row in fixed:
            table.add_row(row["way"], str(row["buckets"]), str(row["batch_cpu_ms"]))
        Console(width=150).print(table)


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    sys.exit(main())
