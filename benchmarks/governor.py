"""Decisions of the governor: CPU time beside plain Python, and how near groups are to the best.

    python benchmarks/governor.py                      # everything, a few minutes
    python benchmarks/governor.py --only levels        # A and B, 1,000 queries on 100 windows
    python benchmarks/governor.py --only groups --windows 17 --windows 50
    python benchmarks/governor.py --small              # fewer and smaller loads, to try it out

Levels: a whole decision, from the tables to the widths, beside the paper's own steps in plain
Python; they take turns, and the median of the rounds is shown. The widths must come to the same.
Groups: each solver on the same random windows; a gap is to the best bound that is known, which is
the best cost itself where that is proven. All partitions must be valid, and none cheaper than what
is proven. Compilation is not counted: all has run once before.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from governor_loads import Tables, plain_a_support, plain_b_support, tables_of, turning_of
from process_tree import machine
from rich.console import Console
from rich.table import Table

from papers.governor.accumulated_error import accumulated_error_us
from windrow.governor.columns.proof import bounded
from windrow.governor.decide import decide
from windrow.governor.figures import figures_of
from windrow.governor.groups.partitions import (
    SUBSETS_LIMIT,
    best_by_subsets,
    first_fit,
    ruin_recreate,
)
from windrow.governor.groups.solve import solve, solve_quickly
from windrow.governor.groups.turning import Grouping, TurningWindows, is_partition, shared_bytes
from windrow.governor.memory_taken import static_sum
from windrow.governor.tables import Decision

QUERIES, WINDOWS = 1_000, 100
GOAL_MS = 50.0
SIZES = (10, 14, 17, 30, 50, 100)
SMALL_SIZES = (10, 17, 30)
ANNEALED = 100_000  # iterations
TOLERANCE = 1e-6
SOLVERS = ("first fit", "subsets", "quick", "ruin-recreate", "within the limit")


def main() -> int:
    """Run what was asked for; print tables and JSON lines."""
    options = _options()
    rows = []
    if options.only != "groups":
        levels = [_level(case, options) for case in "AB"]
        _show_levels(levels)
        rows += levels
    if options.only != "levels":
        sizes = options.windows or (SMALL_SIZES if options.small else SIZES)
        groups = [_groups(size, options) for size in sizes]
        _show_groups(groups, options.limit)
        rows += groups
    return 0 if all(row["is_right"] for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["levels", "groups"])
    parser.add_argument("--windows", action="append", type=int, help="of groups")
    parser.add_argument("--instances", type=int, help="of groups for each number of windows")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds for a decision at C")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    options.instances = options.instances or (3 if options.small else 10)
    return options


def _level(case: str, options: argparse.Namespace) -> dict[str, Any]:
    windows, demands = tables_of(WINDOWS, QUERIES, options.seed)
    figures = figures_of(windows, demands)
    wide = static_sum([each.range_us for each in figures], figures)
    narrow = static_sum([each.least_us for each in figures], figures)
    budget = 1.5 * wide if case == "A" else (wide + narrow) / 2
    plain = plain_a_support if case == "A" else plain_b_support
    times: dict[str, list[float]] = {"ours": [], "plain": []}
    decided = decide(windows, demands, budget)
    for _ in range(options.rounds):
        times["ours"].append(_cpu_s(lambda: decide(windows, demands, budget))[0] * 1e3)
        times["plain"].append(_cpu_s(lambda: plain(windows, demands, budget))[0] * 1e3)
    medians = {name: round(statistics.median(each), 3) for name, each in times.items()}
    row = {
        "case": case, "queries": QUERIES, "windows": WINDOWS, "cpu_ms": medians,
        "times_faster": round(medians["plain"] / medians["ours"], 1),
        "is_right": isinstance(decided, Decision)
        and decided.case == case
        and decided.bytes <= budget
        and _same_widths((windows, demands), decided, plain(windows, demands, budget)),
    }  # fmt: skip
    return _printed(row, options)


def _same_widths(tables: Tables, decided: Decision, plain: dict[str, float]) -> bool:
    """Whether widths are the same or, at B, as good: ties may be broken in another way."""
    figures = figures_of(*tables)
    ours = [decided.of(each.window).width_us for each in figures]
    theirs = [int(plain[each.window]) for each in figures]
    if decided.case == "A":
        return all(abs(a - b) <= 2 for a, b in zip(ours, theirs, strict=True))
    error, other = (accumulated_error_us(each, figures) for each in (ours, theirs))
    return abs(error - other) <= QUERIES


def _groups(size: int, options: argparse.Namespace) -> dict[str, Any]:
    Console(stderr=True).print(f"running groups of {size} windows ...")
    _all_solvers(turning_of(min(size, 20), options.seed), 0.1)
    gaps: dict[str, list[float]] = {name: [] for name in SOLVERS}
    cpu: dict[str, list[float]] = {name: [] for name in SOLVERS}
    proven, is_right = 0, True
    for place in range(options.instances):
        turning = turning_of(size, options.seed + place)
        found = _all_solvers(turning, options.limit)
        limited = found["within the limit"][1]
        bound = _bound(turning, limited)
        proven += limited.shared_bytes <= limited.bound_bytes * (1 + TOLERANCE)
        for name, (cpu_s, grouping) in found.items():
            cpu[name].append(cpu_s)
            gaps[name].append(grouping.shared_bytes / bound - 1)
            is_right &= is_partition(turning, grouping.groups)
            is_right &= grouping.shared_bytes >= bound * (1 - TOLERANCE)
    row = {
        "groups_of": size, "instances": options.instances, "limit_s": options.limit,
        "proven": proven, "is_right": bool(is_right),
        "gap_mean": {name: round(statistics.mean(each), 5) for name, each in gaps.items() if each},
        "gap_max": {name: round(max(each), 5) for name, each in gaps.items() if each},
        "cpu_ms": {
            name: round(statistics.mean(each) * 1e3, 3) for name, each in cpu.items() if each
        },
    }  # fmt: skip
    return _printed(row, options)


def _bound(turning: TurningWindows, found: Grouping) -> float:
    """What was proven within the limit, or the linear program's bound if that is better.

    The limit is of the clock on the wall, which goes on while others have the processor.
    """
    return float(bounded(turning, found, time_limit_s=60.0)[0].bound_bytes)


def _all_solvers(turning: TurningWindows, limit_s: float) -> dict[str, tuple[float, Grouping]]:
    """CPU seconds and what was found, by solver."""

    def bare(solver: Callable[[], Any]) -> tuple[float, Grouping]:
        seconds, groups = _cpu_s(solver)
        return seconds, Grouping(groups, shared_bytes(turning, groups), 0.0, "")

    start = first_fit(turning)
    found = {
        "first fit": bare(lambda: first_fit(turning)),
        "quick": _cpu_s(lambda: solve_quickly(turning)),
        "ruin-recreate": bare(lambda: ruin_recreate(turning, start, ANNEALED, seed=0)),
        "within the limit": _cpu_s(lambda: solve(turning, limit_s)),
    }
    if turning.size <= SUBSETS_LIMIT:
        found["subsets"] = bare(lambda: best_by_subsets(turning))
    return found


def _cpu_s(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def _printed(row: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    command = " ".join(["python", *sys.argv])
    facts = {"command": command, "seed": options.seed, "busy": os.getloadavg()[0]}
    # For machines, and kept if it is ended.
    print(json.dumps({**facts, **machine(), **row}), flush=True)
    return row


def _show_levels(rows: list[dict[str, Any]]) -> None:
    table = Table(title=f"CPU ms of a decision, {QUERIES:,} queries on {WINDOWS} windows")
    for heading in ("level", "windrow", "plain Python", "times faster", f"goal {GOAL_MS} ms"):
        table.add_column(heading)
    for row in rows:
        ours, plain = row["cpu_ms"]["ours"], row["cpu_ms"]["plain"]
        right = "" if row["is_right"] else " WRONG"
        reached = "reached" if ours <= GOAL_MS else "missed"
        table.add_row(
            row["case"] + right, f"{ours:.2f}", f"{plain:.2f}", f"{row['times_faster']}", reached
        )
    Console(width=120).print(table)


def _show_groups(rows: list[dict[str, Any]], limit_s: float) -> None:
    title = f"Gap to the best bound, mean / max (CPU ms); limit {limit_s} s"
    table = Table(title=title)
    for heading in ("windows", *SOLVERS, "proven"):
        table.add_column(heading, justify="right")
    for row in rows:
        right = "" if row["is_right"] else " WRONG"
        cells = [_cell(row, name) for name in SOLVERS]
        table.add_row(f"{row['groups_of']}{right}", *cells, f"{row['proven']}/{row['instances']}")
    Console(width=150).print(table)


def _cell(row: dict[str, Any], name: str) -> str:
    if name not in row["gap_mean"]:
        return "-"
    mean, most = row["gap_mean"][name], row["gap_max"][name]
    return f"{mean:.1%} / {most:.1%} ({row['cpu_ms'][name]:,.2f})"


if __name__ == "__main__":
    sys.exit(main())
