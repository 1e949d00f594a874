"""Rows that decide no MIN or MAX are left out before the shuffle, and no answer shows it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark.shuffle.test_combining import SECOND, Run, plan_of
from support.oracle import Oracle, assert_same_rows, rows_of
from support.spark.stream_files import Files, Sessions, embedded, random_batches, read_sink
from windrow import sinks
from windrow.event_time import instant_of
from windrow.spark.shuffle import panes_of_rows, picking
from windrow.spark.shuffle.picking import PanePicker, can_pick

QUERIES = [
    "MAX(v) AS m FROM h [4 SECONDS]",
    "room, MIN(f) AS low, MAX(f) AS high, MAX(v) AS m FROM h [2500 MILLISECONDS] GROUP BY room",
    "room, MIN(v + floor) AS m FROM h [3 SECONDS] WHERE v <> 3 GROUP BY room HAVING MIN(v) < 5",
    "floor, MAX(v > 2) AS m FROM h [RANGE 4 SECONDS SLIDE 1 SECOND] GROUP BY floor",
    "v, MAX(v) AS m FROM h [2 SECONDS] GROUP BY v",
    "MAX(ts) AS last, MIN(CAST(v AS DECIMAL(9, 2))) AS d FROM h [2 SECONDS]",
    "h.room, MAX(h.v) AS a, MIN(c.f) AS b FROM h [4 SECONDS], c [3 SECONDS] "
    "WHERE h.room = c.room GROUP BY h.room",
    "h.floor, MAX(h.v) AS m FROM h [4 SECONDS], c [3500 MILLISECONDS] "
    "WHERE h.room = c.room AND h.f > c.f GROUP BY h.floor",
    "MAX(h.v) AS m FROM h [4 SECONDS], c [2 SECONDS] WHERE h.room = c.room AND h.v < c.v",
    "MAX(h.v - c.v) AS m, MIN(h.v) AS n FROM h [4 SECONDS], c [2 SECONDS] WHERE h.room = c.room",
]
LARGEST, SMALLEST = 2**63 - 1, -(2**63)
Entry = tuple[int, str | None, int, int | None, float | None]


def entries(values: st.SearchStrategy[int | None]) -> st.SearchStrategy[list[Entry]]:
    """Rows of a batch: many in few panes, with few keys."""
    times = st.integers(-2 * SECOND, 3 * SECOND) | st.sampled_from([0, 1, SECOND, 2 * SECOND])
    rooms = st.sampled_from(["a", "b", None])
    numbers = st.sampled_from([None, 0.0, -0.0, 1.5, -2.0, math.inf, -math.inf])
    more = st.one_of(numbers, numbers, numbers, st.just(math.nan))
    return st.lists(st.tuples(times, rooms, st.integers(0, 1), values, more), max_size=25)


SMALL = entries(st.none() | st.integers(-9, 9))


def table_of(number: int, rows: Sequence[Entry]) -> pa.Table:
    return pa.table(
        {
            "ts": pa.array(
                [number * 2 * SECOND + row[0] for row in rows], pa.timestamp("us", "UTC")
            ),
            "room": pa.array([row[1] for row in rows], pa.string()),
            "floor": pa.array([row[2] for row in rows], pa.int64()),
            "v": pa.array([row[3] for row in rows], pa.int64()),
            "f": pa.array([row[4] for row in rows], pa.float64()),
        }
    )


Batches = list[tuple[list[Entry], list[Entry], bool]]


@pytest.mark.parametrize("text", QUERIES)
@given(batches=st.lists(st.tuples(SMALL, SMALL, st.booleans()), min_size=2, max_size=4))
def test_answers_are_those_of_all_rows(text: str, batches: Batches) -> None:
    plan = plan_of(text)
    assert can_pick(plan, SECOND)
    single, picked = Run(plan, combines=False), Run(plan, combines=True)
    with (
        patch.object(picking, "LEAST_RATIO", 1),
        patch.object(panes_of_rows, "PLACES_PER_ROW", 999),
    ):
        for number, (left, right, is_restart) in enumerate(batches):
            if is_restart:
                single.forget_live_shards()
                picked.forget_live_shards()
            tables = {"h": table_of(number, left), "c": table_of(number, right)}
            found, wanted = picked.answers(tables), single.answers(tables)
            assert repr(found).replace("-0.0", "0.0") == repr(wanted).replace("-0.0", "0.0")
    assert picked.held_rows <= single.held_rows


@pytest.mark.parametrize("text", QUERIES)
@given(left=SMALL, right=SMALL)
def test_answers_are_those_of_the_oracle(text: str, left: list[Entry], right: list[Entry]) -> None:
    """One batch without late rows, so that the oracle is to see them all, and one that ends it."""
    plan = plan_of(text)
    run = Run(plan, combines=True)
    tables = {"h": table_of(1, left), "c": table_of(1, right)}
    last: Entry = (0, "z", 9, None, None)
    end = {name: table_of(20, [last]) for name in tables}
    with (
        patch.object(picking, "LEAST_RATIO", 1),
        patch.object(panes_of_rows, "PLACES_PER_ROW", 999),
    ):
        found = run.answers(tables) + run.answers(end)
    oracle = Oracle(plan)
    rows = {name: pa.concat_tables([tables[name], end[name]]) for name in tables}
    instants = oracle.answer_instants(rows, 39 * SECOND - 1)
    wanted = [
        (instant, *row) for instant, each in oracle.answers(rows, instants).items() for row in each
    ]
    told = [tuple(map(plain, each.values())) for each in found]
    assert_same_rows([(at, *row) for at, _, _, *row in told], wanted)


def plain(value: object) -> object:
    return instant_of(value) if isinstance(value, datetime) else value


def test_a_burst_crosses_as_the_rows_that_decide() -> None:
    plan = plan_of(QUERIES[1])
    names = ["ts", "g0", "v0", "v1"]
    columns = [
        pa.array([5, 5, 5, 5, 5, 5, 5, 5, 5]),
        pa.array(["a"] * 8 + ["b"]),
        pa.array([1.0, 9.0, 3.0, None, 2.0, 2.0, 2.0, 9.0, None]),
        pa.array([7, None, SMALLEST, 7, LARGEST, 7, 7, 7, None]),
    ]
    found = PanePicker(plan, 0, SECOND).combined(pa.record_batch(columns, names=names))
    assert found is None  # four rows of nine are too many
    twice = [pa.concat_arrays([each, each]) for each in columns]
    found = PanePicker(plan, 0, SECOND).combined(pa.record_batch(twice, names=names))
    assert found is not None
    lows = found.filter(pa.array([room == "a" for room in found["g0"].to_pylist()]))
    assert {1.0, 9.0} <= set(lows["v0"].to_pylist())
    assert LARGEST in lows["v1"].to_pylist()
    assert found["g0"].to_pylist().count("b") == 1


def test_the_smallest_of_all_numbers_is_found() -> None:
    plan = plan_of("MIN(v) AS m FROM h [4 SECONDS]")
    values = [0, LARGEST, SMALLEST, -1, 5, 6, 7]
    rows = pa.record_batch([pa.array([5] * 7), pa.array(values)], names=["ts", "v0"])
    found = PanePicker(plan, 0, SECOND).combined(rows)
    assert found is not None
    assert found["v0"].to_pylist() == [SMALLEST]


def test_rows_that_are_hardly_fewer_stay_as_they_are() -> None:
    plan = plan_of(QUERIES[1])
    columns = [pa.array(np.arange(90)), pa.array([str(n // 2) for n in range(90)])]
    columns += [pa.array(np.arange(90.0)), pa.array(np.arange(90))]
    rows = pa.record_batch(columns, names=["ts", "g0", "v0", "v1"])
    assert PanePicker(plan, 0, SECOND).combined(rows) is None


@pytest.mark.parametrize(
    "text",
    [
        "COUNT(*) AS n, MAX(v) AS m FROM h [4 SECONDS]",
        "MAX(v) AS m FROM h [4 SECONDS] HAVING COUNT(*) > 3",
        "MAX(v) AS m FROM h [ROWS 10]",
        "MAX(v) AS m FROM h [UNBOUNDED]",
        "MAX(h.v) AS m FROM h [4 SECONDS] LEFT ANTI JOIN c [2 SECONDS] ON h.room = c.room",
    ],
)
def test_other_queries_need_all_rows(text: str) -> None:
    assert not can_pick(plan_of(text), SECOND)


def test_answers_at_every_row_need_every_row() -> None:
    assert not can_pick(plan_of(QUERIES[0]), 1)


@pytest.mark.long_spark
@pytest.mark.spark
def test_on_spark_rows_are_left_out_and_answers_are_those_in_process(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    text = """SELECT h.room, MIN(h.value) AS low, MAX(c.value) AS high
        FROM h [20 SECONDS], c [15 SECONDS] WHERE h.room = c.room GROUP BY h.room
        EVERY (5 SECONDS)"""
    batches = random_batches(6, seed=3)
    files.put_all(batches)
    session = sessions.open(files, buckets=2)
    sink = sinks.parquet(tmp_path / "out", feed="answers")  # others are told between ticks, too
    query = session.query(text, name="extremes").start(sink, trigger="available")
    query.await_end()
    session.finish()
    wanted, in_process = embedded(text, batches)
    assert_same_rows(rows_of(read_sink(tmp_path / "out")), rows_of(wanted.answers()))
    held = sum(session.windows()["rows"].to_pylist())
    assert 0 < held < sum(in_process.windows()["rows"].to_pylist())
