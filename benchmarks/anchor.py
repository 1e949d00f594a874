"""The anchor query, beside a plain Python loop and Spark's own join-then-aggregate, in one run.

    python benchmarks/anchor.py                      # everything, about three minutes on two cores
    python benchmarks/anchor.py --only windrow-embedded --repeats 20
    python benchmarks/anchor.py --small              # a tenth of the rows, to try it out

Every contender runs in a process of its own, its answers are checked at every whole second against
brute force, and what counts is rows per CPU second of its whole process tree: machines are shared.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from anchor_contenders import CONTENDERS
from anchor_data import anchor_data
from process_tree import machine
from rich.console import Console
from rich.table import Table


def main() -> int:
    """Run the contenders that were asked for; print a table and JSON lines."""
    options = _options()
    if options.alone:
        print(json.dumps(_measure(options)))  # the parent process reads it
        return 0
    rows = []
    for name in options.only or CONTENDERS:
        Console(stderr=True).print(f"running {name} ...")
        rows.append(_in_own_process(name, options))
    _show(rows)
    command = " ".join(["python", *sys.argv])
    facts = {"command": command, "seed": options.seed, **machine()}
    for row in rows:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0 if all(row.get("is_right", True) for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(CONTENDERS))
    parser.add_argument("--repeats", type=int, default=20, help="of the data, for Windrow")
    parser.add_argument("--keys", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="20,000 rows a side")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    data = anchor_data(20_000 if options.small else 200_000, options.keys, seed=options.seed)
    contender = CONTENDERS[options.alone]
    if options.alone.startswith("windrow-embedded"):
        contender(data, 1)  # compile or load the kernels before the clock runs
    outcome = contender(data, options.repeats)
    reference = data.reference()
    right = sum(outcome.answers.get(second) == answer for second, answer in reference.items())
    row: dict[str, Any] = {
        "contender": options.alone,
        "rows": outcome.rows,
        "cpu_s": round(outcome.cpu_seconds, 2),
        "wall_s": round(outcome.wall_seconds, 2),
        "rows_per_cpu_s": int(outcome.rows / outcome.cpu_seconds),
        "peak_mb": outcome.peak_mb,
        "answers_right": f"{right} of {len(reference)}",
        "remark": outcome.remark,
    }
    if options.alone == "spark-alone":
        last = max(reference)
        row["answers_right"] = f"{outcome.answers.get(0)}, right is {reference[last]}"
    else:
        row["is_right"] = right == len(reference)
    return row


def _in_own_process(name: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--alone", name, "--repeats", str(options.repeats)]
    command += ["--keys", str(options.keys), "--seed", str(options.seed)]
    command += ["--small"] if options.small else []
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    row: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return row


def _show(rows: list[dict[str, Any]]) -> None:
    base = next((r["rows_per_cpu_s"] for r in rows if r["contender"] == "plain-python"), None)
    table = Table(title="Anchor query: COUNT(*), SUM(A.v) over A[60 s] join B[60 s] on k")
    texts = ("contender", "right", "remark")
    numbers = ("rows", "CPU s", "rows / CPU-s", "x plain Python", "peak MB")
    for heading in (texts[0], *numbers, *texts[1:]):
        table.add_column(heading, justify="left" if heading in texts else "right")
    for row in rows:
        ratio = f"{row['rows_per_cpu_s'] / base:.2f}" if base else "-"
        table.add_row(
            str(row["contender"]), f"{row['rows']:,}", str(row["cpu_s"]),
            f"{row['rows_per_cpu_s']:,}", ratio, str(row["peak_mb"]), str(row["answers_right"]),
            str(row["remark"]),
        )  # fmt: skip
    Console(width=190).print(table)


if __name__ == "__main__":
    sys.exit(main())
