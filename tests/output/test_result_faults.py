"""Groups without a value: a SUM beyond its type, or an expression over aggregates."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from support.oracle import rows_of
from support.runners import listed, replay
from windrow.embedded import EmbeddedSession
from windrow.errors import DataError

BIG = 2**62
SPAN = 3
values = st.sampled_from([1, 2, BIG, BIG, -BIG])
steps = st.lists(st.lists(st.tuples(st.sampled_from("ab"), values), max_size=3), max_size=12)


def session_of() -> EmbeddedSession:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k string, x bigint, p decimal(18, 0)", time="ts")
    return session


def push(session: EmbeddedSession, second: int, *rows: tuple[str, int]) -> None:
    at = f"2026-01-01 00:00:{second:02}"
    session.push("s", [{"ts": at, "k": key, "x": value} for key, value in rows])


def sums(given_steps: list, at: int) -> dict[str, int]:
    window = [row for step in given_steps[max(0, at - SPAN) : at + 1] for row in step]
    return {key: sum(x for k, x in window if k == key) for key in sorted({k for k, _ in window})}


def fits(value: int) -> bool:
    return -(2**63) <= value < 2**63


@given(steps, st.booleans(), st.sampled_from(["NULL", "SET ASIDE"]))
def test_only_what_overflows_is_missing(given_steps: list, every: bool, policy: str) -> None:
    session = session_of()
    text = f"SELECT k, SUM(x) AS n FROM s [{SPAN} SECONDS] GROUP BY k ON ERROR {policy}"
    query = session.query(f"{text} EVERY (1 SECOND)" if every else text)
    held: Counter = Counter()
    for second, rows in enumerate(given_steps):
        if rows:
            push(session, second, *rows)
        session.advance("s", to=f"2026-01-01 00:00:{second:02}")
        truth = sums(given_steps, second)
        shown = [(key, value if fits(value) else None) for key, value in truth.items()]
        if policy == "SET ASIDE":
            shown = [(key, value) for key, value in shown if value is not None]
        due = bool(rows) or (every and any(given_steps[: second + 1]))
        assert [row[3:] for row in rows_of(query.answers())] == (shown if due else [])
        replay(query.changes(), held)
        assert sorted(listed(held), key=str) == sorted(shown, key=str)
        assert rows_of(query.result()) == shown


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT SUM(x) AS n FROM s [9 SECONDS]", "WD302"),
        ("SELECT SUM(x + 1) AS n FROM s [9 SECONDS]", "WD302"),
        ("SELECT SUM(x) + 0.5 AS n FROM s [9 SECONDS]", "WD302"),
        ("SELECT COUNT(*) AS n FROM s [9 SECONDS] HAVING SUM(x) > 0", "WD302"),
        ("SELECT MAX(x) * 2 AS n FROM s [9 SECONDS]", "WD304"),
        ("SELECT COUNT(*) AS n FROM s [9 SECONDS] HAVING -2 * MAX(x) < 0", "WD304"),
        ("SELECT CAST(MAX(x) AS INT) AS n FROM s [9 SECONDS] EVERY (1 SECOND)", "WD304"),
        ("SELECT SUM(x) AS n FROM s [9 SECONDS] ERROR (10%) EVERY (1 SECOND)", "WD302"),
        ("SELECT MAX(n) AS n FROM (SELECT k, SUM(x) AS n FROM s [9] GROUP BY k) AS q", "WD302"),
    ],
)
def test_the_query_stops(text: str, code: str) -> None:
    session = session_of()
    query = session.query(text)
    push(session, 1, ("a", BIG + 1), ("a", BIG))
    with pytest.warns(RuntimeWarning, match="has stopped"):
        session.finish()
    assert not query.is_running
    for reader in (query.answers, query.changes, query.result):
        with pytest.raises(DataError) as told:
            reader()
        assert told.value.code == code


def test_the_error_names_the_group_and_the_instant() -> None:
    session = session_of()
    query = session.query("SELECT k, SUM(x) AS n FROM s [3 SECONDS] GROUP BY k", name="q")
    push(session, 2, ("a", BIG), ("b", 1), ("a", BIG))
    with pytest.warns(RuntimeWarning):
        session.finish()
    with pytest.raises(DataError) as told:
        query.result()
    words = "SUM(s.x) is beyond 64 bits where s.k is 'a', at 2026-01-01 00:00:02"
    assert (told.value.code, told.value.message) == ("WD302", f"query 'q' has stopped: {words}")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT CASE WHEN COUNT(*) < 2 THEN SUM(x) END AS n FROM s [9 SECONDS]",
        "SELECT SUM(x) AS n FROM s [9 SECONDS] HAVING COUNT(*) < 2",
        "SELECT COALESCE(AVG(x), SUM(x)) AS n FROM s [9 SECONDS]",
    ],
)
def test_what_is_not_looked_at_is_no_fault(text: str) -> None:
    session = session_of()
    query = session.query(text)
    push(session, 1, ("a", BIG), ("a", BIG))
    session.finish()
    assert query.result().num_rows in (0, 1)
    assert query.answers().num_rows in (0, 1)
