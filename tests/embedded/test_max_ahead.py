"""One wrong clock does not make all others late: rows that are too far ahead are set aside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow.embedded import stream_ingest

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_ingest, "wall_clock_us", lambda: int(NOW.timestamp()) * 1_000_000)


def opened(**options: Any) -> tuple[windrow.Session, windrow.Query]:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x int", time="ts", **options)
    return session, session.query("SELECT COUNT(*) AS n, SUM(x) AS total FROM s [1 DAY]")


def push(session: windrow.Session, *times: datetime) -> None:
    session.push("s", {"ts": list(times), "x": [1] * len(times)})


def ledger(session: windrow.Session) -> dict[str, int]:
    (row,) = session.ledger().to_pylist()
    parts = ("applied", "late", "bad_time", "bad_value", "rejected", "waiting")
    assert row["rows_in"] == sum(row[part] for part in parts)
    return row


FAR = datetime(2199, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("place", [0, 1, 2, 3])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_row_of_the_year_2199_makes_no_other_row_late(place: int, at_once: bool) -> None:
    session, count = opened()
    times = [NOW, NOW + MINUTE, NOW + 2 * MINUTE]
    times.insert(place, FAR)
    for each in [times] if at_once else [[time] for time in times]:
        push(session, *each)
    session.finish()
    assert count.result().to_pylist() == [{"n": 3, "total": 3}]
    assert (ledger(session)["late"], ledger(session)["bad_time"]) == (0, 1)
    assert session.bad_rows("s")["why"].to_pylist() == [stream_ingest.TOO_FAR_AHEAD]


def test_by_default_a_day_ahead_of_the_clock_is_believed_and_the_past_always() -> None:
    session, _ = opened()
    push(session, NOW - timedelta(days=9000), NOW - timedelta(days=40), NOW + timedelta(days=1))
    push(session, NOW + timedelta(days=1, microseconds=1))
    session.finish()
    assert (ledger(session)["applied"], ledger(session)["bad_time"]) == (3, 1)


def test_a_stream_may_be_told_to_believe_all() -> None:
    for off in (None, "off"):
        session, _ = opened(max_ahead=off)
        push(session, FAR)
        push(session, NOW)
        assert ledger(session)["late"] == 1


def test_a_span_counts_from_the_other_rows_too() -> None:
    session, count = opened(max_ahead="1 hour")
    start = NOW - timedelta(days=300)
    push(session, start, start + timedelta(days=3), start + MINUTE)
    session.finish()
    assert count.result().to_pylist() == [{"n": 2, "total": 2}]
    assert (ledger(session)["applied"], ledger(session)["bad_time"]) == (2, 1)


def test_a_gap_in_a_recording_is_no_fault_of_the_rows_behind_it() -> None:
    session, _ = opened(max_ahead="1 hour")
    start, later = NOW - timedelta(days=300), NOW - timedelta(days=200)
    push(session, start, later)
    assert ledger(session)["waiting"] == 2
    push(session, later + MINUTE)
    push(session, later + 2 * MINUTE)
    session.finish()
    assert (ledger(session)["applied"], ledger(session)["bad_time"]) == (4, 0)


def test_rows_that_nothing_confirms_are_set_aside_at_the_end() -> None:
    session, _ = opened(max_ahead="1 hour")
    push(session, NOW - timedelta(days=300), NOW - timedelta(days=200))
    session.finish()
    assert (ledger(session)["applied"], ledger(session)["bad_time"]) == (1, 1)
    assert session.bad_rows("s").num_rows == 1


def test_a_night_without_rows_is_no_fault_of_the_morning() -> None:
    session, _ = opened(max_ahead="1 hour")
    push(session, NOW - timedelta(hours=10))
    push(session, NOW)
    session.finish()
    assert ledger(session)["applied"] == 2


@pytest.mark.parametrize("wrong", [0, "0 seconds", -1])
def test_a_span_must_be_one(wrong: Any) -> None:
    with pytest.raises(windrow.BindingError, match="WB131"):
        opened(max_ahead=wrong)


@given(
    st.lists(st.sampled_from([0, 1, 2, 50, 90, 5000, 5001, 5002, 9000, 10**6]), max_size=12),
    st.integers(0, 12),
    st.sampled_from(["auto", "1 hour", "off"]),
)
def test_pushes_do_not_show(minutes: list[int], cut: int, max_ahead: str) -> None:
    start = NOW - timedelta(days=100)
    times = [start + each * MINUTE for each in minutes]
    results = []
    for pieces in ([times], [times[:cut], times[cut:]], [[each] for each in times]):
        session = windrow.connect()
        # No row is late: that depends on the pushes, and what is believed does not.
        late = {"lateness": timedelta(days=1000), "max_ahead": max_ahead}
        session.stream("s", "ts timestamp, x int", time="ts", **late)
        count = session.query("SELECT COUNT(*) AS n FROM s [1 DAY]")
        for piece in pieces:
            session.push("s", pa.table({"ts": pa.array(piece, pa.timestamp("us", "UTC")),
                                        "x": pa.array([1] * len(piece), pa.int32())}))  # fmt: skip
        session.finish()
        results.append((count.answers().to_pylist(), ledger(session)))
    assert results[0] == results[1] == results[2]


def test_a_row_that_is_not_believed_makes_no_room() -> None:
    session = windrow.connect(memory="1 MB")
    session.stream("s", "ts timestamp, x int", time="ts")
    count = session.query("SELECT COUNT(*) AS n FROM s [1 DAY]")
    start = NOW - timedelta(hours=1)
    push(session, *(start + timedelta(milliseconds=n) for n in range(1000)))
    push(session, FAR)
    session.finish()
    assert count.result()["n"].to_pylist() == [1000]
