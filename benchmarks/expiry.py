"""Structures that rows expire from, beside Python's heapq, in one run.

    python benchmarks/expiry.py                          # everything, many minutes
    python benchmarks/expiry.py --only wheel --live 10000 --live 1000000
    python benchmarks/expiry.py --small                  # up to 100,000 live rows, to try it out
    python benchmarks/expiry.py --patterns --small       # is what `auto` takes the fastest?

Rows come in batches, and after each batch all that has expired leaves; what counts is CPU time of
the thread for a row, from when as many rows are live as were asked for. The structures take turns,
and the median of the rounds is shown. All must give out the same rows in the same order, compared
in every 16th batch; heapq is not compared, and runs on fewer batches, once as many rows are live.
Pareto expiries take longest to come to many rows.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from expiry_loads import LOADS, load_of
from expiry_timing import HEAPQ, QUEUES, figures_of
from process_tree import machine
from rich.console import Console
from rich.table import Table

LIVE = (10_000, 100_000, 1_000_000, 5_000_000)
SLOWEST_NS = 2_000  # a structure that was slower is not tried with more rows
GOALS_NS = {"wheel": 10.0, "branch ladder": 50.0}
WEAK = [name for name in LOADS if name != "fifo"]
DEAD_SHARE = 0.3
MOST_SLOWER = 1.1
# Update patterns: what `auto` takes, the loads that they bring, and the share of entries that are
# dead when they come up.
PATTERNS: dict[str, tuple[str, list[str], float]] = {
    "weakest": ("fifo", ["fifo"], 0.0),
    "weak": ("wheel", WEAK, 0.0),
    "strict": ("wheel", WEAK, DEAD_SHARE),
}


def main() -> int:
    """Run what was asked for; print a table and JSON lines."""
    options = _options()
    if options.patterns:
        rows = _run_patterns(options)
        _show_patterns(rows)
    else:
        rows = _run_loads(options, options.load or list(LOADS), 0.0)
        _show(rows)
    return 0 if all(row["is_right"] for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=[*QUEUES, HEAPQ])
    parser.add_argument("--load", action="append", choices=list(LOADS))
    parser.add_argument("--live", action="append", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="up to 100,000 live rows")
    parser.add_argument("--patterns", action="store_true", help="what `auto` takes, and the others")
    return parser.parse_args()


def _run_patterns(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for pattern, (taken, loads, dead_share) in PATTERNS.items():
        loads = [name for name in loads if not options.load or name in options.load]
        run = _run_loads(options, loads, dead_share)
        rows += [{**row, "pattern": pattern, "taken": taken} for row in run]
    return rows


def _run_loads(
    options: argparse.Namespace, loads: list[str], dead_share: float
) -> list[dict[str, Any]]:
    rows = []
    command = " ".join(["python", *sys.argv])
    for name in loads:
        too_slow: set[str] = set()
        for live in options.live or LIVE[: 2 if options.small else len(LIVE)]:
            Console(stderr=True).print(f"running {name}, {live:,} live ...")
            names = [
                each for each in options.only or [*QUEUES, HEAPQ] if each not in too_slow
            ]  # fmt: skip
            load = load_of(name, live, options.seed)
            figures = figures_of(load, names, options.rounds, dead_share)
            too_slow |= {each for each, ns in figures.ns.items() if ns > SLOWEST_NS}
            row = {
                "load": name, "live": live, "ns": figures.ns, "is_right": figures.is_right,
                "bytes_per_row": figures.bytes_a_row, "dead_share": dead_share,
            }  # fmt: skip
            rows.append(row)
            facts = {"command": command, "seed": options.seed, "busy": os.getloadavg()[0]}
            # For machines, and kept if it is ended.
            print(json.dumps({**facts, **machine(), **row}), flush=True)
    return rows


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


def _show_patterns(rows: list[dict[str, Any]]) -> None:
    table = Table(title="Nanoseconds a row of what `auto` takes, and of the fastest other")
    for heading in ("pattern", "load", "live", "auto takes", "ns", "next best", "ns", "verdict"):
        table.add_column(heading)
    for row in rows:
        taken, others = row["taken"], {**row["ns"]}
        ours = others.pop(taken, None)
        if ours is None or not others:
            continue
        best = min(others, key=lambda name: others[name])
        share = ours / others[best]
        verdict = "good" if share <= MOST_SLOWER else f"{best} is {1 - 1 / share:.0%} faster"
        right = "" if row["is_right"] else " WRONG"
        table.add_row(
            row["pattern"], row["load"] + right, f"{row['live']:,}", taken, f"{ours:,.1f}", best,
            f"{others[best]:,.1f}", verdict,
        )  # fmt: skip
    Console(width=150).print(table)


if __name__ == "__main__":
    sys.exit(main())
