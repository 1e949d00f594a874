"""One event at a time: CPU microseconds for a push and a latest(), beside a plain Python loop.

    python benchmarks/latency.py                     # every form, about a minute
    python benchmarks/latency.py --only anchor --only select
    python benchmarks/latency.py --small             # fewer events, to try it out

Windows are full before the clock starts. At the end the answer is compared with result() of a
session that was given the same rows in one batch. Rows are made 200 at a time, beside the clock,
as who pushes a row has just made it: Arrow batches that were all made before are no longer in the
processor's caches, and to read one then takes half a microsecond more. --made-before does that. The
plain loop keeps COUNT and SUM over the join
of two windows by hand, in dicts and deques, without types, lateness or any other query: what Python
takes for the least that could be done. The better of the runs counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from typing import Any

from latency_forms import FORMS, NAMES, Form, plain_loop, rows_of
from process_tree import machine
from rich.console import Console
from rich.table import Table

import windrow
from windrow.embedded import EmbeddedQuery, EmbeddedSession

Pushed = list[tuple[str, tuple[Any, ...]]]  # rows with their streams
LOT = 200  # rows that are made at a time


def main() -> int:
    """Run what was asked for; print a table and JSON lines."""
    options = _options()
    warnings.simplefilter("ignore")
    events = 4_000 if options.small else 20_000
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    measured = []
    for form in FORMS:
        if not options.only or form.name in options.only:
            Console(stderr=True).print(f"running {form.name} ...")
            measured.append(_measure(form, events, options))
    _show(measured)
    for row in measured:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0 if all(row["is_right"] for row in measured) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=[form.name for form in FORMS])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--small", action="store_true", help="a fifth of the events")
    parser.add_argument("--made-before", action="store_true", help="all rows, before the first")
    return parser.parse_args()


def _measure(form: Form, events: int, options: argparse.Namespace) -> dict[str, Any]:
    """The better of the runs; the plain loop runs in turn with them."""
    pushed = rows_of(form, events, options.seed)
    lot = events if options.made_before else LOT
    runs = [_timed(form, pushed, events, lot) for _ in range(options.runs)]
    plain = min(plain_loop(events, options.seed) for _ in range(options.runs))
    spent = min(run[0] for run in runs)
    return {
        "form": form.name,
        "events": events,
        "us": round(spent * 1e6, 2),
        "plain_us": round(plain * 1e6, 2),
        "ratio": round(spent / plain, 2),
        "rows": runs[0][2],
        "has_run": all(run[3] for run in runs),
        "is_right": all(run[1] for run in runs),
    }


def _timed(form: Form, pushed: Pushed, events: int, lot: int) -> tuple[float, bool, int, bool]:
    """Seconds an event, whether the answers are right, their rows, and whether runs made them."""
    session, queries = _session(form)
    for stream, row in _made(form, pushed[:-events]):
        session.push(stream, row)
    for query in queries:
        while not query.has_run and query.events.may_run:
            query.latest()
    spent = 0.0
    for first in range(len(pushed) - events, len(pushed), lot):
        made = _made(form, pushed[first : first + lot])
        begin = time.process_time()
        for stream, row in made:
            session.push(stream, row)
            for query in queries:
                query.latest()
        spent += time.process_time() - begin
    has_run = all(query.has_run for query in queries)
    answers = [query.latest() for query in queries]
    return spent / events, _is_right(form, pushed, answers), len(answers[0]), has_run


def _made(form: Form, pushed: Pushed) -> list[tuple[str, Any]]:
    """The rows in the form in which they are pushed."""
    return [(stream, form.as_given(row)) for stream, row in pushed]


def _session(form: Form) -> tuple[EmbeddedSession, list[EmbeddedQuery]]:
    session = windrow.connect()
    for name in form.streams:
        session.stream(name, form.schema, time="ts")
    queries = [session.query(text) for text in form.texts]
    return session, [query for query in queries if isinstance(query, EmbeddedQuery)]


def _is_right(form: Form, pushed: Pushed, answers: list[Any]) -> bool:
    """Whether a session that is given all rows of each stream at once has the same result."""
    session, queries = _session(form)
    for name in form.streams:
        rows = [dict(zip(NAMES, row, strict=True)) for stream, row in pushed if stream == name]
        session.push(name, rows)
    wanted = [query.result().to_pylist() for query in queries]
    return [sorted(map(repr, rows)) for rows in answers] == [
        sorted(map(repr, rows)) for rows in wanted
    ]


def _show(measured: list[dict[str, Any]]) -> None:
    columns = ["form", "us", "plain_us", "ratio", "rows", "has_run", "is_right"]
    table = Table(*columns, title="CPU time of a push and a latest()")
    for row in measured:
        table.add_row(*(str(row[name]) for name in columns))
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
