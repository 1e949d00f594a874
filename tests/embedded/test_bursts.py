"""Silence, then the clock leaps: what expires at once comes out in bounded steps."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import windrow
from windrow.operators.partial import Partial
from windrow.output import group_feed
from windrow.output.publish import Publisher
from windrow.output.selects import select_feed
from windrow.runtime import pace

START = datetime(2026, 1, 1, tzinfo=UTC)
START_US = int(START.timestamp()) * 1_000_000
ROWS = 100_000
STEP = 2_000


def stream_of(rows: int, keys: int) -> pa.Table:
    numbers = np.arange(rows)
    times = pa.array(START_US + numbers * 100, pa.timestamp("us", tz="UTC"))
    return pa.table({"ts": times, "k": pa.array(numbers % keys), "v": pa.array(numbers * 0.5)})


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Small limits; and how much each step updates, as the publisher sees it."""
    for module, name, value in (
        (pace, "STEP_UPDATES", STEP),
        (group_feed, "UPDATES_LIMIT", STEP),
        (select_feed, "ROWS_LET_BE", STEP),
    ):
        assert getattr(module, name) > value
        monkeypatch.setattr(module, name, value)
    seen: list[int] = []
    absorb = Publisher.absorb

    def noted(self: Publisher, partials: list[tuple[int, Partial]], *others: object) -> None:
        seen.append(sum(partial.size for _, partial in partials))
        absorb(self, partials, *others)

    monkeypatch.setattr(Publisher, "absorb", noted)
    return seen


def test_a_burst_is_released_in_bounded_steps(
    sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    peak = peak_of_a_burst(sizes)
    assert sum(sizes) == ROWS
    assert max(sizes) <= STEP
    monkeypatch.setattr(pace, "STEP_UPDATES", 10 * ROWS)
    uncut = peak_of_a_burst(sizes)
    assert max(sizes) == ROWS
    # What nobody has read is netted in one go in both cases, and makes up most of what is left.
    assert peak < 0.9 * uncut


def peak_of_a_burst(sizes: list[int]) -> int:
    """Bytes beside what was held before, while all rows expire in one step of the clock."""
    session = windrow.connect()
    session.stream("s", "ts timestamp, k bigint, v double", time="ts")
    query = session.query("SELECT k, v FROM s [1 HOUR]")
    session.push("s", stream_of(ROWS, ROWS))
    session.advance("s", to=START + timedelta(minutes=1))
    sizes.clear()
    tracemalloc.start()
    session.advance("s", to=START + timedelta(hours=3))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert query.result().num_rows == 0
    with pytest.warns(RuntimeWarning, match="changes were netted"):
        assert sum(query.changes()["change"].to_pylist()) == 0
    return peak


def test_steps_of_a_join_are_as_small_as_its_rows_have_matches(sizes: list[int]) -> None:
    session = windrow.connect()
    for name in "ab":
        session.stream(name, "ts timestamp, k bigint, v double", time="ts")
    query = session.query(
        "SELECT a.v AS v, b.v AS w FROM a [1 HOUR], b [1 HOUR] WHERE a.k = b.k", name="q"
    )
    for name in "ab":
        session.push(name, stream_of(2_000, 40))
        session.advance(name, to=START + timedelta(minutes=1))
    assert query.result().num_rows == 2_000 * 50
    sizes.clear()
    for name in "ab":
        session.advance(name, to=START + timedelta(hours=3))
    assert query.result().num_rows == 0
    assert sum(sizes) == 2_000 * 50
    assert max(sizes) <= 2 * STEP


def test_an_instant_is_not_cut(sizes: list[int]) -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k bigint, v double", time="ts")
    query = session.query("SELECT k FROM s [RANGE 1 HOUR SLIDE 1 HOUR]")
    session.push("s", stream_of(3 * STEP, 3 * STEP))
    session.advance("s", to=START + timedelta(hours=3))
    assert query.result().num_rows == 0
    assert max(sizes) == 3 * STEP
