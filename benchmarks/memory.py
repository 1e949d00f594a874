"""Bytes a row: as a session counts them, as the operating system does, and the largest moment.

    python benchmarks/memory.py                      # 1 M rows in the windows, about two minutes
    python benchmarks/memory.py --large              # 10 M rows too
    python benchmarks/memory.py --only join --rows 200000

Each query runs in a process of its own. Windows are filled and then slide on for half of their
width, so rows have left too; answers and changes are read after every push. `nbytes` is what the
session counts against its budget; `resident` the growth of resident memory since just before the
first row, once allocators have given back what they keep, and `untrimmed` the same before that;
`moment` the most that was resident during any one push; all divided by the rows in the windows.
`usable` is the part of a budget that is in use when the first row is refused. Resident memory is
read from /proc, so this runs on Linux.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from process_tree import machine
from rich.console import Console
from rich.table import Table

import windrow

PUSH = 20_000
STEP_US = 10
SCHEMA = "ts timestamp, k bigint, v bigint, x double"
BUDGET = "16 MB"
SAMPLE = 1_000_000  # keys are a part of the rows held, or of so many


class Case(NamedTuple):
    """A query, and how many different keys its rows have, as a part of the rows held."""

    text: str
    rows_a_key: int
    streams: str = "a"


CASES = {
    "COUNT": Case("SELECT COUNT(*) AS n FROM a [{w}] EVERY 1 SECOND", 1_000),
    "SUM by key": Case("SELECT k, SUM(v) AS s FROM a [{w}] GROUP BY k EVERY 1 SECOND", 1_000),
    "MAX by key": Case("SELECT k, MAX(x) AS s FROM a [{w}] GROUP BY k EVERY 1 SECOND", 1_000),
    "join SUM": Case(
        "SELECT COUNT(*) AS n, SUM(a.v) AS s FROM a [{w}], b [{w}] WHERE a.k = b.k EVERY 1 SECOND",
        1_000,
        "ab",
    ),
    "COUNT DISTINCT": Case("SELECT COUNT(DISTINCT k) AS n FROM a [{w}] EVERY 1 SECOND", 2),
    "SELECT": Case("SELECT k, v FROM a [{w}]", 1_000),
    "join SELECT": Case("SELECT a.k, a.v, b.v AS w FROM a [{w}], b [{w}] WHERE a.k = b.k", 2, "ab"),
    "residual": Case(
        "SELECT COUNT(*) AS n, SUM(a.v) AS s FROM a [{w}], b [{w}] "
        "WHERE a.k = b.k AND a.x > b.x EVERY 1 SECOND",
        2,
        "ab",
    ),
}


def main() -> int:
    """Run what was asked for; print a table and JSON lines."""
    options = _options()
    if options.inside:
        print(json.dumps(_measure(options.only[0], options.rows)))
        return 0
    facts = {"command": " ".join(["python", *sys.argv]), **machine()}
    rows = []
    for count in [options.rows, 10 * options.rows] if options.large else [options.rows]:
        for name in options.only or CASES:
            Console(stderr=True).print(f"running {name}, {count:,} rows ...")
            rows.append(_in_process(name, count))
    _show(rows)
    for row in rows:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(CASES))
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows in all windows")
    parser.add_argument("--large", action="store_true", help="ten times as many rows, too")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_process(name: str, rows: int) -> dict[str, Any]:
    command = [sys.executable, __file__, "--inside", "--only", name, "--rows", str(rows)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _measure(name: str, rows: int) -> dict[str, Any]:
    """Bytes of one query with that many rows in its windows."""
    case = CASES[name]
    # Kernels are loaded and compiled, and all paths taken, before anything is counted.
    for _ in _run(case, _session("4 GB"), 3 * PUSH, 5 * PUSH, keys_of=rows):
        pass
    session = _session("8 GB")
    _give_back()
    before, most = _resident(), 0
    _reset_peak()
    for _ in _run(case, session, rows, rows + rows // 2):
        most = max(most, _peak() - before)
        _reset_peak()
    held = sum(session.windows()["rows"].to_pylist())
    counted, raw = session.nbytes, _resident() - before
    _give_back()
    resident = _resident() - before
    usable = _usable(case)
    return {
        "query": name,
        "rows": held,
        "nbytes": counted / held,
        "resident": resident / held,
        "untrimmed": raw / held,
        "moment": most / held,
        "usable": usable,
    }


def _session(memory: str) -> windrow.Session:
    session = windrow.connect(memory=memory)
    for stream in "ab":
        session.stream(stream, SCHEMA, time="ts")
    return session


def _run(
    case: Case, session: windrow.Session, held: int, rows: int, keys_of: int = 0
) -> Iterator[int]:
    """Push rows into windows that hold so many of them, and stop after each push.

    keys_of: with the keys that windows of so many rows have.
    """
    per_stream = held // len(case.streams)
    query = session.query(case.text.format(w=f"{per_stream * STEP_US} MICROSECONDS"))
    keys = max(1, min(keys_of or held, SAMPLE) // len(case.streams) // case.rows_a_key)
    has_answers = "EVERY" in case.text  # a select has changes alone
    reading = [query.changes, query.answers] if has_answers else [query.changes]
    random = np.random.default_rng(7)
    for first in range(0, rows // len(case.streams), PUSH):
        for stream in case.streams:
            session.push(stream, _rows(random, first, keys))
            for _ in chain(*(read() for read in reading)):
                pass
            if not has_answers:
                # The whole result at every instant: a reader of changes does without, as sinks do.
                query._drop_answers()
            yield first


def _rows(random: np.random.Generator, first: int, keys: int) -> pa.RecordBatch:
    at = pa.array(np.arange(first, first + PUSH) * STEP_US, pa.timestamp("us", "UTC"))
    values = random.integers(0, 100, PUSH)
    columns = [at, random.integers(0, keys, PUSH), values, random.random(PUSH)]
    return pa.RecordBatch.from_arrays([pa.array(each) for each in columns], ["ts", "k", "v", "x"])


def _usable(case: Case) -> float:
    """The part of a small budget that is in use when the first row is refused."""
    session, most = _session(BUDGET), 0
    try:
        for _ in _run(case, session, 1 << 40, 1 << 40):
            most = max(most, session.nbytes)
    except windrow.AdmissionError:
        most = max(most, session.nbytes)
    return most / (int(BUDGET.split()[0]) << 20)


def _give_back() -> None:
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL("libc.so.6").malloc_trim(0)


def _resident() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _reset_peak() -> None:
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")


def _peak() -> int:
    with open("/proc/self/status") as status:
        line = next(each for each in status if each.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def _show(rows: list[dict[str, Any]]) -> None:
    names = ("nbytes", "resident", "untrimmed", "moment")
    table = Table("query", "rows", *names, "usable", title="bytes a row")
    for row in rows:
        figures = [f"{row[name]:.1f}" for name in names]
        table.add_row(row["query"], f"{row['rows']:,}", *figures, f"{row['usable']:.0%}")
    Console(width=100).print(table)


if __name__ == "__main__":
    sys.exit(main())
