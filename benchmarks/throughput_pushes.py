"""What a push costs: by the number of its rows, and by the number of pushes before it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from algorithm_loops import LOOPS, run_loop
from throughput_forms import FORMS, Form, schema_of, tables_of

import windrow
from windrow.embedded import EmbeddedQuery, EmbeddedSession

__all__ = ["flat_rows", "push_rows"]

SIZES = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
ROWS, PUSHES = 2_000_000, 20_000  # at most, of each size
FIXED_US, ROW_NS = 40, 60
FLAT_PUSHES, FLAT_PARTS, FLAT_SIZE = 1_000_000, 10, 2
Read = Callable[[EmbeddedQuery], object]
GROUPED = "SELECT A.k AS k, COUNT(*) AS n FROM {A} GROUP BY A.k"
READERS: dict[str, tuple[str, int, Read | None]] = {
    "nobody": (FORMS[0].text, 0, None),
    "nobody, groups": (GROUPED, 0, None),
    "answers()": (FORMS[0].text, 100, EmbeddedQuery.answers),
    "changes(), groups": (GROUPED, 100, EmbeddedQuery.changes),
    "result(), groups": (GROUPED, 100, EmbeddedQuery.result),
    "result()": (FORMS[0].text, 100, EmbeddedQuery.result),
    "changes() once in a while": (FORMS[0].text, 5_000, EmbeddedQuery.changes),
}


def push_rows(options: argparse.Namespace) -> list[dict[str, Any]]:
    """CPU of a push of so many rows of the anchor query, nobody reading until the end."""
    form = FORMS[0]
    _pushed(form, 100, 10, options.seed)  # kernels are loaded before the clock runs
    loop_ns = _loop_ns(form, options.seed)
    out = []
    for size in SIZES:
        pushes = min(PUSHES, (ROWS // 10 if options.small else ROWS) // size)
        spent, result = min(_pushed(form, size, pushes, options.seed) for _ in range(options.runs))
        _, truth = _pushed(form, pushes * size, 1, options.seed)
        push_us = 1e6 * spent / (2 * pushes)
        out.append(
            {
                "rows": size,
                "us_a_push": round(push_us, 1),
                "allowed_us": round(FIXED_US + ROW_NS * size / 1000, 1),
                "ns_a_row": round(1000 * push_us / size, 1),
                "loop_ns_a_row": round(loop_ns, 1),
                "is_right": result == truth,
            }
        )
    return out


def _pushed(form: Form, size: int, pushes: int, seed: int) -> tuple[float, list[tuple[Any, ...]]]:
    session, query = _started(form)
    seconds = max(1, size * pushes // form.rows_per_s)
    tables = tables_of(form, form.data(seconds, seed))
    batches = [_cut(table, size, pushes) for table in tables]
    began = time.process_time()
    for left, right in zip(*batches, strict=True):
        session.push("A", left)
        session.push("B", right)
    session.finish()
    spent = time.process_time() - began
    return spent, query.result().to_pylist()


def _cut(table: pa.Table, size: int, pushes: int) -> list[pa.RecordBatch]:
    whole = table.combine_chunks().to_batches()[0]
    return [whole.slice(number * size, size) for number in range(pushes)]


def _started(form: Form) -> tuple[EmbeddedSession, EmbeddedQuery]:
    session = windrow.connect(memory="8 GB")
    assert isinstance(session, EmbeddedSession)
    for name in "AB"[: form.streams]:
        session.stream(name, schema_of(form), time="ts")
    query = session.query(form.wql)
    assert isinstance(query, EmbeddedQuery)
    return session, query


def _loop_ns(form: Form, seed: int) -> float:
    data = form.data(100, seed)
    events = data.events
    began = time.process_time()
    run_loop(LOOPS["COUNT + SUM"], events, form.window_s * 1000)
    return 1e9 * (time.process_time() - began) / len(events)


def flat_rows(options: argparse.Namespace) -> list[dict[str, Any]]:
    """CPU of a push in each tenth of a million pushes, read by several kinds of readers."""
    pushes = FLAT_PUSHES // 10 if options.small else FLAT_PUSHES
    return [_flat(name, pushes, options.seed) for name in READERS]


def _flat(name: str, pushes: int, seed: int) -> dict[str, Any]:
    """The cost of the last part may be that of the second one: windows are full from there on."""
    text, each, read = READERS[name]
    streams = 2 if "{B}" in text else 1
    seconds = pushes * FLAT_SIZE // streams // 1_000
    form = Form(name, text, 0, streams, window_s=min(60, seconds // FLAT_PARTS))
    session, query = _started(form)
    tables = tables_of(form, form.data(seconds, seed))
    batches = [_cut(table, FLAT_SIZE, table.num_rows // FLAT_SIZE) for table in tables]
    spent, part = [], len(batches[0]) // FLAT_PARTS
    for first in range(0, part * FLAT_PARTS, part):
        began = time.process_time()
        for number in range(first, first + part):
            for stream, given in zip("AB", batches, strict=False):
                session.push(stream, given[number])
            if read is not None and number % each == 0:
                read(query)
        spent.append(time.process_time() - began)
    session.finish()
    whole, alone = _started(form)
    for stream, table in zip("AB", tables, strict=False):
        whole.push(stream, table.slice(0, part * FLAT_PARTS * FLAT_SIZE))
    whole.finish()
    per_push = [1e6 * seconds_ / (part * streams) for seconds_ in spent]
    return {
        "reader": name,
        "every": each,
        "pushes": pushes,
        "first_us": round(per_push[1], 1),
        "last_us": round(per_push[-1], 1),
        "last_to_first": round(per_push[-1] / per_push[1], 2),
        "is_right": _sorted(query) == _sorted(alone),
    }


def _sorted(query: EmbeddedQuery) -> list[str]:
    return sorted(map(str, query.result().to_pylist()))
