"""Queries that are trees, beside computing them anew in DuckDB each second.

    python benchmarks/trees.py                      # everything, about two minutes
    python benchmarks/trees.py --only lag
    python benchmarks/trees.py --small              # a third of the rows, to try it out

Both streams have 4,000 rows a second of 1,000 keys, windows of 5 minutes, an answer each second;
the left join 20,000 rows a second and windows of 10 seconds, as DuckDB forms all of its pairs.
Answers are read after every push of 100,000 rows. DuckDB computes the answer anew at a few seconds
of full windows; there Windrow's answers are compared with its. What counts is CPU time of the
process, the better of two runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from process_tree import machine
from rich.console import Console
from rich.table import Table

import windrow

PUSH = 100_000
# Seconds of a window, and rows of each stream in a second.
USUAL_SIZE = (300, 4_000)
SIZES = {"left join, grouped": (10, 20_000)}
KEYS = 1_000
RUNS = 2
TICKS_COMPUTED = 4
BOTH = 2
# The text of each, with {a} and {b} for the windows, and how many streams it reads.
QUERIES: dict[str, tuple[str, int]] = {
    "two levels": (
        "SELECT MAX(n) AS most, AVG(n) AS mean FROM (SELECT k, COUNT(*) AS n FROM {a} GROUP BY k)",
        1,
    ),
    "left join, grouped": (
        "SELECT a.k, COUNT(b.v) AS n, SUM(b.v) AS s, SUM(a.v) AS t"
        " FROM {a} LEFT JOIN {b} ON a.k = b.k GROUP BY a.k",
        BOTH,
    ),
    "top 10 of each key": (
        "SELECT k, v FROM (SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS r"
        " FROM {a}) WHERE r <= 10",
        1,
    ),
    "lag": (
        "SELECT COUNT(*) AS n, SUM(d) AS s FROM"
        " (SELECT v - LAG(v) OVER (PARTITION BY k ORDER BY ts) AS d FROM {a}) WHERE d > 0",
        1,
    ),
    "union all, grouped": (
        "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM"
        " (SELECT k, v FROM {a} UNION ALL SELECT k, v FROM {b}) GROUP BY k",
        BOTH,
    ),
    "distinct of a union": (
        "SELECT COUNT(*) AS n FROM (SELECT k, v FROM {a} UNION SELECT k, v FROM {b})",
        BOTH,
    ),
    "semi join": (
        "SELECT COUNT(*) AS n FROM {a}"
        " WHERE EXISTS (SELECT 1 FROM {b} WHERE b.k = a.k AND b.v = a.v)",
        BOTH,
    ),
}


def main() -> int:
    """Run what was asked for; print a table and JSON lines."""
    options = _options()
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    rows = []
    for name in options.only or QUERIES:
        Console(stderr=True).print(f"running {name} ...")
        rows.append(_measure(name, options))
    _show(rows)
    for row in rows:
        print(json.dumps({**facts, **row}))
    return 0 if all(row["is_right"] for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(QUERIES))
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="a third of the rows")
    return parser.parse_args()


def _stream(rows: int, seed: int, per_second: int) -> pa.Table:
    random = np.random.default_rng(seed)
    step_us = 1_000_000 // per_second
    # One microsecond after the grid: no row has the time of a tick, where windows begin.
    at = pa.array(np.arange(rows) * step_us + 1, pa.timestamp("us", "UTC"))
    keys, values = random.integers(0, KEYS, rows), random.integers(0, 1_000_000, rows)
    return pa.table({"ts": at, "k": keys, "v": values})


def _measure(name: str, options: argparse.Namespace) -> dict[str, Any]:
    rows = 1_400_000 if options.small else 4_000_000
    text, streams = QUERIES[name]
    window_s, per_second = SIZES.get(name, USUAL_SIZE)
    tables = [_stream(rows, options.seed + i, per_second) for i in range(streams)]
    _run(text, [table.slice(0, PUSH) for table in tables], window_s)  # compiles
    runs = [_run(text, tables, window_s) for _ in range(RUNS)]
    spent, kept, answers = min(runs, key=lambda run: run[0])
    anew_s, is_right = _anew(text, tables, answers, (window_s, per_second))
    ours = streams * rows / spent
    anew = streams * per_second * TICKS_COMPUTED / anew_s
    return {
        "query": name,
        "rows": streams * rows,
        "rows_per_cpu_s": round(ours),
        "duckdb_each_second": round(anew),
        "ratio": round(ours / anew, 1),
        "bytes_kept": kept,
        "is_right": is_right,
    }


def _run(text: str, tables: list[pa.Table], window_s: int) -> tuple[float, int, pa.Table]:
    """CPU seconds, bytes kept and all answers."""
    session = windrow.connect(memory="4 GB")
    for stream in "ab"[: len(tables)]:
        session.stream(stream, "ts timestamp, k bigint, v bigint", time="ts")
    windows = {name: f"{name} [{window_s} SECONDS]" for name in "ab"}
    query = session.query(text.format(**windows) + " EVERY (1 SECOND)")
    answers = []
    began = time.process_time()
    for first in range(0, tables[0].num_rows, PUSH):
        for stream, table in zip("ab", tables, strict=False):
            session.push(stream, table.slice(first, PUSH))
        answers.append(query.answers())
    spent = time.process_time() - began
    return spent, query.nbytes, pa.concat_tables(answers)


def _anew(
    text: str, tables: list[pa.Table], answers: pa.Table, size: tuple[int, int]
) -> tuple[float, bool]:
    """CPU seconds of computing a few answers, and whether ours are the same."""
    database = duckdb.connect()
    database.execute("SET threads = 1")
    spent, is_right = 0.0, True
    window_s, per_second = size
    for second in range(window_s, window_s + TICKS_COMPUTED):
        until = second * per_second
        for stream, table in zip("ab", tables, strict=False):
            rows = table.slice(until - window_s * per_second, window_s * per_second)
            database.register(stream, rows)
        began = time.process_time()
        expected = database.sql(text.format(a="a", b="b")).to_arrow_table()
        spent += time.process_time() - began
        at = pa.scalar(second * 1_000_000, pa.timestamp("us", "UTC"))
        ours = answers.filter(pc.equal(answers["at"], at)).select(expected.column_names)
        is_right = is_right and _sorted(ours) == _sorted(expected)
    return spent, is_right


def _sorted(table: pa.Table) -> list[tuple[Any, ...]]:
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return sorted(tuple(round(float(value), 6) for value in row) for row in rows)


def _show(rows: list[dict[str, Any]]) -> None:
    table = Table("query", "M rows per CPU-s", "DuckDB each second", "ratio", "MB kept", "right")
    for row in rows:
        table.add_row(
            row["query"],
            f"{row['rows_per_cpu_s'] / 1e6:.2f}",
            f"{row['duckdb_each_second'] / 1e6:.3f}",
            f"{row['ratio']:.1f}",
            f"{row['bytes_kept'] / 1e6:.1f}",
            "yes" if row["is_right"] else "NO",
        )
    Console().print(table)


if __name__ == "__main__":
    raise SystemExit(main())
