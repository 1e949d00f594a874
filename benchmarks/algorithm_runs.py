"""Windrow in the algorithms' benchmark: answers at every second to check, and timed runs."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa
from algorithm_cases import STREAMS, Case
from algorithm_data import SCHEMA, StreamData
from algorithm_loops import Answer

import windrow
from windrow.embedded import EmbeddedQuery, EmbeddedSession

__all__ = ["answers_by_second", "count_and_sum", "timed_run"]

BATCH_ROWS = 50_000
_FEED = ("at", "level", "error_bound")


def answers_by_second(
    case: Case, data: StreamData, window_s: int, algorithm: str
) -> dict[int, Answer]:
    """The answer at each whole second, in milliseconds."""
    session, query = _started(case, f"{case.wql(window_s)} EVERY (1 SECOND)", algorithm)
    for number in range(case.streams):
        session.push(STREAMS[number], data.table(number))
    for number in range(case.streams):
        session.advance(STREAMS[number], to=data.seconds * 1_000_000)
    rows: dict[int, list[tuple[Any, ...]]] = {}
    answers = query.answers()
    instants = answers.column("at").cast(pa.int64()).to_pylist()
    columns = [answers.column(name).to_pylist() for name in answers.column_names[len(_FEED) :]]
    for at, *values in zip(instants, *columns, strict=True):
        rows.setdefault(at // 1000, []).append(tuple(values))
    return {at: case.answer_of(each) for at, each in rows.items()}


def timed_run(
    case: Case,
    data: StreamData,
    window_s: int,
    algorithm: str,
    repeats: int,
    *,
    each_second: bool = False,
) -> tuple[float, Answer]:
    """CPU seconds of pushing all rows and reading after every push, and the last result."""
    tables = [data.table(number, repeats) for number in range(case.streams)]
    every = " EVERY (1 SECOND)" if each_second else ""
    session, query = _started(case, case.wql(window_s) + every, algorithm)
    # An answer has all groups, a change only those that a row has changed.
    read = query.changes if case.is_grouped and not each_second else query.answers
    began = time.process_time()
    for start in range(0, tables[0].num_rows, BATCH_ROWS):
        for number, table in enumerate(tables):
            session.push(STREAMS[number], table.slice(start, BATCH_ROWS))
        read()
    for number in range(case.streams):
        session.advance(STREAMS[number], to=data.seconds * repeats * 1_000_000)
    read()
    spent = time.process_time() - began
    result = query.result()
    rows = list(
        zip(*(result.column(name).to_pylist() for name in result.column_names), strict=True)
    )
    return spent, case.answer_of(rows)


def count_and_sum(data: StreamData, at_ms: int, window_ms: int) -> Answer:
    """COUNT(*), SUM(A.x) at an instant, by brute force over keys."""
    left, right = (data.live(number, at_ms, window_ms) for number in (0, 1))
    keys, values = data.columns[0]["k"][left], data.columns[0]["x"][left]
    other = data.columns[1]["k"][right]
    matches = np.bincount(other, minlength=1 + max(keys.max(), other.max()))[keys]
    return int(matches.sum()), int((matches * values).sum())


def _started(case: Case, text: str, algorithm: str) -> tuple[EmbeddedSession, EmbeddedQuery]:
    session = windrow.connect(memory="8 GB")
    assert isinstance(session, EmbeddedSession)
    for name in STREAMS[: case.streams]:
        session.stream(name, SCHEMA, time="ts")
    return session, session.query(text, algorithm=algorithm)
