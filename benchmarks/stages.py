"""Nanoseconds a row by stage: converting, coding, the operator, publishing and reading.

    python benchmarks/stages.py                            # everything, about two minutes
    python benchmarks/stages.py --only "join select" --batches 20

Batches of 100,000 rows, all that is new read after every batch of each stream. What counts is CPU
time of the process, the better of two runs; the first batch fills windows and is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
from algorithm_data import SCHEMA, stream_data
from live_selects import Streams
from process_tree import machine
from rich.console import Console
from rich.table import Table

import windrow
from windrow.operators.keyed.operator import FactorisedOperator
from windrow.operators.pairs.operator import PairOperator
from windrow.operators.tree.operator import TreeOperator
from windrow.output.publish import Publisher

BATCH_ROWS = 100_000
ROWS_PER_S = 1_000
STAGES = ("convert", "coding", "operator", "publish", "feed")
WATCHED = {
    "coding": [(each, "append") for each in (FactorisedOperator, PairOperator, TreeOperator)],
    "operator": [(each, "run") for each in (FactorisedOperator, PairOperator, TreeOperator)],
    "publish": [(Publisher, "absorb")],
    "feed": [(Publisher, "answers"), (Publisher, "changes")],
}


class Form(NamedTuple):
    """A query over streams A, B, C; keys: of live streams, 0 for those of the algorithms."""

    text: str
    streams: int
    reads: str = "answers"
    keys: int = 0


_W, _L = "[20 SECONDS]", "[10 SECONDS]"
_PAIR = f"FROM A {_W}, B {_W} WHERE A.k = B.k"
_SUMS = "COUNT(*) AS n, SUM(A.x) AS s"
FORMS = {
    "anchor": Form(f"SELECT {_SUMS} {_PAIR}", 2),
    "GROUP BY key each second": Form(
        f"SELECT A.k AS k, {_SUMS} {_PAIR} GROUP BY A.k EVERY (1 SECOND)", 2
    ),
    "GROUP BY key, all changes": Form(
        f"SELECT A.k AS k, {_SUMS} {_PAIR} GROUP BY A.k", 2, "changes"
    ),
    "one window AVG by key, all changes": Form(
        f"SELECT k, AVG(x) AS m FROM A {_W} GROUP BY k", 1, "changes"
    ),
    "MAX": Form(f"SELECT MAX(A.x) AS m {_PAIR}", 2),
    "COUNT DISTINCT": Form(f"SELECT COUNT(DISTINCT A.x) AS n {_PAIR}", 2),
    "chain of three": Form(
        f"SELECT COUNT(*) AS n FROM A {_W}, B {_W}, C {_W} WHERE A.k = B.k AND B.y = C.y", 3
    ),
    "live SELECT": Form(f"SELECT k, v FROM A {_L}", 1, "changes", 75_000),
    "DISTINCT": Form(f"SELECT DISTINCT k FROM A {_L}", 1, "changes", 20_000),
    "LEFT ANTI JOIN": Form(
        f"SELECT A.k, A.v FROM A {_L} LEFT ANTI JOIN B {_L} ON A.k = B.k", 2, "changes", 200_000
    ),
    "join select": Form(
        f"SELECT A.k, A.v, B.v AS w FROM A {_L}, B {_L} WHERE A.k = B.k", 2, "changes", 75_000
    ),
}


def main() -> int:
    """Run what was asked for; print a table and JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(FORMS))
    parser.add_argument("--batches", type=int, default=9)
    options = parser.parse_args()
    spent: Counter[str] = Counter()
    for stage, methods in WATCHED.items():
        for owner, name in methods:
            setattr(owner, name, _watched(getattr(owner, name), stage, spent))
    rows = [
        {"form": name, **min(
            (_run(FORMS[name], options.batches, spent) for _ in range(2)),
            key=lambda found: found["total"],
        )}
        for name in options.only or FORMS
    ]  # fmt: skip
    _show(rows)
    facts = {"command": " ".join(["python", *sys.argv]), **machine()}
    for row in rows:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0


def _watched(method: Callable[..., Any], stage: str, spent: Counter[str]) -> Callable[..., Any]:
    def watched(*arguments: Any, **options: Any) -> Any:
        began = time.process_time()
        try:
            return method(*arguments, **options)
        finally:
            spent[stage] += time.process_time() - began  # type: ignore[assignment]

    return watched


def _run(form: Form, batches: int, spent: Counter[str]) -> dict[str, float]:
    """Nanoseconds a row, in all and by stage."""
    tables = _tables(form, batches)
    session = windrow.connect(memory="8 GB")
    for name in "ABC"[: form.streams]:
        columns = "ts timestamp, k bigint, v bigint" if form.keys else SCHEMA
        session.stream(name, columns, time="ts")
    query = session.query(form.text)
    began = 0.0
    for batch in range(batches):
        if batch == 1:
            spent.clear()
            began = time.process_time()
        for name, table in zip("ABC", tables, strict=False):
            session.push(name, table.slice(batch * BATCH_ROWS, BATCH_ROWS))
        getattr(query, form.reads)()
    total = time.process_time() - began
    spent["convert"] = total - sum(spent.values())  # type: ignore[assignment]
    rows = BATCH_ROWS * (batches - 1) * form.streams
    return {
        "total": round(1e9 * total / rows, 1),
        **{stage: round(1e9 * spent[stage] / rows, 1) for stage in STAGES},
        "rows_per_cpu_s": int(rows / total),
    }


def _tables(form: Form, batches: int) -> list[pa.Table]:
    rows = batches * BATCH_ROWS
    if form.keys:
        live = Streams(rows, form.keys, seed=7)
        return [live.table(number) for number in range(form.streams)]
    data = stream_data(rows, rows // ROWS_PER_S, 1_000, streams=form.streams)
    return [data.table(number) for number in range(form.streams)]


def _show(rows: list[dict[str, Any]]) -> None:
    table = Table(title="Nanoseconds a row, by stage")
    table.add_column("query")
    for heading in ("M rows / CPU-s", "total", *STAGES):
        table.add_column(heading, justify="right")
    for row in rows:
        speed = f"{row['rows_per_cpu_s'] / 1e6:.2f}"
        table.add_row(row["form"], speed, *(f"{row[stage]:.0f}" for stage in ("total", *STAGES)))
    Console(width=120).print(table)


if __name__ == "__main__":
    sys.exit(main())
