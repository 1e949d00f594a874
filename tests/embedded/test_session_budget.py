"""The memory of a session that is changed while it runs, and levels as the memory allows them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from windrow.embedded.governing import Governing
from windrow.embedded.session import EmbeddedSession
from windrow.errors import AdmissionError

SECOND_US = 1_000_000
START_US = 1_767_225_600 * SECOND_US
STREAMS = ("door", "lamp")
ORDER = ("A", "B", "C", "incomplete")


def session_of(memory: str | int) -> EmbeddedSession:
    """On each of two streams a query that needs its range, and a wider one that can wait."""
    session = EmbeddedSession(memory)
    for name in STREAMS:
        session.stream(name, "ts timestamp, room int", time="ts")
        session.query(
            f"SELECT COUNT(*) AS n FROM {name} [100 SECONDS] ERROR (5%) EVERY (50 SECONDS)",
            name=f"wide_{name}",
        )
        session.query(
            f"SELECT COUNT(*) AS n FROM {name} [80 SECONDS] EVERY (10 SECONDS)",
            name=f"exact_{name}",
        )
    return session


def play(session: EmbeddedSession, first: int, last: int, rate: int = 100) -> int:
    """Rows of both streams; how many pushes were refused, wholly or in part."""
    refused = 0
    for second in range(first, last, 5):
        times = START_US + second * SECOND_US + np.arange(5 * rate) * (SECOND_US // rate)
        rows = pa.table({"ts": pa.array(times).cast(pa.timestamp("us")), "room": times % 7})
        for name in STREAMS:
            try:
                session.push(name, rows)
            except AdmissionError:
                refused += 1
    return refused


def worst(session: EmbeddedSession) -> str:
    levels = {row["level"] for row in session.queries().to_pylist()}
    return max(levels, key=ORDER.index)


def swept(budgets: list[int]) -> list[tuple[str, bool]]:
    found = []
    for kilobytes in budgets:
        session = session_of(f"{kilobytes} KB")
        refused = play(session, 0, 400)
        found.append((worst(session), refused > 0))
    return found


def check(found: list[tuple[str, bool]]) -> None:
    """Less memory is no better level, and rows are refused only below level C."""
    levels = [level for level, _ in found]
    assert levels == sorted(levels, key=ORDER.index)
    assert [is_refused for _, is_refused in found] == [level == "incomplete" for level in levels]


def test_less_memory_is_no_better_level() -> None:
    found = swept([450, 380, 250])
    check(found)
    assert [level for level, _ in found] == ["A", "C", "incomplete"]


@pytest.mark.slow
def test_less_memory_is_no_better_level_in_small_steps() -> None:
    found = swept(list(range(450, 230, -4)))
    levels = [level for level, _ in found]
    # Rows of both streams come in steps of five seconds: where a level ends, a step or two of the
    # sweep may fall on either side.
    changes = sum(before != after for before, after in pairwise(levels))
    assert {"A", "B", "C", "incomplete"} == set(levels)
    assert changes <= 5
    assert not any(is_refused for level, is_refused in found if level != "incomplete")


def test_a_burst_within_the_tolerance_refuses_nothing() -> None:
    session = EmbeddedSession("300 KB")
    session.stream("s", "ts timestamp, room int", time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM s [2 MINUTES] ERROR (60%)")
    levels: set[str] = set()
    for second in range(0, 600, 2):
        rate = 1_000 if 240 <= second < 250 else 100
        times = START_US + second * SECOND_US + np.arange(2 * rate) * (SECOND_US // rate)
        stamps = pa.array(times).cast(pa.timestamp("us"))
        session.push("s", pa.table({"ts": stamps, "room": times % 7}))
        query.answers()
        levels |= {row["level"] for row in session.queries().to_pylist()}
        if second == 370:  # one window length after the burst
            assert [row["level"] for row in session.queries().to_pylist()] == ["A"]
    assert session.ledger()["rejected"].to_pylist() == [0]
    assert levels == {"A", "B"}


def test_memory_can_be_changed_down_and_up() -> None:
    session = session_of("600 KB")
    assert play(session, 0, 200) == 0
    assert worst(session) == "A"
    session.memory = "380 KB"
    assert session.memory == 380 << 10
    assert session.nbytes <= 380 << 10
    assert play(session, 200, 400) == 0
    assert worst(session) == "C"
    assert session.nbytes <= 380 << 10
    session.memory = 600 << 10
    assert play(session, 400, 505) == 0
    assert worst(session) == "A"
    assert {row["why"] for row in session.decisions().to_pylist()} >= {"the memory was changed"}


def test_less_memory_than_is_needed_changes_nothing() -> None:
    session = session_of("600 KB")
    play(session, 0, 200)
    before = session.windows().to_pylist()
    with pytest.raises(AdmissionError, match=r"(?s)WA103.*as before") as refused:
        session.memory = "100 KB"
    assert refused.value.code == "WA103"
    assert session.memory == 600 << 10
    assert session.windows().to_pylist() == before
    assert play(session, 200, 300) == 0
    assert worst(session) == "A"


def test_less_memory_is_that_of_profiles_too() -> None:
    session = session_of("600 KB")
    play(session, 0, 200)
    session.memory = "380 KB"
    profile = session["wide_door"]._bounded.watch.profile
    assert profile.bytes_limit == (380 << 10) // 16
    session.memory = "600 KB"
    assert profile.bytes_limit == (600 << 10) // 16


@pytest.mark.parametrize("place", ["_check_foreseen", "_make_narrow"])
def test_a_change_of_memory_that_is_interrupted_is_none(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    session = session_of("600 KB")
    play(session, 0, 200)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Governing, place, interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.memory = "380 KB"
    monkeypatch.undo()
    assert session.memory == session._governing.memory_budget == 600 << 10
    assert play(session, 200, 305) == 0
    assert worst(session) == "A"
