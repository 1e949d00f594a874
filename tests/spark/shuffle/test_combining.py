"""Rows that are combined before the shuffle give the answers that they would give one by one."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.spark.driven_job import DictionaryState
from windrow.event_time import START_OF_TIME
from windrow.operators.digits import chosen_forms
from windrow.operators.keyed import lane_fit
from windrow.output.publish import Publisher
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.rows.weighted_rows import WEIGHT, expanded
from windrow.schema import StreamSchema, columns_of
from windrow.spark.driver.clock_steps import clock_steps
from windrow.spark.shuffle import combining, panes_of_rows
from windrow.spark.shuffle.combining import PaneCombiner, can_combine
from windrow.spark.shuffle.packer import Packer
from windrow.spark.shuffle.packets import Packet
from windrow.spark.worker.live_cache import LiveCache
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.shard_step import ShardStep
from windrow.sql import parse_query

SECOND = 1_000_000
COLUMNS = "ts timestamp, room string, floor bigint, v bigint, f double"
QUERIES = [
    "COUNT(*) AS n, SUM(h.v) AS s, AVG(c.v) AS m FROM h [4 SECONDS], c [3 SECONDS] "
    "WHERE h.room = c.room",
    "h.room, COUNT(*) AS n, SUM(c.v) AS s, COUNT(h.v) AS k FROM h [4 SECONDS], "
    "c [3500 MILLISECONDS] WHERE h.room = c.room GROUP BY h.room",
    "h.floor, COUNT(*) AS n, SUM(h.v) AS s FROM h [4 SECONDS], c [3 SECONDS] "
    "WHERE h.room = c.room GROUP BY h.floor",
    "h.floor, c.floor AS other, SUM(c.v) AS s FROM h [2 SECONDS], "
    "c [RANGE 4 SECONDS SLIDE 1 SECOND] WHERE h.room = c.room GROUP BY h.floor, c.floor",
    "room, COUNT(*) AS n, SUM(v) AS s, AVG(v) AS m FROM h [2500 MILLISECONDS] GROUP BY room",
    "COUNT(*) AS n, SUM(v) AS s FROM h [RANGE 6 SECONDS SLIDE 500 MILLISECONDS]",
]
# With a value so large a few rows leave the narrow lanes, and then rows must be told apart.
LARGE, NARROW = 1 << 15, 1 << 24
VALUES = st.one_of(st.none(), st.integers(-9, 9), st.just(LARGE))
ROWS = st.lists(
    st.tuples(
        st.integers(-2 * SECOND, 3 * SECOND) | st.sampled_from([0, 1, SECOND, 2 * SECOND]),
        st.sampled_from(["a", "b", "c", None]),
        st.integers(0, 1),
        VALUES,
        st.integers(1, 12),  # a burst of equal rows
    ),
    max_size=12,
)


def plan_of(text: str) -> QueryPlan:
    streams = [StreamSchema(name, columns_of(COLUMNS), "ts", SECOND) for name in ("h", "c")]
    return bind(parse_query(f"SELECT {text} EVERY (1 SECOND)"), Catalog(*streams))


def table_of(number: int, rows: list[tuple[int, str | None, int, int | None, int]]) -> pa.Table:
    bursts = [row for row in rows for _ in range(row[4])]
    columns = {
        "ts": pa.array([number * 2 * SECOND + row[0] for row in bursts], pa.timestamp("us", "UTC")),
        "room": pa.array([row[1] for row in bursts], pa.string()),
        "floor": pa.array([row[2] for row in bursts], pa.int64()),
        "v": pa.array([row[3] for row in bursts], pa.int64()),
        "f": pa.nulls(len(bursts), pa.float64()),
    }
    return pa.table(columns)


class Run:
    """Two buckets and the driver, with rows combined or not."""

    def __init__(self, plan: QueryPlan, combines: bool) -> None:
        self._plan, self._combines = plan, combines
        self._states = [DictionaryState(), DictionaryState()]
        self._complete_us: dict[str, int] | None = None
        self._publisher = Publisher(plan)
        self.weighted_packets = self.held_rows = 0
        self.forget_live_shards()

    def forget_live_shards(self) -> None:
        cache = LiveCache(lends=False)
        name = fingerprint(self._plan)
        self._steps = [ShardStep(self._plan, name, "o", i, cache, SECOND) for i in (0, 1)]

    def answers(self, tables: dict[str, pa.Table]) -> list[dict[str, object]]:
        packets: list[list[bytes]] = [[], []]
        for stream in self._plan.streams:
            packer = Packer(self._plan, stream, (0, 1))
            if self._combines:
                before = self._complete_us or dict.fromkeys(self._plan.streams, START_OF_TIME)
                packer.combine_above(before[stream], SECOND)
            for batch in tables[stream].to_batches():
                packer.add(batch)
            for bucket, data in enumerate(packer.take().column("packet").to_pylist()):
                packets[bucket].append(data)
                self.weighted_packets += any(
                    each.is_weighted for each in Packet.from_bytes(data).rows
                )
        outputs = [
            ShardOutput.from_bytes(step.run_batch(each, state).to_bytes())
            for step, each, state in zip(self._steps, packets, self._states, strict=True)
        ]
        self._complete_us = outputs[0].complete_us
        self.held_rows = sum(window.rows for each in outputs for window in each.windows)
        found = []
        for partials, instants, until_us in clock_steps(outputs):
            self._publisher.absorb(partials, instants, until_us)
            found += self._publisher.answers().to_pylist()
        return found


@pytest.mark.parametrize("text", QUERIES)
@given(
    batches=st.lists(st.tuples(ROWS, ROWS, st.booleans()), min_size=2, max_size=5),
    has_digits=st.booleans(),
)
def test_answers_are_those_of_single_rows(
    text: str, batches: list[tuple[list, list, bool]], has_digits: bool
):
    plan = plan_of(text)
    assert can_combine(plan, SECOND)
    single, combined = Run(plan, combines=False), Run(plan, combines=True)
    with (
        patch.object(combining, "LEAST_RATIO", 1),
        patch.object(panes_of_rows, "PLACES_PER_ROW", 999),
        patch.object(lane_fit, "NARROW_LIMIT", NARROW),
        patch.object(lane_fit, "chosen_forms", chosen_forms if has_digits else lambda *_: None),
    ):
        for number, (left, right, is_restart) in enumerate(batches):
            if is_restart:
                single.forget_live_shards()
                combined.forget_live_shards()
            tables = {"h": table_of(number, left), "c": table_of(number, right)}
            assert combined.answers(tables) == single.answers(tables)


def test_a_burst_crosses_as_one_row_and_leaves_together():
    plan = plan_of(QUERIES[0])
    run, single = Run(plan, combines=True), Run(plan, combines=False)
    burst = {name: table_of(1, [(0, "a", 0, 3, 500), (1, "a", 0, 4, 500)]) for name in ("h", "c")}
    quiet = {name: table_of(9, [(0, "b", 0, 1, 1)]) for name in ("h", "c")}
    for tables in (burst, burst, quiet, quiet):
        assert run.answers(tables) == single.answers(tables)
    assert run.weighted_packets == 4


def test_values_that_do_not_divide_make_two_rows():
    plan = plan_of(QUERIES[0])
    names = ["ts", "k0", "v0"]
    values = [3, 4, 4, 4, 4, 4, 1]
    rows = pa.record_batch([pa.array([5] * 7), pa.array(["a"] * 7), pa.array(values)], names=names)
    found = PaneCombiner(plan, 0, SECOND).combined(rows)
    assert found is not None
    assert found.select(["v0", WEIGHT]).to_pydict() == {"v0": [3, 6], WEIGHT: [6, 1]}
    assert sum(expanded(found).column("v0").to_pylist()) == sum(values)


def test_rows_that_are_hardly_fewer_stay_as_they_are():
    plan = plan_of(QUERIES[0])
    columns = [pa.array(np.arange(90)), pa.array(np.arange(90) // 2), pa.array(np.arange(90))]
    rows = pa.record_batch(columns, names=["ts", "k0", "v0"])
    assert PaneCombiner(plan, 0, SECOND).combined(rows) is None


@pytest.mark.parametrize(
    "text",
    [
        "COUNT(*) AS n, MAX(v) AS m FROM h [4 SECONDS]",
        "SUM(f) AS s FROM h [4 SECONDS]",
        "COUNT(*) AS n FROM h [ROWS 10]",
        "COUNT(*) AS n FROM h [UNBOUNDED]",
        "COUNT(DISTINCT room) AS n FROM h [4 SECONDS]",
    ],
)
def test_other_queries_take_rows_one_by_one(text: str):
    assert not can_combine(plan_of(text), SECOND)


def test_answers_at_every_row_need_every_row():
    assert not can_combine(plan_of(QUERIES[0]), 1)
