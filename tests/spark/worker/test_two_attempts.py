"""Two attempts at every task, as speculation makes them: any of the two may be what is stored.

Executors go on from their own state, while the shared checkpoint has of each batch the changes of
the attempt that wrote last. A state that is put together from changes of both must do.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from support.spark.driven_job import DictionaryState, DrivenJob
from support.spark.stream_files import COLUMNS, SECOND, in_order, random_batches
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.model import QueryPlan
from windrow.schema import StreamSchema, columns_of
from windrow.spark.worker import shard_segments
from windrow.sql import parse_query

JOIN = """SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS]
          WHERE h.room = c.room GROUP BY h.room"""
LAST = "SELECT room, COUNT(*) AS n FROM h [PARTITION BY room ROWS 3] GROUP BY room"
BATCHES = 8


@pytest.mark.parametrize("text", [JOIN, LAST])
@pytest.mark.parametrize("spare_rows", [0, 10_000])
def test_changes_of_two_attempts_fit_together(
    text: str, spare_rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Without spare rows, snapshots replace segments: both attempts must do so in the same batch.
    monkeypatch.setattr(shard_segments, "SPARE_ROWS", spare_rows)
    jobs = {name: DrivenJob(plan_of(text), tmp_path / name) for name in ("live", "built", "third")}
    stored = DictionaryState()
    for number, batch in enumerate(random_batches(BATCHES, seed=3, disorder_us=SECOND)):
        jobs["built"].restart()
        jobs["third"].restart()
        jobs["third"].states = [stored.copy()]
        changed = {name: tried(job, batch) for name, job in jobs.items()}
        told = [in_order(given["changes"]) for given, _, _ in changed.values()]
        assert told[0] == told[1] == told[2]
        write(stored, *changed[("live", "built")[number % 2]][1:])
    assert set(stored.segments) == set(jobs["live"].states[0].segments)


def plan_of(text: str) -> QueryPlan:
    streams = [StreamSchema(name, columns_of(COLUMNS), "ts", SECOND) for name in ("h", "c")]
    return bind(parse_query(text), Catalog(*streams))


Attempt = tuple[dict[str, pa.Table], DictionaryState, set[int]]


def tried(job: DrivenJob, batch: dict[str, pa.Table]) -> Attempt:
    """What a batch gives, what it has written, and the segments that it has removed."""
    before = job.states[0].copy()
    given = job.batch({name: batch[name] for name in job.plan.streams})
    after, written = job.states[0], DictionaryState()
    written.header = after.header
    written.segments = {
        key: data for key, data in after.segments.items() if key not in before.segments
    }
    return given, written, set(before.segments) - set(after.segments)


def write(stored: DictionaryState, written: DictionaryState, removed: set[int]) -> None:
    """Replays the changes of one attempt, as the state store replays its changelog."""
    stored.header = written.header
    stored.segments.update(written.segments)
    for key in removed:
        stored.segments.pop(key, None)
