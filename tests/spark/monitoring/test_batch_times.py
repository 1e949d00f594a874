"""Latencies of recent batches, on batches whose times are known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.event_time import START_OF_TIME
from windrow.spark.monitoring.batch_times import RECENT_BATCHES, BatchTimes

SECOND = 1_000_000


def times_of(trigger_us: int | None, *batches: tuple[int, int]) -> BatchTimes:
    """Batches by begin and end, in tenths of a second."""
    times = BatchTimes()
    times.launched(trigger_us, now_us=0)
    for began, written in batches:
        times.add(began * SECOND // 10, written * SECOND // 10, None)
    return times


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=2 * RECENT_BATCHES))
def test_quantiles_are_of_the_latest_batches(took: list[int]) -> None:
    times = BatchTimes()
    times.launched(0, now_us=0)
    for us in took:
        times.add(0, us, None)
    recent = sorted(took[-RECENT_BATCHES:])
    found = times.quantiles()["batch"]
    for quantile, value in found.items():
        assert sum(each <= value for each in recent) >= quantile * len(recent)
        assert sum(each < value for each in recent) < quantile * len(recent)


def test_the_age_of_an_answer_is_by_event_time() -> None:
    times = BatchTimes()
    times.launched(0, now_us=0)
    times.add(8 * SECOND, 9 * SECOND, START_OF_TIME)
    assert times.shown()["event_ms"] == {}
    times.add(10 * SECOND, 11 * SECOND, 5 * SECOND)
    assert times.shown()["event_ms"] == {"p50": 6000.0, "p95": 6000.0}


@pytest.mark.parametrize(
    ("trigger_us", "batches", "arrival_ms"),
    [
        # One after the other: what the second has read may have come when the first had begun.
        (0, [(0, 8), (9, 12)], 1200.0),
        # Spark had looked again since: nothing was there a moment before.
        (0, [(0, 8), (99, 100)], 110.0),
        (SECOND, [(0, 2), (10, 12)], 1200.0),
        (SECOND, [(0, 2), (40, 42)], 1200.0),
        # It was there before anybody looked.
        (None, [(0, 8), (9, 12)], None),
        (0, [(0, 8)], None),
    ],
)
def test_arrival_is_counted_from_when_nothing_was_there(
    trigger_us: int | None, batches: list[tuple[int, int]], arrival_ms: float | None
) -> None:
    assert times_of(trigger_us, *batches).shown()["arrival_ms"].get("p95") == arrival_ms


def test_a_repeated_batch_began_when_the_run_did() -> None:
    times = BatchTimes()
    times.launched(SECOND, now_us=100 * SECOND)
    times.add(5 * SECOND, 102 * SECOND, None)
    times.add(None, 103 * SECOND, None)
    assert times.shown()["batch_ms"] == {"p50": 2000.0, "p95": 3000.0}
    assert times.shown()["arrival_ms"] == {}


def test_what_was_before_a_start_is_no_load_of_it() -> None:
    times = times_of(0, (0, 5), (5, 10))
    times.launched(0, now_us=100 * SECOND)
    assert times.shown()["busy"] is None
    times.add(101 * SECOND, 102 * SECOND, None)
    shown = times.shown()
    assert (shown["batches"], shown["batch_ms"]["p95"], shown["busy"]) == (3, 1000.0, None)
    assert shown["arrival_ms"] == {"p50": 1000.0, "p95": 1000.0}  # of the second batch alone


def test_load() -> None:
    shown = times_of(SECOND, (0, 5), (10, 25), (25, 30), (30, 31)).shown()
    assert math.isclose(shown["busy"], 25 / 30, abs_tol=1e-4)
    assert shown["over_trigger"] == 0.25
    always = times_of(0, (0, 5), (5, 10)).shown()
    assert (always["busy"], always["over_trigger"]) == (1.0, None)
    assert times_of(None).shown()["busy"] is None
    assert times_of(SECOND, (0, 5), (10, 25)).over_trigger == 1
