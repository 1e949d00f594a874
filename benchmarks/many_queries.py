"""What queries cost on Spark that share an operator, beside as many that run on their own.

    python benchmarks/many_queries.py                    # 8 queries, 4 million rows
    python benchmarks/many_queries.py --queries 2 --rows 1

All are the anchor query with windows of different width and an answer a second. CPU seconds of the
driver, the JVM and the Python workers, after a run that does not count. The answers of the query
with windows of 60 s are checked, and those of all others against the way before.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
from pipeline_data import PipelineData, pipeline_data
from pipeline_paths import QUERY, Meter, Run
from process_tree import machine
from rich.console import Console
from rich.table import Table

from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.settings import local_session

MILLION = 1_000_000
Found = dict[str, dict[int, tuple[int, int]]]  # by query and instant


def main() -> int:
    """Run all ways; print a table and JSON lines."""
    options = _options()
    data = pipeline_data(1_000, 1_000, options.seed)
    texts = _texts(options.queries)
    spark = local_session(cores=2, memory="4g")
    ways: dict[str, tuple[dict[str, str], bool]] = {
        "one query": (dict(list(texts.items())[:1]), False),
        "together": (texts, True),
        "each on its own": (texts, False),
    }
    rows, found = [], {}
    for name, (chosen, is_shared) in ways.items():
        _run(spark, data, MILLION, chosen, is_shared)
        row, found[name] = _run(spark, data, int(options.rows * MILLION), chosen, is_shared)
        rows.append({"way": name, "queries": len(chosen), **row})
    spark.stop()
    is_right = _is_right(data, int(options.rows * MILLION), found)
    _show(rows, is_right)
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    for row in rows:
        print(json.dumps({**facts, "is_right": is_right, **row}))  # the result for machines
    return 0 if is_right else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=8)
    parser.add_argument("--rows", type=float, default=4, help="in millions")
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


def _texts(count: int) -> dict[str, str]:
    """The anchor query first; the windows of the others are 5 s narrower each."""
    widths = [max(5, 60 - 5 * number) for number in range(count)]
    return {
        f"q{number}": f"{QUERY.replace('60', str(width))} EVERY (1 SECOND)"
        for number, width in enumerate(widths)
    }


def _run(
    spark: Any, data: PipelineData, rows: int, texts: dict[str, str], is_shared: bool
) -> tuple[dict[str, Any], Found]:
    work = Path(tempfile.mkdtemp(prefix="windrow-many-"))
    try:
        data.write(work, rows, 500_000)
        run = Run(spark, work, 2)
        meter = Meter()
        found, state_bytes = _answered(run, texts, is_shared)
        spent = meter.spent()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    report = {"rows": rows, "state_bytes": state_bytes}
    report |= {kind: round(seconds, 2) for kind, seconds in spent.items()}
    return report, found


def _answered(run: Run, texts: dict[str, str], is_shared: bool) -> tuple[Found, int]:
    session = SparkWindrowSession(run.spark, "4 GB", str(run.work / "checkpoint"), buckets=2)
    for name, frame in zip("AB", run.streams(), strict=True):
        session.stream(name, frame, time="ts")
    queries = {name: session.query(text, name=name) for name, text in texts.items()}
    if is_shared:
        session.start(dict.fromkeys(texts, "memory"), trigger="available")
    else:
        for query in queries.values():
            query.start("memory", trigger="available")
    for query in queries.values():
        query.await_end()
    stored = [query.progress()["state_bytes"] for query in queries.values()]
    found = {name: _by_instant(query.answers()) for name, query in queries.items()}
    session.stop()
    return found, max(stored) if is_shared else sum(stored)


def _by_instant(table: pa.Table) -> dict[int, tuple[int, int]]:
    times = table.column("at").cast(pa.int64()).to_pylist()
    pairs = zip(table.column("n").to_pylist(), table.column("s").to_pylist(), strict=True)
    return dict(zip(times, pairs, strict=True))


def _is_right(data: PipelineData, rows: int, found: dict[str, Found]) -> bool:
    wanted = {second * MILLION: answer for second, answer in data.answers(rows).items()}
    anchor = found["one query"]["q0"]
    is_anchor_right = all(anchor.get(at_us) == answer for at_us, answer in wanted.items())
    return is_anchor_right and found["together"] == found["each on its own"]


def _show(rows: list[dict[str, Any]], is_right: bool) -> None:
    title = "the anchor query at several widths, EVERY 1 s: CPU seconds"
    table = Table(title=f"{title}; answers {'right' if is_right else 'WRONG'}")
    columns = ["way", "queries", "rows", "cpu_s", "driver_s", "jvm_s", "workers_s", "wall_s"]
    for heading in (*columns, "state_bytes"):
        table.add_column(heading, justify="left" if heading == "way" else "right")
    for row in rows:
        table.add_row(*[str(row[name]) for name in (*columns, "state_bytes")])
    Console(width=130).print(table)


if __name__ == "__main__":
    sys.exit(main())
