"""What a bucket costs through Spark: planning, scheduling, its task, its worker, and our driver.

    python benchmarks/spark_buckets.py                             # 2, 16, 64 and 256 buckets
    python benchmarks/spark_buckets.py --buckets 2 --buckets 64

CPU milliseconds of a batch with few rows, by who spends them. Two cores run all buckets, one after
the other: what is measured is what grows with them, above all on the driver, which is alone however
many machines there are. The JVM's share is read thread by thread from /proc, so Linux is needed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
from pipeline_data import pipeline_data
from pipeline_paths import QUERY, Run, cpu_seconds
from process_tree import machine
from rich.console import Console
from rich.table import Table

from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.settings import local_session

BUCKETS = (2, 16, 64, 256)
BATCH_ROWS = 2_000
# Names of threads as the kernel has them, cut to fifteen signs; all others of the JVM are "tasks":
# those that run them, serve their state, compile code and collect garbage.
PLANNING = ("stream executio",)
SCHEDULING = (
    "dag-scheduler-e",
    "dispatcher-",
    "task-result-get",
    "spark-listener-",
    "element-trackin",
    "task-scheduler-",
    "block-manager-",
)


def main() -> int:
    """Run all numbers of buckets, each in a process of its own; print a table and JSON lines."""
    options = _options()
    if options.alone:
        print(json.dumps(_measured(options.alone, options)))  # the parent process reads it
        return 0
    rows = [_in_own_process(buckets, options) for buckets in options.buckets or BUCKETS]
    table = Table(title=f"A batch of {options.rows} rows: CPU milliseconds")
    for heading in rows[0]:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*map(str, row.values()))
    Console(width=140).print(table)
    facts = {"command": " ".join(["python", *sys.argv]), **machine()}
    for row in rows:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--buckets", type=int, action="append")
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--warm", type=int, default=6, help="batches that do not count")
    parser.add_argument("--rows", type=int, default=BATCH_ROWS, help="of a batch")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--alone", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_own_process(buckets: int, options: argparse.Namespace) -> dict[str, Any]:
    Console(stderr=True).print(f"running {buckets} buckets ...")
    command = [sys.executable, __file__, "--alone", str(buckets)]
    for name in ("batches", "warm", "rows", "cores"):
        command += [f"--{name}", str(getattr(options, name))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _measured(buckets: int, options: argparse.Namespace) -> dict[str, Any]:
    data = pipeline_data(1_000, 1_000, seed=7)
    spark = local_session(cores=options.cores, memory="6g")
    work = Path(tempfile.mkdtemp(prefix="windrow-buckets-"))
    spent: list[Counter[str]] = []
    try:
        data.write(work, options.rows * (options.warm + options.batches + 1), options.rows)
        run = Run(spark, work, buckets)
        checkpoint = str(work / "checkpoint")
        session = SparkWindrowSession(spark, "4 GB", checkpoint, buckets=buckets)
        for name, frame in zip("AB", run.streams(), strict=True):
            session.stream(name, frame, time="ts")
        query = session.query(f"{QUERY} EVERY (1 SECOND)", name="anchor")
        query.start(lambda _table, _batch: spent.append(_spent()), trigger="available")
        query.await_end()
    finally:
        spark.stop()
        shutil.rmtree(work, ignore_errors=True)
    counted = spent[options.warm :]
    parts = counted[-1] - counted[0]
    each = {name: round(1_000 * parts[name] / (len(counted) - 1), 1) for name in counted[0]}
    return {
        "buckets": buckets,
        "batches": len(counted) - 1,
        **each,
        "all": round(sum(each.values()), 1),
    }


def _spent() -> Counter[str]:
    """CPU seconds so far, by who spent them."""
    total = cpu_seconds()
    found = Counter({"our driver": total["driver"], "workers": total["workers"]})
    java = next(p for p in psutil.Process().children(recursive=True) if p.name().startswith("java"))
    for name, seconds in _threads(java.pid):
        if name.startswith(PLANNING):
            found["planning"] += seconds
        elif name.startswith(SCHEDULING):
            found["scheduling"] += seconds
    found["tasks in the JVM"] = total["jvm"] - found["planning"] - found["scheduling"]
    return found


def _threads(process: int) -> list[tuple[str, float]]:
    """Names of a process's threads, and what each has spent."""
    ticks, found = os.sysconf("SC_CLK_TCK"), []
    for thread in Path(f"/proc/{process}/task").iterdir():
        try:
            text = (thread / "stat").read_text()
        except OSError:
            continue  # it has just ended
        name, _, rest = text.partition("(")[2].rpartition(")")
        user, system = rest.split()[11:13]
        found.append((name, (int(user) + int(system)) / ticks))
    return found


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parent))
    sys.exit(main())
