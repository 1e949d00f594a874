"""Structures that rows expire from, beside Python's heapq, in one run.

    python benchmarks/expiry.py                          # everything, some minutes
    python benchmarks/expiry.py --only wheel --live 10000 --live 1000000
    python benchmarks/expiry.py --small                  # up to 100,000 live rows, to try it out

Rows come in batches, and after each batch all that has expired leaves; what counts is CPU time of
the thread for a row, from when as many rows are live as were asked for. All structures must give
out the same rows in the same order, compared in every 16th batch; heapq is not compared, and runs
on fewer batches, once as many rows are live. Pareto expiries take longest to come to many rows.
"""

from __future__ import annotations

import argparse
import heapq
import json
import sys
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from expiry_loads import LOADS, Load, load_of
from process_tree import machine
from rich.console import Console
from rich.table import Table

from windrow.results.calendar.calendar_queue import CalendarQueue
from windrow.results.expiry_queue import ExpiryQueue
from windrow.results.fifo_queue import FifoQueue
from windrow.results.heap.binary_heap import BinaryHeap
from windrow.results.ladder.ladder_queue import BranchLadderQueue, LadderQueue
from windrow.results.wheel.timing_wheel import TimingWheel

HEAPQ = "heapq"
QUEUES: dict[str, Callable[[], ExpiryQueue]] = {
    "fifo": FifoQueue,
    "wheel": TimingWheel,
    "branch ladder": BranchLadderQueue,
    "branch ladder, paper": lambda: BranchLadderQueue(threshold=2),
    "ladder": LadderQueue,
    "calendar": CalendarQueue,
    "heap": BinaryHeap,
}
LIVE = (10_000, 100_000, 1_000_000, 5_000_000)
HEAPQ_ROWS = 200_000
SLOWEST_NS = 2_000  # a structure that was slower is not tried with more rows
GOALS_NS = {"wheel": 10.0, "branch ladder": 50.0}


def main() -> int:
    """Run what was asked for; print a table and JSON lines."""
    options = _options()
    rows = []
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    for name in options.load or LOADS:
        too_slow: set[str] = set()
        for live in options.live or LIVE[: 2 if options.small else len(LIVE)]:
            Console(stderr=True).print(f"running {name}, {live:,} live ...")
            load = load_of(name, live, options.seed)
            row = _measure(load, options.only or [*QUEUES, HEAPQ], too_slow)
            too_slow |= {each for each, ns in row["ns"].items() if ns > SLOWEST_NS}
            rows.append(row)
            print(json.dumps({**facts, **row}), flush=True)  # for machines, kept if it is ended
    _show(rows)
    return 0 if all(row["is_right"] for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=[*QUEUES, HEAPQ])
    parser.add_argument("--load", action="append", choices=list(LOADS))
    parser.add_argument("--live", action="append", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="up to 100,000 live rows")
    return parser.parse_args()


def _measure(load: Load, names: list[str], too_slow: set[str]) -> dict[str, Any]:
    nanoseconds: dict[str, float] = {}
    nbytes: dict[str, float] = {}
    sums = set()
    for name in names:
        if name in too_slow or (name == "fifo" and load.name != "fifo"):
            continue
        if name == HEAPQ:
            nanoseconds[name] = _time_heapq(load)
            continue
        nanoseconds[name], nbytes[name], checksum = _time_queue(QUEUES[name](), load)
        sums.add(checksum)
    return {
        "load": load.name,
        "live": load.live,
        "ns": {name: round(ns, 1) for name, ns in nanoseconds.items()},
        "bytes_per_row": {name: round(size, 1) for name, size in nbytes.items()},
        "is_right": len(sums) <= 1,
    }


def _time_queue(queue: ExpiryQueue, load: Load) -> tuple[float, float, int]:
    """Nanoseconds a row, bytes a row, and a sum over all rows that left, in order."""
    checksum = 0
    first = size = 0
    began = 0.0
    elapsed = 0.0
    for index, (instant, expiries) in enumerate(load.batches()):
        items = np.arange(first, first + expiries.size)
        if index >= load.warm_batches:
            began = time.thread_time()
        queue.enqueue(expiries, items)
        left, gone = queue.dequeue(instant)
        if index >= load.warm_batches:
            elapsed += time.thread_time() - began
        first += expiries.size
        size = max(size, queue.size)
        if index % 16 == 0:
            checksum = zlib.crc32(gone.tobytes(), zlib.crc32(left.tobytes(), checksum))
    rows = load.timed_batches * load.batch_rows
    return elapsed / rows * 1e9, queue.nbytes / max(size, 1), checksum


def _time_heapq(load: Load) -> float:
    """Nanoseconds a row of a list of pairs."""
    rows: list[tuple[int, int]] = []
    first = timed = 0
    elapsed = 0.0
    for index, (instant, batch) in enumerate(load.batches()):
        expiries = batch.tolist()
        if index < load.warm_batches:
            rows += [(expiry, first + place) for place, expiry in enumerate(expiries)]
            first += len(expiries)
            continue
        if index == load.warm_batches:
            rows = [row for row in rows if row[0] >= instant]
            heapq.heapify(rows)
        began = time.thread_time()
        for place, expiry in enumerate(expiries, first):
            heapq.heappush(rows, (expiry, place))
        while rows and rows[0][0] <= instant:
            heapq.heappop(rows)
        elapsed += time.thread_time() - began
        first += len(expiries)
        timed += len(expiries)
        if timed >= HEAPQ_ROWS:
            break
    return elapsed / timed * 1e9


def _show(rows: list[dict[str, Any]]) -> None:
    names = [name for name in [*QUEUES, HEAPQ] if any(name in row["ns"] for row in rows)]
    table = Table(title="Nanoseconds a row, insert and expire (times faster than heapq)")
    table.add_column("load")
    for heading in ("live", *names):
        table.add_column(heading, justify="right")
    for row in rows:
        cells = [_cell(row["ns"], name) for name in names]
        right = "" if row["is_right"] else " WRONG"
        table.add_row(row["load"] + right, f"{row['live']:,}", *cells)
    Console(width=170).print(table)
    for name, goal in GOALS_NS.items():
        figures = [row["ns"][name] for row in rows if name in row["ns"]]
        if figures:
            print(f"{name}: {min(figures)} to {max(figures)} ns, goal {goal}")


def _cell(nanoseconds: dict[str, float], name: str) -> str:
    if name not in nanoseconds:
        return "-"
    if name == HEAPQ or HEAPQ not in nanoseconds:
        return f"{nanoseconds[name]:,.1f}"
    return f"{nanoseconds[name]:,.1f} ({nanoseconds[HEAPQ] / nanoseconds[name]:,.0f}x)"


if __name__ == "__main__":
    sys.exit(main())
