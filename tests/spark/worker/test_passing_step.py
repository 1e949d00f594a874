"""Rows that pass: told as if all were kept, and gone once the clock has reached them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.spark.driven_job import DrivenJob, heartbeat
from support.spark.stream_files import COLUMNS, SECOND, rows
from support.streams import ROWS, TICK_US, batch_of, instant, plan_of
from windrow.errors import CheckpointError
from windrow.event_time import END_OF_TIME
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.update_pattern import only_adds_rows
from windrow.schema import StreamSchema, columns_of
from windrow.spark.worker import shard_segments
from windrow.sql import parse_query

TEXTS = [
    "SELECT * FROM b",
    "SELECT s, d FROM b WHERE k > 0",
    "SELECT d * 2 AS twice, 7 AS seven, s FROM b [UNBOUNDED]",
    "SELECT k, s, k AS again FROM b WHERE d IS NOT NULL OR s IS NULL",
]
OTHERS = [
    "SELECT s FROM b [5 SECONDS]",
    "SELECT DISTINCT s FROM b",
    "SELECT COUNT(*) AS n FROM b",
    "SELECT s FROM b EVERY (1 SECOND)",
    "SELECT s FROM b DURATION [0, 5]",
    "SELECT b.s FROM b [5], c [5] WHERE b.k = c.k",
]


@st.composite
def batches(draw: st.DrawFn) -> list[dict[str, pa.RecordBatch]]:
    """Rows with ties, out of order, some of them late; batches without rows; silence."""
    now, made = 0, []
    for _ in range(draw(st.integers(1, 7))):
        ticks = draw(st.lists(st.integers(-2, 5), max_size=6))
        times = [max(0, now + each) for each in ticks]
        given_rows = [{"ts": instant(each * TICK_US), **draw(ROWS["b"])} for each in times]
        made.append({"b": batch_of("b", tuple(given_rows))} if given_rows else {})
        now += draw(st.integers(0, 4))
    return made


@given(st.sampled_from(TEXTS), batches(), st.integers(1, 3), st.data())
def test_rows_that_pass_are_told_as_those_that_are_kept(
    text: str, made: list[dict[str, pa.RecordBatch]], buckets: int, data: st.DataObject
) -> None:
    plan = plan_of(text)
    assert only_adds_rows(plan)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        job = DrivenJob(plan, Path(one), buckets, passes=True)
        twin = DrivenJob(plan, Path(other), buckets)
        end = ({}, [heartbeat("b", END_OF_TIME)])
        for tables, orders in [*((batch, []) for batch in made), end]:
            if data.draw(st.booleans()):
                job.restart()
            found, expected = job.batch(tables, orders), twin.batch(tables, orders)
            assert found["changes"].schema == expected["changes"].schema
            assert repr(found["changes"].to_pylist()) == repr(expected["changes"].to_pylist())
            assert job.publication.status.ledgers == twin.publication.status.ledgers
            assert job.clock == twin.clock
        assert not any(state.segments for state in job.states)


@pytest.mark.parametrize("text", OTHERS)
def test_no_other_query_passes_its_rows(text: str) -> None:
    assert not only_adds_rows(plan_of(text))


@pytest.mark.parametrize("spare_rows", [0, 10_000])
def test_what_waits_is_stored_once_and_no_more(
    spare_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_segments, "SPARE_ROWS", spare_rows)
    stream = StreamSchema("h", columns_of(COLUMNS), "ts", 10 * SECOND)
    plan = bind(parse_query("SELECT room, value FROM h"), Catalog(stream))
    job = DrivenJob(plan, tmp_path, passes=True)
    told = 0
    for number in range(30):
        job.lose_shards()
        came = [(f"r{each}", (number * 5 + each) * SECOND, 1.0) for each in range(5)]
        told += job.batch({"h": rows(*came)})["changes"].num_rows
        status = job.publication.status
        assert told + status.windows[0].waiting == 5 * (number + 1)
        assert status.windows[0].waiting <= 11
        assert len(job.states[0].segments) <= 4


def test_nobody_has_the_result_of_rows_that_pass(tmp_path: Path) -> None:
    job = DrivenJob(plan_of(TEXTS[0]), tmp_path, passes=True)
    with pytest.raises(CheckpointError, match="its result is not kept") as refused:
        job.publication.result()
    assert refused.value.code == "WC225"
