"""Live selects, every change put out, beside Python loops and beside computing anew in DuckDB.

    python benchmarks/live_selects.py                      # everything, about two minutes
    python benchmarks/live_selects.py --only join --store branch-ladder
    python benchmarks/live_selects.py --small              # a tenth of the rows, to try it out

Windrow's changes are read after every push of 20,000 rows; the loop gathers the same changes in a
list. DuckDB computes the result anew once in a second of event time. All changes of a first run
are compared with the loop's, net by instant and row. What counts is CPU time of the process, the
better of two runs; a change is a row of the feed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from live_loops import LOOPS, Change, Event
from process_tree import machine
from rich.console import Console
from rich.table import Table

import windrow

WINDOW_S = 10
PUSH = 20_000
ROWS_PER_S = 10_000  # of each stream
RUNS = 2
TICKS_COMPUTED = 4
QUERIES = {
    "SELECT": "SELECT k, v FROM a [{w}]",
    "join": "SELECT a.k, a.v, b.v AS w FROM a [{w}], b [{w}] WHERE a.k = b.k",
    "DISTINCT": "SELECT DISTINCT k FROM a [{w}]",
    "DISTINCT of a join": "SELECT DISTINCT a.v, b.v AS w FROM a [{w}], b [{w}] WHERE a.k = b.k",
    "LEFT ANTI JOIN": "SELECT a.k, a.v FROM a [{w}] LEFT ANTI JOIN b [{w}] ON a.k = b.k",
}
# The same over the rows of two tables that are in the windows.
ANEW = {
    "SELECT": "SELECT k, v FROM a",
    "join": "SELECT a.k, a.v, b.v AS w FROM a, b WHERE a.k = b.k",
    "DISTINCT": "SELECT DISTINCT k FROM a",
    "DISTINCT of a join": "SELECT DISTINCT a.v, b.v AS w FROM a, b WHERE a.k = b.k",
    "LEFT ANTI JOIN": "SELECT k, v FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.k = b.k)",
}
# Matches of a row decide what a join costs: so many keys that it has one or two.
KEYS = {"DISTINCT": 20_000, "LEFT ANTI JOIN": 200_000}
USUAL_KEYS = 75_000


class Streams:
    """Two streams of random keys, one row after the other."""

    def __init__(self, rows: int, keys: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        step_us = 1_000_000 // ROWS_PER_S
        self.times = [np.arange(rows) * step_us + stream * (step_us // 2) for stream in range(2)]
        self.keys = [random.integers(0, keys, rows) for _ in range(2)]
        self.values = [random.integers(0, 100, rows) for _ in range(2)]

    def table(self, stream: int) -> pa.Table:
        """One stream as the session takes it."""
        at = pa.array(self.times[stream], pa.timestamp("us", "UTC"))
        return pa.table({"ts": at, "k": self.keys[stream], "v": self.values[stream]})

    def events(self) -> list[Event]:
        """Both streams in order of time."""
        columns = [
            (self.times[i].tolist(), [i] * self.times[i].size, self.keys[i].tolist(), v.tolist())
            for i, v in enumerate(self.values)
        ]
        return sorted(event for each in columns for event in zip(*each, strict=True))


def main() -> int:
    """Run what was asked for; print a table and JSON lines."""
    options = _options()
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    rows: list[dict[str, Any]] = []
    for name in options.only or QUERIES:
        Console(stderr=True).print(f"running {name} ...")
        rows += _measure(name, options)
    _show(rows)
    for row in rows:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0 if all(row["is_right"] for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(QUERIES))
    parser.add_argument("--store", default="auto")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="a tenth of the rows")
    return parser.parse_args()


def _measure(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    store = "auto" if name == "SELECT" else options.store
    size = 60_000 if options.small else 600_000
    keys = KEYS.get(name, USUAL_KEYS)
    short = Streams(60_000 if options.small else 200_000, keys, options.seed)
    events = short.events()
    began = time.process_time()
    truth = LOOPS[name](events, WINDOW_S * 1_000_000)
    loop_s = time.process_time() - began
    found: list[Change] = []
    _run(name, short, store, found)
    last_us = max(int(times[-1]) for times in short.times)
    is_right = _net(found) == _net(change for change in truth if change[0] <= last_us)
    streams = Streams(size, keys, options.seed + 1)
    runs = [_run(name, streams, store, None) for _ in range(RUNS)]
    spent, changes, kept = min(runs)
    count = 1 if name in ("SELECT", "DISTINCT") else 2
    anew_s = _anew(name, streams)
    return [
        _row(name, f"Windrow, {store}", count * size, changes, spent, is_right, kept),
        _row(name, "Python loop", len(events) * count // 2, len(truth), loop_s, True, None),
        _row(name, "DuckDB, each second", count * ROWS_PER_S * TICKS_COMPUTED, None, anew_s, True,
             None),
    ]  # fmt: skip


def _run(
    name: str, streams: Streams, store: str, found: list[Change] | None
) -> tuple[float, int, int]:
    """CPU seconds, changes and bytes kept; the changes themselves where a list is given."""
    session = windrow.connect(memory="4 GB")
    for stream in "ab":
        session.stream(stream, "ts timestamp, k bigint, v bigint", time="ts")
    query = session.query(QUERIES[name].format(w=f"{WINDOW_S} SECONDS"), store=store)
    tables = [streams.table(stream) for stream in range(2)]
    changes = 0
    began = time.process_time()
    for first in range(0, tables[0].num_rows, PUSH):
        for stream, table in zip("ab", tables, strict=True):
            session.push(stream, table.slice(first, PUSH))
        table = query.changes()
        changes += table.num_rows
        if found is not None:
            found += _listed(table)
    kept = query.nbytes
    session.finish()
    table = query.changes()
    spent = time.process_time() - began
    if found is not None:
        found += _listed(table)
    return spent, changes + table.num_rows, kept


def _listed(table: pa.Table) -> list[Change]:
    at, change, *columns = (column.to_pylist() for column in _numbers(table).columns)
    return [
        (when, sign, tuple(row))
        for when, sign, row in zip(at, change, zip(*columns, strict=True), strict=True)
    ]


def _numbers(table: pa.Table) -> pa.Table:
    return table.set_column(0, "at", table.column("at").cast(pa.int64()))


def _net(changes: Any) -> dict[tuple[int, tuple[int, ...]], int]:
    net: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for at, sign, row in changes:
        net[at, row] += sign
    return {key: many for key, many in net.items() if many}


def _anew(name: str, streams: Streams) -> float:
    """CPU seconds of computing the result at a few seconds of full windows."""
    database = duckdb.connect()
    database.execute("SET threads = 1")
    whole = [streams.table(stream) for stream in range(2)]
    spent = 0.0
    for second in range(WINDOW_S, WINDOW_S + TICKS_COMPUTED):
        until = second * ROWS_PER_S
        first = until - WINDOW_S * ROWS_PER_S
        for stream, table in zip("ab", whole, strict=True):
            database.register(stream, table.slice(first, until - first))
        began = time.process_time()
        database.sql(ANEW[name]).to_arrow_table()
        spent += time.process_time() - began
    return spent


def _row(
    query: str, contender: str, rows: int, changes: int | None, spent: float, is_right: bool,
    kept: int | None,
) -> dict[str, Any]:  # fmt: skip
    return {
        "query": query,
        "contender": contender,
        "rows": rows,
        "changes": changes,
        "cpu_s": round(spent, 3),
        "rows_per_cpu_s": int(rows / spent),
        "changes_per_cpu_s": None if changes is None else int(changes / spent),
        "bytes": kept,
        "is_right": is_right,
    }


def _show(rows: list[dict[str, Any]]) -> None:
    loops = {r["query"]: r["rows_per_cpu_s"] for r in rows if r["contender"] == "Python loop"}
    table = Table(title=f"Live selects over {WINDOW_S} s, rows and changes per CPU second")
    for heading in ("query", "contender", "right"):
        table.add_column(heading)
    for heading in ("rows", "CPU s", "rows / CPU-s", "x Python loop", "changes / CPU-s", "MB"):
        table.add_column(heading, justify="right")
    for row in rows:
        changes, kept = row["changes_per_cpu_s"], row["bytes"]
        table.add_row(
            row["query"], row["contender"], "yes" if row["is_right"] else "NO",
            f"{row['rows']:,}", str(row["cpu_s"]), f"{row['rows_per_cpu_s']:,}",
            f"{row['rows_per_cpu_s'] / loops[row['query']]:.3g}",
            "-" if changes is None else f"{changes:,}",
            "-" if kept is None else f"{kept / 1e6:.1f}",
        )  # fmt: skip
    Console(width=150).print(table)


if __name__ == "__main__":
    sys.exit(main())
