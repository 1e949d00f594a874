"""NEXMark's queries: rows per CPU second, beside computing them anew in DuckDB each second.

    python benchmarks/nexmark/run.py                # everything, about three minutes
    python benchmarks/nexmark/run.py --only q5
    python benchmarks/nexmark/run.py --small        # a quarter of the events, to try it out

Each query runs as published, and those that read whole streams also over windows of 10 seconds.
Its answers are first compared with DuckDB's at some instants of a shorter run; a query that gives
others has no speed. All changes of the result are read after each push of 5 seconds, or 50,000
events. What counts is CPU time of the process, the better of two runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from process_tree import machine

from nexmark.anew import Recomputation
from nexmark.events import BEGIN_US, streams
from nexmark.live import checked, last_us, measured, tables_of
from nexmark.queries import QUERIES
from nexmark.query import Query

EVENTS = 400_000
PER_SECOND = 10_000
EVENTS_CHECKED = 60_000
PER_SECOND_CHECKED = 2_000  # 30 seconds: three windows
INSTANTS_CHECKED = 7
PUSH_US = 5_000_000
SECOND_US = 1_000_000
RUNS = 2
SECONDS_COMPUTED = 3


def main() -> int:
    """Run what was asked for; print a table and JSON lines."""
    options = _options()
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    rows: list[dict[str, Any]] = []
    for name in options.only or QUERIES:
        Console(stderr=True).print(f"running {name} ...")
        rows += _of_query(name, options)
    _show(rows)
    for row in rows:
        print(json.dumps({**facts, **row}))
    return 0 if all(row["is_right"] for row in rows) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(QUERIES))
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--small", action="store_true", help="a quarter of the events")
    return parser.parse_args()


def _of_query(name: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    query = QUERIES[name]
    kinds = [False, True] if query.reads_whole_streams else [False]
    return [_measure(name, query, is_windowed, options) for is_windowed in kinds]


def _measure(
    name: str, query: Query, is_windowed: bool, options: argparse.Namespace
) -> dict[str, Any]:
    windows = "10 s" if is_windowed else "as published"
    short = tables_of(query, streams(EVENTS_CHECKED, per_second=PER_SECOND_CHECKED))
    if not checked(query, short, is_windowed=is_windowed, instants=INSTANTS_CHECKED):
        return {"query": name, "windows": windows, "is_right": False}
    events = EVENTS // 4 if options.small else EVENTS
    tables = tables_of(query, streams(events, per_second=PER_SECOND, seed=options.seed))
    runs = [measured(query, tables, is_windowed=is_windowed, push_us=PUSH_US) for _ in range(RUNS)]
    best = min(runs, key=lambda run: run.cpu_s)
    ours = best.rows / best.cpu_s
    anew = _anew(query, tables, is_windowed)
    return {
        "query": name,
        "windows": windows,
        "is_right": True,
        "rows": best.rows,
        "rows_per_cpu_s": round(ours),
        "changes": best.changes,
        "changes_per_cpu_s": round(best.changes / best.cpu_s),
        "bytes_kept": best.bytes_kept,
        "duckdb_each_second": None if anew is None else round(anew),
        "ratio": None if anew is None else round(ours / anew, 1),
    }


def _anew(query: Query, tables: Any, is_windowed: bool) -> float | None:
    """Rows per CPU second of DuckDB that computes the result anew each second.

    Over whole streams the result at half of the run is computed: what it costs on average. None
    where rows neither leave nor meet, and a second's own rows are all that need be computed.
    """
    is_whole = not is_windowed and query.reads_whole_streams
    if is_whole and not _relates_rows(query):
        return None
    last = last_us(tables)
    first = (BEGIN_US + last) // 2 if is_whole else last - SECONDS_COMPUTED * SECOND_US
    anew = Recomputation()
    for second in range(SECONDS_COMPUTED):
        anew.answer(query, tables, first + second * SECOND_US, is_windowed=is_windowed)
    rows = sum(table.num_rows for table in tables.values())
    seconds = (last - BEGIN_US) / SECOND_US
    return rows / seconds * SECONDS_COMPUTED / anew.cpu_s


def _relates_rows(query: Query) -> bool:
    return len(query.streams) > 1 or "JOIN" in query.text or " BY " in query.text


def _show(rows: list[dict[str, Any]]) -> None:
    table = Table(title="NEXMark: rows per CPU second")
    for heading in ("query", "windows", "right"):
        table.add_column(heading)
    for heading in ("M rows / CPU-s", "M changes / CPU-s", "MB kept", "DuckDB each s", "ratio"):
        table.add_column(heading, justify="right")
    for row in rows:
        if not row["is_right"]:
            table.add_row(row["query"], row["windows"], "NO")
        else:
            anew, ratio = row["duckdb_each_second"], row["ratio"]
            table.add_row(
                row["query"], row["windows"], "yes", f"{row['rows_per_cpu_s'] / 1e6:.2f}",
                f"{row['changes_per_cpu_s'] / 1e6:.2f}", f"{row['bytes_kept'] / 1e6:.1f}",
                "-" if anew is None else f"{anew / 1e6:.3f}", "-" if ratio is None else f"{ratio}",
            )  # fmt: skip
    Console(width=130).print(table)


if __name__ == "__main__":
    sys.exit(main())
