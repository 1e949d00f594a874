"""The console's server: what it costs to send a feed of 100,000 points, whole and by what is new.

python benchmarks/console.py [points]: answers of an ungrouped query (at, level, error_bound, a
count and a mean) lie in a feed. CPU time of this process, median of nine; the baseline, in the same
run, is the plain way to the same JSON: table.to_pylist() and json.dumps. What is sent is read back
and compared first.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from process_tree import machine

from windrow.apps.console.answers import arrow
from windrow.apps.console.endpoints.feeds import piece_values
from windrow.apps.console.json_rows import dumped
from windrow.apps.console.ring import FeedRing

POINTS = 100_000
NEW_ROWS = 50  # five a second and ten groups, or fifty groups and one a second
ROUNDS = 9
START_US = 1_700_000_000_000_000


def answers(first: int, count: int) -> pa.Table:
    """Answers as a query gives them."""
    random = np.random.default_rng(first)
    times = START_US + np.arange(first, first + count) * 1_000_000
    return pa.table(
        {
            "at": pa.array(times).cast(pa.timestamp("us", tz="UTC")),
            "level": pa.array(["A"] * count),
            "error_bound": pa.nulls(count, pa.float64()),
            "n": pa.array(random.integers(0, 1_000_000, count)),
            "mean": pa.array(random.random(count) * 100),
        }
    )


def plainly(table: pa.Table) -> str:
    """The plain way."""
    rows = [
        [round(row["at"].timestamp() * 1e6), *list(row.values())[1:]] for row in table.to_pylist()
    ]
    return json.dumps(rows)


def cpu_ms(step: Callable[[], object]) -> float:
    """Median milliseconds of processor time."""
    took = []
    for _ in range(ROUNDS):
        began = time.process_time()
        step()
        took.append(1_000 * (time.process_time() - began))
    return statistics.median(took)


def main(points: int = POINTS) -> None:
    """Prints a table and JSON."""
    ring, table = FeedRing(answers(0, 0).schema), answers(0, points)
    for first in range(0, points, NEW_ROWS):
        ring.add(table.slice(first, NEW_ROWS))
    whole = dumped(piece_values(ring.read(0, points)))
    assert json.loads(whole)["rows"] == json.loads(plainly(table))
    ipc = arrow(ring.read(0, points).table, {}).body
    assert pa.ipc.open_stream(ipc).read_all() == table
    number = points

    def update() -> str:
        nonlocal number
        ring.add(answers(number, NEW_ROWS))
        after, number = number, number + NEW_ROWS
        return dumped(piece_values(ring.read(after, points)))

    fresh = cpu_ms(lambda: answers(number, NEW_ROWS))  # made by the query, not by the console
    figures = {
        "baseline: all points, to_pylist and json.dumps": cpu_ms(lambda: plainly(table)),
        "all points as JSON": cpu_ms(lambda: dumped(piece_values(ring.read(0, points)))),
        "all points as Arrow IPC": cpu_ms(lambda: arrow(ring.read(0, points).table, {})),
        f"an update: {NEW_ROWS} rows come, and only they are sent": cpu_ms(update) - fresh,
    }
    baseline = next(iter(figures.values()))
    print(f"{points:,} points; CPU milliseconds, median of {ROUNDS}\n")
    for name, took in figures.items():
        print(f"{name:<52} {took:10.2f}   1/{baseline / max(took, 1e-6):,.0f} of the baseline")
    print(f"\nbytes: JSON {len(whole):,}, Arrow IPC {len(ipc):,}")
    record = {"machine": machine(), "points": points, "cpu_ms": figures, "seed": 0}
    print(json.dumps(record | {"bytes": {"json": len(whole), "arrow": len(ipc)}}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
