"""NEXMark's queries through Windrow on Spark, beside Spark's own SQL: rows per CPU second.

    python benchmarks/nexmark/on_spark.py                # everything, about ten minutes
    python benchmarks/nexmark/on_spark.py --only q5
    python benchmarks/nexmark/on_spark.py --small        # a quarter of the events, to try it out

Both read the same Parquet files, four micro-batches of each stream, and give Arrow tables to a
function. Where Structured Streaming cannot say the query, Spark computes it anew after each batch.
What counts is CPU time of the driver, the JVM and the workers from the start of a query to its end;
the later half of the batches shows what is left when the start is over. Answers of the very run
that is measured are compared with DuckDB's, Windrow's at three instants.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from process_tree import machine

from nexmark.events import streams
from nexmark.live import tables_of
from nexmark.queries import QUERIES
from nexmark.spark_files import SparkRun, written
from nexmark.spark_own import SPARK_QUERIES, own_is_right, own_run
from nexmark.spark_windrow import windrow_is_right, windrow_run
from windrow.spark.settings import local_session

EVENTS = 200_000
PER_SECOND = 5_000  # 40 seconds: windows of 10 seconds fill, and rows leave them
WARM_EVENTS = 10_000
BATCHES, WARM_BATCHES = 4, 1
BUCKETS = 2
RIGHT = {True: "yes", False: "NO", None: "-"}


def main() -> int:
    """Run what was asked for; print a JSON line for each query as it ends, and a table."""
    options = _options()
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    # Workers must find the functions that queries call.
    paths = [str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    spark = local_session(cores=2, memory="3g")
    rows = []
    for name in options.only or QUERIES:
        Console(stderr=True).print(f"running {name} ...")
        rows.append(_measured(spark, name, options))
        print(json.dumps({**facts, **rows[-1]}), flush=True)
    spark.stop()
    _show(rows)
    return 0 if all(row["is_right"] for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(QUERIES))
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="a quarter of the events")
    parser.add_argument("--windowed", action="store_true", help="[10 SECONDS] behind each stream")
    parser.add_argument("--no-spark", action="store_true", help="without Spark's own SQL")
    return parser.parse_args()


def _measured(spark: SparkSession, name: str, options: argparse.Namespace) -> dict[str, Any]:
    """One query by both; a short run before each pays for what is compiled."""
    query = QUERIES[name]
    is_windowed = options.windowed and query.reads_whole_streams
    events = EVENTS // 4 if options.small else EVENTS
    tables = tables_of(query, streams(events, per_second=PER_SECOND, seed=options.seed))
    warm = tables_of(query, streams(WARM_EVENTS, per_second=PER_SECOND, seed=options.seed))
    row: dict[str, Any] = {"query": name, "windows": "10 s" if is_windowed else "as published"}
    with tempfile.TemporaryDirectory(prefix="windrow-nexmark-") as folder:
        work = Path(folder)
        for part, rows, batches in (("warm", warm, WARM_BATCHES), ("run", tables, BATCHES)):
            written(work / part / "in", rows, batches)
            run = windrow_run(spark, query, work / part, BUCKETS, is_windowed=is_windowed)
        row["is_right"] = windrow_is_right(query, tables, run, is_windowed=is_windowed)
        row |= {"rows": sum(table.num_rows for table in tables.values()), "runs_in": run.runs_in}
        row |= _figures("windrow", row["rows"], run)
        own = SPARK_QUERIES.get(name)
        if own is None or is_windowed or options.no_spark:
            return row
        try:
            for part in ("warm", "run"):
                run = own_run(spark, query, own, work / part, BUCKETS)
        except PySparkException as refused:
            Console(stderr=True).print(f"Spark does not run {name}: {str(refused)[:200]}")
            return row
        row |= {"spark_kind": own.kind, "spark_is_right": own_is_right(query, own, tables, run)}
        row |= _figures("spark", row["rows"], run)
    rates = row["windrow_per_cpu_s"], row["spark_per_cpu_s"]
    row["ratio"] = round(rates[0] / rates[1], 2) if all(rates) else None
    return row


def _figures(whose: str, rows: int, run: SparkRun) -> dict[str, Any]:
    """Rows per CPU second: of the whole run, and of the later half of its batches."""
    with_rows = run.cpu_at_batch[:BATCHES]  # Spark may add one that only closes windows
    half = BATCHES // 2
    later_s = with_rows[-1] - with_rows[half - 1]
    later_rows = rows * (BATCHES - half) / BATCHES
    return {
        f"{whose}_per_cpu_s": _rate(rows, run.cpu_s),
        f"{whose}_later_per_cpu_s": _rate(later_rows, later_s),
        f"{whose}_cpu_s": round(run.cpu_s, 2),
        f"{whose}_told": run.told,
    }


def _rate(rows: float, seconds: float) -> int | None:
    """None where the CPU time of a worker that ended meanwhile is in no process any more."""
    return round(rows / seconds) if seconds > 0 else None


def _show(rows: list[dict[str, Any]]) -> None:
    table = Table(title="NEXMark on Spark: thousand rows per CPU second")
    for heading in ("query", "runs", "right"):
        table.add_column(heading)
    for heading in ("Windrow", "later half", "changes"):
        table.add_column(heading, justify="right")
    table.add_column("Spark's own")
    table.add_column("right")
    for heading in ("k rows / CPU-s", "later half", "rows told", "ratio"):
        table.add_column(heading, justify="right")
    for row in rows:
        cells = [row["query"], row["runs_in"], "yes" if row["is_right"] else "NO"]
        cells += [_thousands(row, "windrow_per_cpu_s"), _thousands(row, "windrow_later_per_cpu_s")]
        cells.append(f"{row['windrow_told']:,}")
        if "spark_kind" in row:
            cells += [row["spark_kind"], RIGHT[row["spark_is_right"]]]
            cells += [_thousands(row, "spark_per_cpu_s"), _thousands(row, "spark_later_per_cpu_s")]
            cells += [f"{row['spark_told']:,}", str(row["ratio"])]
        table.add_row(*cells)
    Console(width=150).print(table)


def _thousands(row: dict[str, Any], name: str) -> str:
    return "-" if row[name] is None else f"{row[name] / 1e3:,.0f}"


if __name__ == "__main__":
    sys.exit(main())
