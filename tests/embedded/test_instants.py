"""Conditions on the instant: rows come and go when their own times say so."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow import WindrowError

START = datetime(2026, 1, 1, tzinfo=UTC)
# Conditions, and what they mean for a row (ts, ends) at the second t, ends being known.
CONDITIONS: dict[str, Callable[[int, int, int], bool]] = {
    "ts > now() - INTERVAL '5' SECOND": lambda ts, _, t: ts > t - 5,
    "ts >= current_timestamp - INTERVAL 5 SECONDS": lambda ts, _, t: ts >= t - 5,
    "now() < ends": lambda _, ends, t: t < ends,
    "mz_now() >= ends": lambda _, ends, t: t >= ends,
    "now() - ts >= INTERVAL '3' SECOND": lambda ts, _, t: t - ts >= 3,
    "ends BETWEEN now() - INTERVAL '2' SECOND AND now()": lambda _, ends, t: t - 2 <= ends <= t,
    "ts <= now() - INTERVAL '1' SECOND AND ends > now()": lambda ts, ends, t: ts < t < ends,
}
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(-2, 25)), st.integers(0, 1)),
    max_size=12,
)


def moment(second: int | None) -> datetime | None:
    return None if second is None else START + timedelta(seconds=second)


def pushed(rows: list[tuple[int, int | None, int]]) -> list[dict[str, Any]]:
    """The first of each row says how many seconds it comes after the one before it."""
    now, made = 0, []
    for step, ends, k in rows:
        now += step
        made.append({"ts": moment(now), "ends": moment(ends), "k": k, "second": now, "at": ends})
    return made


@pytest.mark.parametrize("condition", CONDITIONS)
@given(rows=ROWS, size=st.integers(1, 4))
def test_rows_hold_as_long_as_they_say(
    condition: str, rows: list[tuple[int, int | None, int]], size: int
) -> None:
    made = pushed(rows)
    session = windrow.connect()
    session.stream("s", "ts timestamp, ends timestamp, k int", time="ts")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # most of them keep every row
        query = session.query(f"SELECT k, COUNT(*) AS n FROM s WHERE {condition} GROUP BY k")
    names = ("ts", "ends", "k")
    for begin in range(0, len(made), size):
        batch = made[begin : begin + size]
        session.push("s", [{name: row[name] for name in names} for row in batch])
    last = made[-1]["second"] if made else 0
    held: Counter[tuple[int, int]] = Counter()
    changes = sorted(query.changes().to_pylist(), key=lambda change: change["at"])
    for t in range(last):  # the newest instant waits for what else may come at it
        for change in changes:
            second = (change["at"] - START).total_seconds()
            if t - 1 < second <= t or (t == 0 and second < 0):
                held[change["k"], change["n"]] += change["change"]
        assert +held == expected(made, condition, t)
    session.finish()


def expected(made: list[dict[str, Any]], condition: str, t: int) -> Counter[tuple[int, int]]:
    holds = CONDITIONS[condition]
    known = (row for row in made if row["at"] is not None or "ends" not in condition)
    there = (row for row in known if row["second"] <= t and holds(row["second"], row["at"], t))
    groups = Counter(row["k"] for row in there)
    return Counter(groups.items())


def test_a_condition_on_the_stream_s_own_time_is_its_window() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM s WHERE ts >= now() - INTERVAL '1' MINUTE")
    assert "s [1 minute]" in query.explain() or "[60 seconds]" in query.explain()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT k FROM s WHERE ts > now() OR k = 1", "WB791"),
        ("SELECT k FROM s WHERE hour(now()) = 3", "WB791"),
        ("SELECT now() AS t FROM s", "WB230"),
    ],
)
def test_what_cannot_be_followed_is_refused(text: str, code: str) -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts")
    with pytest.raises(WindrowError) as caught:
        session.query(text)
    assert caught.value.code == code
