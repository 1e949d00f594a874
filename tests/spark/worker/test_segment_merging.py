"""Many small batches: segments are put together, and nothing else changes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark.driver.test_bundles import COUNT, GROUPS, common_partitioning
from spark.worker.test_width_orders import batches, exactly
from support.spark.driven_bundle import DrivenBundle
from support.spark.driven_job import DrivenJob, order
from support.streams import batch_of, instant, plan_of
from windrow.rows.prepare import lifetime_of
from windrow.spark.worker import segment_merging
from windrow.spark.worker.bucket_header import SHARD, SegmentEntry
from windrow.spark.worker.segment_merging import pair_to_merge

LIMIT = 3
QUERIES = [
    "SELECT k, COUNT(*) AS c FROM a [5 SECONDS] GROUP BY k",
    "SELECT COUNT(*) AS c FROM a [RANGE 4 SECONDS SLIDE 2 SECONDS]",
    "SELECT k, SUM(l % 9) AS c FROM a [20 SECONDS] GROUP BY k EVERY (2 SECONDS)",
    "SELECT COUNT(*) AS c FROM a [9 SECONDS] DURATION [2, 30]",
    "SELECT k, MAX(d) AS c FROM a [PARTITION BY k ROWS 2] GROUP BY k",
]


@given(st.sampled_from(QUERIES), st.lists(batches(), min_size=1, max_size=3), st.data())
def test_merged_segments_give_the_same_answers(
    text: str, made: list[list[pa.RecordBatch]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        compare(text, [each for part in made for each in part], data, Path(folder))


def compare(text: str, made: list[pa.RecordBatch], data: st.DataObject, folder: Path) -> None:
    kept, merged = (DrivenJob(plan_of(text), folder / name) for name in ("kept", "merged"))
    for batch in made:
        expected = kept.batch({"a": batch})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(segment_merging, "SEGMENTS_LIMIT", LIMIT)
            if data.draw(st.booleans()):
                merged.restart()
            found = merged.batch({"a": batch})
        for feed, table in expected.items():
            assert exactly(found[feed]) == exactly(table), feed


def steady(second: int) -> pa.RecordBatch:
    rows = [{"ts": instant(second * 1_000_000 + n * 250_000), "k": n} for n in range(4)]
    return batch_of("a", tuple(rows))


@pytest.mark.long_spark
def test_a_long_window_of_small_batches_has_few_segments(tmp_path: Path) -> None:
    plan = plan_of("SELECT COUNT(*) AS c FROM a [10 MINUTES]")
    job = DrivenJob(plan, tmp_path)
    written = 0
    for second in range(900):
        before = dict(job.states[0].segments)
        job.batch({"a": steady(second)})
        after = job.states[0].segments
        written += sum(len(data) for place, data in after.items() if before.get(place) != data)
    assert len(job.states[0].segments) <= segment_merging.SEGMENTS_LIMIT
    assert job.publication.status.windows[0].rows == 2_400
    # A row is written again only about as often as its segment doubles.
    once = len(job.states[0].segments[max(job.states[0].segments)]) * 900
    assert written < 12 * once
    # Nor do segments that are wide in time keep rows for long that have left the window.
    assert sum(entry_rows(job)) < 1.1 * 2_400


def entry_rows(job: DrivenJob) -> list[int]:
    header = job.steps[0]._read_header(job.states[0], [], SHARD)
    return [entry.rows for entry in header.segments]


def test_segments_of_before_a_query_began_stay_apart_from_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_merging, "SEGMENTS_LIMIT", 2)
    plans = [plan_of(COUNT.replace("5", "500")), plan_of(GROUPS.replace("9", "900"))]
    bundle = DrivenBundle(common_partitioning(plans), tmp_path)
    bundle.batch({"a": steady(0)}, [bundle.begin(0, plans[0])])
    for second in range(1, 8):
        bundle.batch({"a": steady(second)})
    bundle.batch({"a": steady(8)}, [bundle.begin(1, plans[1])])
    for second in range(9, 20):
        bundle.restart()
        given = bundle.batch({"a": steady(second)})
    assert given[0]["result"]["c"].to_pylist() == [4 * 20 - 9]
    assert sum(given[1]["result"]["c"].to_pylist()) == 4 * 12 - 9
    assert len(bundle.states[0].segments) == 2 + 2


def test_an_order_finds_merged_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_merging, "SEGMENTS_LIMIT", 4)
    job = DrivenJob(plan_of("SELECT COUNT(*) AS c FROM a [60 SECONDS] ERROR (50%)"), tmp_path)
    for second in range(40):
        job.batch({"a": steady(second)})
    full = lifetime_of(job.plan.inputs[0].window)
    job.batch({}, [order(1, full.narrowed(5_000_000, 0))])
    assert job.publication.status.windows[0].rows == 20
    job.restart()
    job.batch({})
    assert job.publication.status.windows[0].rows == 20


def test_the_smallest_neighbours_are_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_merging, "SEGMENTS_LIMIT", 2)

    def entries(*rows: int) -> list[SegmentEntry]:
        return [SegmentEntry(place, count, 0, 0, 0) for place, count in enumerate(rows)]

    assert pair_to_merge(entries(5, 1), []) is None
    assert pair_to_merge(entries(5, 1, 2), []) == 1
    assert pair_to_merge(entries(5, 1, 2), [2]) == 0
    assert pair_to_merge(entries(5, 1, 2), [1, 2]) is None
    snapshot = [SegmentEntry(0, 0, 0, 0, 0, is_snapshot=True), *entries(1, 9)]
    assert pair_to_merge(snapshot, []) == 1
