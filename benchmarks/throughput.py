"""Rows per CPU second of every query form, in batches of 100,000 rows, beside DuckDB's own.

    python benchmarks/throughput.py                        # everything, about two minutes
    python benchmarks/throughput.py --only anchor --only MAX
    python benchmarks/throughput.py --small                # a tenth of the rows, to try it out
    python benchmarks/throughput.py --pushes               # pushes of 1 to 100,000 rows
    python benchmarks/throughput.py --flat                 # a million pushes, with any readers

Windrow gives an exact answer at every row (or each second, or every change, as the form says), read
after every batch. DuckDB computes the answer anew once in a second of event time. Answers are
compared first. What counts is CPU time of the process, the better of the runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from typing import Any

import pyarrow as pa
from algorithm_cases import DuckDbWindows
from algorithm_data import StreamData
from process_tree import machine
from rich.console import Console
from rich.table import Table
from throughput_forms import FORMS, Form, TypedData, schema_of, tables_of
from throughput_pushes import flat_rows, push_rows

import windrow
from windrow.embedded import EmbeddedQuery, EmbeddedSession

BATCH_ROWS = 100_000
STREAMS = "ABC"
ROWS = 2_000_000  # of each stream in a timed run
CHECKED = 3  # instants at which answers are compared
TICKS_COMPUTED = 3


def main() -> int:
    """Run what was asked for; print a table and JSON lines."""
    options = _options()
    warnings.simplefilter("ignore")
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    if options.pushes or options.flat:
        measured = (push_rows if options.pushes else flat_rows)(options)
        _show_pushes(measured)
    else:
        measured = []
        for form in FORMS:
            if not options.only or form.name in options.only:
                Console(stderr=True).print(f"running {form.name} ...")
                measured.append(_measure(form, options))
        _show(measured)
    for row in measured:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0 if all(row["is_right"] for row in measured) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=[form.name for form in FORMS])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--small", action="store_true", help="a tenth of the rows")
    parser.add_argument("--pushes", action="store_true", help="cost of a push by its rows")
    parser.add_argument("--flat", action="store_true", help="cost of a push by those before it")
    return parser.parse_args()


def _measure(form: Form, options: argparse.Namespace) -> dict[str, Any]:
    seconds = 4 * form.window_s
    data = form.data(seconds, options.seed)
    is_right = _is_right(form, form.data(2 * form.window_s, options.seed))
    rows = ROWS // 10 if options.small else ROWS
    repeats = max(1, rows // (seconds * form.rows_per_s))
    tables = tables_of(form, data, repeats)
    spent, read = min(_timed(form, tables) for _ in range(options.runs))
    pushed = sum(table.num_rows for table in tables)
    computed, arrived = _duckdb(form, data)
    return {
        "form": form.name,
        "rows": pushed,
        "read_rows": read,
        "cpu_s": round(spent, 3),
        "rows_per_cpu_s": int(pushed / spent),
        "ns_a_row": round(1e9 * spent / pushed, 1),
        "goal": form.goal,
        "duckdb_rows_per_cpu_s": int(arrived / computed),
        "is_right": is_right,
    }


def _started(form: Form) -> tuple[EmbeddedSession, EmbeddedQuery]:
    session = windrow.connect(memory="8 GB")
    assert isinstance(session, EmbeddedSession)
    for name in STREAMS[: form.streams]:
        session.stream(name, schema_of(form), time="ts")
    query = session.query(form.wql)
    assert isinstance(query, EmbeddedQuery)
    return session, query


def _timed(form: Form, tables: list[pa.Table]) -> tuple[float, int]:
    """CPU seconds of pushing all rows and reading after every batch, and the rows read."""
    session, query = _started(form)
    read = query.answers if form.reads == "answers" else query.changes
    found = 0
    began = time.process_time()
    for start in range(0, tables[0].num_rows, BATCH_ROWS):
        for name, table in zip(STREAMS, tables, strict=False):
            session.push(name, table.slice(start, BATCH_ROWS))
        found += read().num_rows
    session.finish()
    found += read().num_rows
    return time.process_time() - began, found


def _is_right(form: Form, data: StreamData) -> bool:
    """Whether result() is DuckDB's at a few instants, and what was read leads there."""
    session, query = _started(form)
    tables = tables_of(form, data)
    windows = _in_duckdb(form, data)
    held: dict[tuple[Any, ...], int] = {}
    done = 0
    for part in range(1, CHECKED + 1):
        at_ms = data.seconds * 1000 * part // CHECKED // 1000 * 1000
        for number, (name, table) in enumerate(zip(STREAMS, tables, strict=False)):
            until = data.live(number, at_ms, at_ms).stop
            before = data.live(number, done, done).stop if done else 0
            session.push(name, table.slice(before, until - before))
        for name in STREAMS[: form.streams]:
            session.advance(name, to=at_ms * 1000)
        done = at_ms
        truth = windows.rows(form, at_ms)
        found = _rows(query.result())
        if sorted(found) != sorted(truth) and not _are_close(found, truth):
            return False
        if form.reads == "changes" and not _leads_to(query.changes(), held, found):
            return False
    return True


def _rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _are_close(found: list[tuple[Any, ...]], truth: list[tuple[Any, ...]]) -> bool:
    """Equal but for the last bits of doubles, which DuckDB rounds as it goes."""
    return len(found) == len(truth) and all(
        len(a) == len(b)
        and all(x == y or abs(x - y) <= 1e-9 * abs(y) for x, y in zip(a, b, strict=True))
        for a, b in zip(sorted(found), sorted(truth), strict=True)
    )


def _leads_to(
    changes: pa.Table, held: dict[tuple[Any, ...], int], result: list[tuple[Any, ...]]
) -> bool:
    """Whether changes, added to what was held before, are the result."""
    for _, change, *row in _rows(changes):
        held[tuple(row)] = held.get(tuple(row), 0) + change
    told = [row for row, many in held.items() for _ in range(many)]
    return sorted(told) == sorted(result)


class _Windows(DuckDbWindows):
    """The streams of a form as tables of DuckDB."""

    def rows(self, form: Form, at_ms: int) -> list[tuple[Any, ...]]:
        """The whole answer at an instant."""
        text = form.case.sql(at_ms - form.window_s * 1000, at_ms).replace("LEFT ANTI", "ANTI")
        return self._connection.execute(text).fetchall()


def _in_duckdb(form: Form, data: StreamData) -> _Windows:
    return _Windows(TypedData(data.seconds, data.times_ms, data.columns, form))


def _duckdb(form: Form, data: StreamData) -> tuple[float, int]:
    """CPU seconds of computing a few answers anew, and the rows that arrive meanwhile."""
    windows = _in_duckdb(form, data)
    ticks = [1000 * second for second in range(data.seconds - TICKS_COMPUTED, data.seconds)]
    began = time.process_time()
    for at_ms in ticks:
        windows.rows(form, at_ms)
    spent = time.process_time() - began
    return spent, form.rows_per_s * form.streams * len(ticks)


def _show(rows: list[dict[str, Any]]) -> None:
    table = Table(title=f"Batches of {BATCH_ROWS:,} rows, million rows per CPU second")
    for heading in ("form", "right"):
        table.add_column(heading)
    for heading in ("rows", "ns a row", "M rows / CPU-s", "goal", "DuckDB", "x DuckDB"):
        table.add_column(heading, justify="right")
    for row in rows:
        speed, other = row["rows_per_cpu_s"], row["duckdb_rows_per_cpu_s"]
        table.add_row(
            row["form"], "yes" if row["is_right"] else "NO", f"{row['rows']:,}",
            str(row["ns_a_row"]), f"{speed / 1e6:.1f}", f"{row['goal']:g}",
            f"{other / 1e6:.3g}", f"{speed / other:.3g}",
        )  # fmt: skip
    Console(width=130).print(table)


def _show_pushes(rows: list[dict[str, Any]]) -> None:
    table = Table(title="CPU of a push")
    for heading in rows[0]:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*(str(value) for value in row.values()))
    Console(width=150).print(table)


if __name__ == "__main__":
    sys.exit(main())
