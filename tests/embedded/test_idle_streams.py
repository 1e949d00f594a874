"""Streams that fall silent: heartbeats by the clock on the wall, recorded for replays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow.embedded import EmbeddedSession, ingest

START = datetime(2026, 1, 1, tzinfo=UTC)


class Wall:
    """A clock on the wall that a test sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now_us(self) -> int:
        return 1_800_000_000_000_000 + int(self.seconds * 1_000_000)


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    made = Wall()
    monkeypatch.setattr(ingest, "wall_clock_us", made.now_us)
    return made


def second(number: float) -> datetime:
    return START + timedelta(seconds=number)


def opened(**options: Any) -> tuple[EmbeddedSession, windrow.Query]:
    session = windrow.connect()
    for name in ("a", "b"):
        session.stream(name, "ts timestamp, k int", time="ts", **options)
    text = "SELECT COUNT(*) AS n FROM a [10 SECONDS] LEFT JOIN b [10 SECONDS] ON a.k = b.k"
    return session, session.query(text)


def test_a_silent_stream_holds_nothing_back(wall: Wall) -> None:
    session, count = opened(idle_after="5 seconds")
    session.push("b", {"ts": second(0), "k": 1})
    for number in range(1, 5):
        wall.seconds = number
        session.push("a", {"ts": second(number), "k": 1})
    assert count.result()["n"].to_pylist() == [0]  # b is complete through second 0, and not silent
    wall.seconds = 5
    session.push("a", {"ts": second(5), "k": 1})
    assert count.result()["n"].to_pylist() == [4]
    last = session.heartbeats().to_pylist()[-1]
    assert (last["stream"], last["to"]) == ("b", second(5) - timedelta(microseconds=1))


def test_windows_of_a_silent_session_expire(wall: Wall) -> None:
    session, count = opened(idle_after="5 seconds")
    for name in ("a", "b"):
        session.push(name, {"ts": second(0), "k": 1})
    wall.seconds = 6
    session.heartbeat()
    assert count.result()["n"].to_pylist() == [1]
    wall.seconds = 16
    assert count.result()["n"].to_pylist() == [0]  # 11 seconds after the row, less a microsecond


def test_a_stream_without_any_row_goes_with_the_others(wall: Wall) -> None:
    session, count = opened(idle_after=5)
    session.push("a", {"ts": second(0), "k": 1})
    wall.seconds = 6
    assert count.result()["n"].to_pylist() == [1]


def test_lateness_is_left_to_rows_on_their_way(wall: Wall) -> None:
    session, _ = opened(idle_after=5, lateness=3)
    session.push("a", {"ts": second(10), "k": 1})
    wall.seconds = 7
    session.push("a", {"ts": second(10), "k": 1})
    assert session.ledger()["late"].to_pylist() == [0, 0]
    session.push("a", {"ts": second(8), "k": 1})
    assert session.ledger()["late"].to_pylist() == [1, 0]


def test_a_heartbeat_with_an_instant_advances_one_stream_or_all() -> None:
    session, count = opened()
    session.push("a", {"ts": second(0), "k": 1})
    session.heartbeat("a", at=second(1))
    assert count.result()["n"].to_pylist() == [0]
    session.heartbeat(at=second(1))
    assert count.result()["n"].to_pylist() == [1]


@pytest.mark.parametrize("wrong", [0, "-1 seconds", "soon"])
def test_a_span_must_be_one(wrong: Any) -> None:
    with pytest.raises(windrow.BindingError, match=r"WB754|WB101"):
        opened(idle_after=wrong)


@given(
    st.lists(
        st.tuples(st.sampled_from("abr"), st.integers(0, 8), st.integers(-2, 0)),
        max_size=20,
    )
)
def test_a_replay_of_rows_and_heartbeats_agrees(events: list[tuple[str, int, int]]) -> None:
    """Whatever the clock on the wall showed, rows and recorded heartbeats are all that counts."""
    wall, log = Wall(), list[tuple[str, datetime, bool]]()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ingest, "wall_clock_us", wall.now_us)
        session, query = opened(idle_after=4)

        def note_heartbeats() -> None:
            known = sum(not is_row for _, _, is_row in log)
            beats = session.heartbeats().to_pylist()[known:]
            log.extend((each["stream"], each["to"], False) for each in beats)

        for kind, passed, shift in events:
            wall.seconds += passed
            note_heartbeats()
            if kind != "r":
                session.push(kind, {"ts": second(wall.seconds + shift), "k": 1})
                log.append((kind, second(wall.seconds + shift), True))
            note_heartbeats()
        session.finish()
    again, other = opened()
    for name, time, is_row in log:
        if is_row:
            again.push(name, {"ts": time, "k": 1})
        else:
            again.advance(name, to=time)
    again.finish()
    assert other.answers().to_pylist() == query.answers().to_pylist()
    assert other.changes().to_pylist() == query.changes().to_pylist()
    assert again.ledger().to_pylist() == session.ledger().to_pylist()
