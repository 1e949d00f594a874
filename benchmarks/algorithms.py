"""Every family of join-aggregates beside a Python loop and beside computing anew in Polars, DuckDB.

    python benchmarks/algorithms.py                        # everything, about three minutes
    python benchmarks/algorithms.py --only MAX --only "star of 3"
    python benchmarks/algorithms.py --small                # a tenth of the rows, to try it out

Windrow gives an exact answer at every row, read after every push; so does the loop. Polars and
DuckDB compute the answer anew once in a second of event time, that is, for every 2,000 or 3,000
rows. Answers are compared first. What counts is CPU time of the process, the better of two runs.
"""

from __future__ import annotations

import os

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # before Polars is imported, as it asks

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl
from algorithm_cases import CASES, Case, DuckDbWindows, polars_answer
from algorithm_data import StreamData, stream_data
from algorithm_loops import LOOPS, Answer, run_loop
from algorithm_runs import answers_by_second, count_and_sum, timed_run
from process_tree import machine
from rich.console import Console
from rich.table import Table

WINDOW_S = 20
RUNS = 2
FLAT_WINDOWS_S = (1, 60, 3600)
PAIR_ALGORITHMS = ("charged", "incremental", "pipelined")
TICKS_COMPUTED = 4  # computing anew costs the same at each full window: a few of them tell


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    seconds: int
    rows_per_s: int
    keys: int
    repeats: int  # of the data, for Windrow

    def data(self, seed: int) -> StreamData:
        """Three streams of it."""
        return stream_data(self.seconds * self.rows_per_s, self.seconds, self.keys, seed=seed)


FULL = Sizes(seconds=60, rows_per_s=1000, keys=1000, repeats=20)
# Few keys: 400 matches for each row. Pairs are what counts here.
FULL_PAIRS = Sizes(seconds=50, rows_per_s=1000, keys=50, repeats=1)
SMALL = Sizes(seconds=40, rows_per_s=150, keys=100, repeats=3)
SMALL_PAIRS = Sizes(seconds=40, rows_per_s=100, keys=20, repeats=1)
FLAT_SECONDS, FLAT_ROWS = 7200, 2_000_000


def main() -> int:
    """Run what was asked for; print a table and JSON lines."""
    options = _options()
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    rows: list[dict[str, Any]] = []
    for case in CASES:
        if options.only and case.name not in options.only:
            continue
        Console(stderr=True).print(f"running {case.name} ...")
        rows += _measure(case, options)
    if not options.only or "windows" in options.only:
        rows += _flatness(options)
    _show(rows)
    for row in rows:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0 if all(row["is_right"] for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [*(case.name for case in CASES), "windows"]
    parser.add_argument("--only", action="append", choices=names)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="a tenth of the rows")
    return parser.parse_args()


def _measure(case: Case, options: argparse.Namespace) -> list[dict[str, Any]]:
    sizes = _sizes(case, options.small)
    data = sizes.data(options.seed)
    window_ms = WINDOW_S * 1000
    events = [event for event in data.events if event[1] < case.streams]
    seconds = [second * 1000 for second in range(1, data.seconds)]
    truth = run_loop(LOOPS[case.name], events, window_ms, seconds)
    ticks = seconds[-TICKS_COMPUTED:]
    arriving = sizes.rows_per_s * case.streams
    pairs = data.pairs_formed(window_ms) if case.needs_pairs else None
    out = []
    for algorithm in PAIR_ALGORITHMS if case.needs_pairs else ("factorised",):
        found = answers_by_second(case, data, WINDOW_S, algorithm)
        is_right = all(_equal(found.get(at), truth[at], case) for at in seconds)
        spent = _best(
            lambda name=algorithm: timed_run(case, data, WINDOW_S, name, sizes.repeats)[0]
        )
        rows = len(events) * sizes.repeats
        out.append(_row(case, f"Windrow, {algorithm}", rows, spent, is_right, pairs))
    if case.is_grouped:
        spent = _best(lambda: _each_second(case, data, sizes.repeats))
        out.append(_row(case, "Windrow, each second", rows, spent, is_right, None))
    spent = _best(lambda: _timed(lambda: run_loop(LOOPS[case.name], events, window_ms)))
    out.append(_row(case, "Python loop", len(events), spent, True, pairs))
    for name, compute in _computing_anew(case, data).items():
        found = {at: compute(at) for at in ticks}
        is_right = all(_equal(found[at], truth[at], case) for at in ticks)
        spent = _best(lambda compute=compute: _timed(lambda: [compute(at) for at in ticks]))
        out.append(_row(case, name, arriving * len(ticks), spent, is_right, None))
    return out


def _sizes(case: Case, small: bool) -> Sizes:
    if case.needs_pairs:
        return SMALL_PAIRS if small else FULL_PAIRS
    return SMALL if small else FULL


def _computing_anew(case: Case, data: StreamData) -> dict[str, Callable[[int], Answer]]:
    frames = [pl.DataFrame(data.table(number)) for number in range(len(data.times_ms))]
    tables = DuckDbWindows(data)
    window_ms = WINDOW_S * 1000
    return {
        "Polars, each second": lambda at: polars_answer(case, frames, data, at, window_ms),
        "DuckDB, each second": lambda at: tables.answer(case, at, window_ms),
    }


def _flatness(options: argparse.Namespace) -> list[dict[str, Any]]:
    """COUNT + SUM over the same rows with short and long windows; the last result is checked."""
    Console(stderr=True).print("running windows ...")
    case = CASES[0]
    rows = FLAT_ROWS // 10 if options.small else FLAT_ROWS
    data = stream_data(rows, FLAT_SECONDS, FULL.keys, streams=2, seed=options.seed)
    at_ms = FLAT_SECONDS * 1000
    out = []
    for window_s in FLAT_WINDOWS_S:
        runs = [timed_run(case, data, window_s, "factorised", 1) for _ in range(RUNS)]
        truth = count_and_sum(data, at_ms, window_s * 1000)
        is_right = all(result == truth for _, result in runs)
        spent = min(seconds for seconds, _ in runs)
        row = _row(case, "Windrow, factorised", 2 * rows, spent, is_right, None)
        out.append({**row, "query": f"COUNT + SUM, {window_s:,} s"})
    return out


def _each_second(case: Case, data: StreamData, repeats: int) -> float:
    """Answers of all groups once a second, as Polars and DuckDB give them."""
    return timed_run(case, data, WINDOW_S, "factorised", repeats, each_second=True)[0]


def _timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _best(run: Callable[[], float]) -> float:
    return min(run() for _ in range(RUNS))


def _equal(found: Answer, truth: Answer, case: Case) -> bool:
    if case.is_grouped:
        return (found or {}) == truth
    return found is not None and all(map(_same, found, truth))


def _same(found: Any, truth: Any) -> bool:
    if isinstance(found, float) and truth is not None:
        return math.isclose(found, truth, rel_tol=1e-9)
    return bool(found == truth)


def _row(
    case: Case, contender: str, rows: int, spent: float, is_right: bool, pairs: int | None
) -> dict[str, Any]:
    return {
        "query": case.name,
        "contender": contender,
        "rows": rows,
        "cpu_s": round(spent, 3),
        "rows_per_cpu_s": int(rows / spent),
        "pairs": pairs,
        "pairs_per_cpu_s": None if pairs is None else int(pairs / spent),
        "is_right": is_right,
    }


def _show(rows: list[dict[str, Any]]) -> None:
    loops = {r["query"]: r["rows_per_cpu_s"] for r in rows if r["contender"] == "Python loop"}
    table = Table(title="Join-aggregates by family, rows per CPU second")
    for heading in ("query", "contender", "right"):
        table.add_column(heading)
    for heading in ("rows", "CPU s", "rows / CPU-s", "x Python loop", "pairs / CPU-s"):
        table.add_column(heading, justify="right")
    for row in rows:
        base = loops.get(row["query"])
        pairs = row["pairs_per_cpu_s"]
        table.add_row(
            row["query"], row["contender"], "yes" if row["is_right"] else "NO",
            f"{row['rows']:,}", str(row["cpu_s"]), f"{row['rows_per_cpu_s']:,}",
            f"{row['rows_per_cpu_s'] / base:.3g}" if base else "-",
            "-" if pairs is None else f"{pairs:,}",
        )  # fmt: skip
    Console(width=150).print(table)


if __name__ == "__main__":
    sys.exit(main())
