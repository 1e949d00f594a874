"""Heavy keys are found from few rows, fade, and show on which keys buckets are uneven."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from support.spark.driven_job import DrivenJob
from support.spark.stream_files import COLUMNS, SECOND, rows
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.model import QueryPlan
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.schema import StreamSchema, columns_of
from windrow.spark.shuffle import heavy_keys
from windrow.spark.shuffle.heavy_keys import (
    KEYS_KEPT,
    ROWS_PER_SAMPLE,
    KeySampler,
    faded,
    heavy_shares,
)
from windrow.spark.shuffle.routing import NO_ROUTING
from windrow.spark.shuffle.splitting import routing_with
from windrow.sql import parse_query

JOIN = """SELECT h.room, COUNT(*) AS n FROM h [60 SECONDS], c [60 SECONDS]
          WHERE h.room = c.room GROUP BY h.room"""


def plan_of(text: str) -> QueryPlan:
    streams = [StreamSchema(name, columns_of(COLUMNS), "ts", SECOND) for name in ("h", "c")]
    return bind(parse_query(text), Catalog(*streams))


def prepared(rooms: list[str | None], first_us: int = 0) -> pa.RecordBatch:
    times = pa.array(np.arange(first_us, first_us + len(rooms)))
    return pa.record_batch([times, pa.array(rooms, pa.string())], names=["ts", "k0"])


def test_the_share_of_a_heavy_key_is_near_the_truth() -> None:
    plan = plan_of(JOIN)
    rooms: list[str | None] = [f"r{number}" for number in range(ROWS_PER_SAMPLE)]
    rooms[::4] = ["hot"] * len(rooms[::4])
    rooms[1::10] = [None] * len(rooms[1::10])
    sampler = KeySampler.of_block(plan, [0, 1])
    sampler.add(1, prepared(rooms))
    shares = heavy_shares(plan, sampler.drain())
    assert [(each["input"], each["key"]) for each in shares] == [("c", "hot"), ("c", "NULL")]
    assert [each["share"] for each in shares] == pytest.approx([0.25, 0.1], abs=0.06)
    assert sampler.drain() == []


def test_of_small_batches_some_stand_for_all() -> None:
    plan, batches = plan_of(JOIN), 400
    sampler = KeySampler.of_block(plan, [0])
    for number in range(batches):
        sampler.add(0, prepared(["hot"] * 3_000 + ["cold"] * 2_000, number * SECOND))
    found = {key: count for _, key, count in sampler.drain()}
    assert found[None] == pytest.approx(5_000 * batches, rel=0.7)
    assert found["hot"] / found[None] == pytest.approx(0.6, abs=0.06)


def test_what_is_kept_is_bounded_and_fades() -> None:
    known = faded([], [[0, None, 1_000], *([0, f"k{i}", i] for i in range(100))])
    assert len(known) == 1 + KEYS_KEPT
    assert known[1][:2] == [0, "k99"]
    for _ in range(30):
        known = faded(known, [[0, None, 1_000], [0, "new", 900]])
    (share,) = heavy_shares(plan_of(JOIN), known)
    assert share["key"] == "new"


def test_queries_that_are_dealt_out_without_a_key_have_no_heavy_one() -> None:
    sampler = KeySampler.of_block(plan_of("SELECT COUNT(*) AS n FROM h [5 SECONDS]"), [0])
    sampler.add(0, prepared(["hot"] * ROWS_PER_SAMPLE))
    assert sampler.drain() == []


def test_heavy_keys_of_trees_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heavy_keys, "ROWS_PER_SAMPLE", 1_000)
    streams = [StreamSchema(name, columns_of(COLUMNS), "ts", SECOND) for name in ("h", "c")]
    text = "SELECT h.room, c.value FROM h [60 SECONDS] LEFT JOIN c [60 SECONDS] ON h.room = c.room"
    plan = plan_on_spark(parse_query(text), Catalog(*streams), "auto", "auto")
    job = DrivenJob(plan, tmp_path, 4)
    rooms = ["hot" if number % 2 else f"r{number}" for number in range(2_000)]
    job.batch({"h": rows(*((room, number, 1.0) for number, room in enumerate(rooms)))})
    (share,) = heavy_shares(plan, job.publication.status.heavy)
    assert (share["input"], share["key"]) == ("h", "hot")
    assert share["share"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("is_split", [False, True])
def test_a_split_evens_out_what_buckets_hold(tmp_path: Path, is_split: bool) -> None:
    plan = plan_of(JOIN)
    job = DrivenJob(plan, tmp_path, 4)
    job.routing = routing_with(plan, {"h": ["hot"]}) if is_split else NO_ROUTING
    random = np.random.default_rng(3)
    times = np.sort(random.integers(0, 20 * SECOND, 4_000))
    table = rows(
        *(
            ("hot" if random.random() < 0.6 else f"r{random.integers(200)}", int(time), 1.0)
            for time in times
        )
    )
    few = rows(*((f"r{number}", int(number) * SECOND // 10, 1.0) for number in range(200)))
    job.batch({"h": table, "c": few})
    held = job.publication.status.bucket_rows
    ratio = max(held) * len(held) / sum(held)
    assert ratio < 1.2 if is_split else ratio > 2
    assert job.publication.status.ledgers["h"].rows_in == 4_000
