"""Bytes that are counted inside of steps: within what was foretold, and within the budget."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow
from windrow.windows.buffer import ColumnWindow
from windrow.windows.row_store import FEW_ROWS, RowStore

PACKAGE = str(Path(windrow.__file__).parent)
WINDOWS = str(Path(PACKAGE) / "windows")


def most_at_lines(
    count: Callable[[], int], step: Callable[[], None], every: int = 1, code: str = WINDOWS
) -> int:
    """The most that is counted at lines of some code while a step is made."""
    most, lines = [count()], itertools.count(1)

    def trace(frame: FrameType, _event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(code):
            return None
        if next(lines) % every:
            return trace
        sys.settrace(None)
        most[0] = max(most[0], count())
        sys.settrace(trace)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        step()
    finally:
        sys.settrace(before)
    return max(most[0], count())


@pytest.mark.parametrize("rows", [100, 900, 5_000])
def test_no_more_is_held_on_the_way_than_was_foretold(rows: int) -> None:
    store = RowStore(2)
    windows = [
        ColumnWindow(0, store=store, chosen=(0,)),
        ColumnWindow(0, store=store, chosen=(1, 0), own_count=2),
    ]
    latest = 0
    for _ in range(4 * FEW_ROWS // rows):
        times = latest + np.arange(rows)
        latest += rows
        foretold = max(store.bytes_after(rows))

        def push(times: Any = times) -> None:
            store.append(times, np.zeros((2, rows), np.int64))
            for window in windows:
                window.append(times, np.zeros(rows, np.int32), np.empty((0, rows), np.int64))

        found = most_at_lines(lambda: held(store, windows), push)
        assert found <= foretold + sum(each.cursor.nbytes + 64 for each in windows)
        for window in windows:
            window.cursor[:2] = max(0, store.end - 3 * FEW_ROWS // 2), store.end


def held(store: RowStore, windows: list[ColumnWindow]) -> int:
    return store.nbytes + sum(window.nbytes for window in windows)


@pytest.mark.parametrize(
    ("text", "kilobytes"),
    [
        ("SELECT k, SUM(x) AS n FROM s [60 SECONDS] GROUP BY k EVERY (10 SECONDS)", 300),
        ("SELECT MAX(x) AS n FROM s [60 SECONDS] EVERY (10 SECONDS)", 500),
        (
            "SELECT COUNT(*) AS n FROM s [60 SECONDS] a, s [60 SECONDS] b "
            "WHERE a.k = b.k AND a.x > b.x EVERY (10 SECONDS)",
            2_000,
        ),
    ],
)
def test_the_budget_holds_inside_of_steps(text: str, kilobytes: int) -> None:
    budget = kilobytes * 1024
    generator = np.random.default_rng(3)
    session = windrow.connect(memory=budget)
    session.stream("s", "ts timestamp, k bigint, x double", time="ts")
    query = session.query(text)
    rows, start, refused = 500, 1_767_225_600_000_000, 0
    for number in range(32):
        times = start + (number * rows + np.arange(rows)) * 2_500
        batch = pa.table(
            {
                "ts": pa.array(times).cast(pa.timestamp("us")),
                "k": generator.integers(0, 400, rows),
                "x": generator.random(rows),
            }
        )

        def push(batch: pa.Table = batch) -> None:
            nonlocal refused
            try:
                session.push("s", batch)
            except windrow.AdmissionError:
                refused += 1

        assert (
            most_at_lines(lambda: session._governing.nbytes, push, every=59, code=PACKAGE) <= budget
        )
        query.answers()
    assert refused
