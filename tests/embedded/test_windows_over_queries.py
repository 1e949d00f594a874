"""Sessions of rows that a query chooses and computes, and windows over windows, by a slow twin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow.errors import UnsupportedError, WindrowError

START = datetime(2026, 1, 1, tzinfo=UTC)
Row = tuple[int, str | None, int | None]  # seconds, k, x

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "A", None]), st.integers(-1, 3)),
    max_size=25,
)
# Of each form the query, which rows are in sessions, and what these are told apart by.
SESSIONS: dict[str, tuple[str, Callable[[Row], bool], Callable[[Row], Any]]] = {
    "of rows that a view chooses": (
        "SELECT k AS key, window_start AS b, window_end AS e, COUNT(*) AS n, SUM(x) AS t "
        "FROM high [SESSION 4 SECONDS PARTITION BY k] GROUP BY k, window_start, window_end",
        lambda row: row[2] is not None and row[2] > 0,
        lambda row: row[1],
    ),
    "by a column that a sub-query computes": (
        "SELECT key, window_start AS b, window_end AS e, COUNT(*) AS n, SUM(x) AS t FROM "
        "(SELECT ts AS time, upper(k) AS key, x FROM s WHERE x <> 2) [SESSION 4 SECONDS PARTITION "
        "BY key] AS q GROUP BY key, window_start, window_end",
        lambda row: row[2] is not None and row[2] != 2,
        lambda row: None if row[1] is None else row[1].upper(),
    ),
    "as Flink writes it, over two views": (
        "SELECT k AS key, SESSION_START(ts, INTERVAL '4' SECOND) AS b, SESSION_END(ts, INTERVAL '4'"
        " SECOND) AS e, COUNT(*) AS n, SUM(x) AS t FROM higher GROUP BY k, "
        "SESSION(ts, INTERVAL '4' SECOND)",
        lambda row: row[2] is not None and row[2] > 0 and row[1] is not None,
        lambda row: row[1],
    ),
    "in GROUP BY, behind WHERE": (
        "SELECT k AS key, session_window.start AS b, session_window.end AS e, COUNT(*) AS n, "
        "SUM(x) AS t FROM s WHERE x > 0 GROUP BY k, session_window(ts, '4 seconds')",
        lambda row: row[2] is not None and row[2] > 0,
        lambda row: row[1],
    ),
    "of all rows": (
        "SELECT 1 AS key, window_start AS b, window_end AS e, COUNT(*) AS n, SUM(x) AS t "
        "FROM high [SESSION 4 SECONDS] GROUP BY window_start, window_end",
        lambda row: row[2] is not None and row[2] > 0,
        lambda _row: 1,
    ),
    "with a condition above": (
        "SELECT k AS key, window_start AS b, window_end AS e, COUNT(*) AS n, SUM(x) AS t "
        "FROM high [SESSION 4 SECONDS PARTITION BY k] WHERE x >= 0 GROUP BY k, window_start, "
        "window_end HAVING COUNT(*) > 0",
        lambda row: row[2] is not None and row[2] > 0,
        lambda row: row[1],
    ),
}


def connected() -> Any:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k string, x int", time="ts")
    session.view("high", "SELECT ts, k, x FROM s WHERE x > 0")
    session.view("higher", "SELECT * FROM high WHERE k IS NOT NULL")
    return session


def timed(steps: Sequence[tuple[int, str | None, int]]) -> list[Row]:
    """Rows in order of time, by the seconds between them; -1 stands for NULL."""
    found: list[Row] = []
    second = 0
    for step, key, x in steps:
        second += step
        found.append((second, key, None if x < 0 else x))
    return found


def push(session: Any, rows: Sequence[Row]) -> None:
    times = [START + timedelta(seconds=second) for second, _, _ in rows]
    session.push("s", {"ts": times, "k": [r[1] for r in rows], "x": [r[2] for r in rows]})


def sessions_of(
    rows: Sequence[Row], is_in: Callable[[Row], bool], key_of: Callable[[Row], Any], gap: int
) -> list[tuple[Any, ...]]:
    """The slow twin: key, start, end, count and total of each session."""
    by_key: dict[Any, list[list[Row]]] = defaultdict(list)
    for row in rows:
        if not is_in(row):
            continue
        known = by_key[key_of(row)]
        if known and row[0] - known[-1][-1][0] <= gap:
            known[-1].append(row)
        else:
            known.append([row])
    return [
        (key, each[0][0], each[-1][0] + gap, len(each), sum(row[2] or 0 for row in each))
        for key, listed in by_key.items()
        for each in listed
    ]


def plain(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    values = (row[name] for name in names)
    return tuple(
        (value - START).total_seconds() if isinstance(value, datetime) else value
        for value in values
    )


@pytest.mark.parametrize("name", SESSIONS)
@given(steps=ROWS, cut=st.integers(0, 25))
def test_sessions_of_chosen_rows_are_those_of_the_slow_twin(
    name: str, steps: list[tuple[int, str | None, int]], cut: int
) -> None:
    text, is_in, key_of = SESSIONS[name]
    steps[cut : cut + 1] = [(step + 1, key, x) for step, key, x in steps[cut : cut + 1]]
    rows = timed(steps)
    session = connected()
    query = session.query(text)
    push(session, rows[:cut])
    if rows[:cut]:
        now = rows[:cut][-1][0] + 0.5
        session.advance("s", to=START + timedelta(seconds=now))
        shown = [plain(row, "key", "b", "e", "n", "t") for row in query.result().to_pylist()]
        held = [each for each in sessions_of(rows[:cut], is_in, key_of, 4) if each[2] >= now]
        assert sorted(shown, key=repr) == sorted(held, key=repr)
    push(session, rows[cut:])
    session.finish()
    found = [plain(row, "at", "key", "b", "e", "n", "t") for row in query.answers().to_pylist()]
    assert all(row[0] == row[3] for row in found)
    expected = sessions_of(rows, is_in, key_of, 4)
    assert sorted((row[1:] for row in found), key=repr) == sorted(expected, key=repr)
    session.stop()


def test_an_error_in_the_condition_of_a_view_follows_the_policy() -> None:
    text = (
        "SELECT window_start AS b, COUNT(*) AS n FROM (SELECT ts, x FROM s WHERE 6 DIV x > 1) "
        "[SESSION 4 SECONDS] AS q GROUP BY window_start, window_end ON ERROR {}"
    )
    rows: list[Row] = [(0, "a", 1), (3, "a", 0), (6, "a", 2)]
    found = {}
    for policy in ("FAIL", "NULL", "SET ASIDE"):
        session = connected()
        query = session.query(text.format(policy))
        if policy == "FAIL":
            with pytest.warns(match="WD304"):
                push(session, rows)
            with pytest.raises(WindrowError, match="WD304"):
                query.answers()
            continue
        push(session, rows)
        session.finish()
        found[policy] = [plain(row, "b", "n") for row in query.answers().to_pylist()]
        if policy == "SET ASIDE":
            assert query.rows_set_aside().num_rows == 1
    # The row that is set aside, or whose condition is NULL, keeps no session open.
    assert found["NULL"] == found["SET ASIDE"] == [(0, 1), (6, 1)]


def test_rows_that_are_set_aside_behind_sessions_are_counted_once() -> None:
    session = connected()
    text = "SELECT window_end AS e, COUNT(*) AS n FROM s [SESSION 4 SECONDS] WHERE 6 DIV x > 1 "
    query = session.query(f"{text} GROUP BY window_start, window_end ON ERROR SET ASIDE")
    push(session, [(0, "a", 1), (3, "a", 0), (6, "a", 2)])
    session.finish()
    assert [plain(row, "e", "n") for row in query.answers().to_pylist()] == [(10, 2)]
    assert sum(row["set_aside"] for row in query.ledger().to_pylist()) == 1


CHAINS: dict[str, tuple[str, int, int, int]] = {
    "TVF over TVF": (
        "SELECT window_start AS b, window_end AS e, SUM(n) AS n, SUM(t) AS t FROM TABLE(TUMBLE("
        "TABLE short, DESCRIPTOR(rowtime), INTERVAL '12' SECOND)) GROUP BY "
        "window_start, window_end",
        4,
        12,
        12,
    ),
    "HOP over TUMBLE": (
        "SELECT window_start AS b, window_end AS e, SUM(n) AS n, SUM(t) AS t FROM TABLE(HOP("
        "TABLE short, DESCRIPTOR(rowtime), INTERVAL '8' SECOND, INTERVAL '16' SECOND)) "
        "GROUP BY window_start, window_end",
        4,
        16,
        8,
    ),
    "lengths that do not divide each other": (
        "SELECT window_start AS b, window_end AS e, SUM(n) AS n, SUM(t) AS t FROM TABLE(TUMBLE("
        "TABLE short, DESCRIPTOR(rowtime), INTERVAL '6' SECOND)) GROUP BY "
        "window_start, window_end",
        4,
        6,
        6,
    ),
    "group windows by TUMBLE_ROWTIME": (
        "SELECT TUMBLE_START(rt, INTERVAL '8' SECOND) AS b, TUMBLE_END(rt, INTERVAL '8' SECOND) AS "
        "e, SUM(n) AS n, SUM(t) AS t FROM (SELECT TUMBLE_ROWTIME(ts, INTERVAL '2' SECOND) AS rt, "
        "COUNT(*) AS n, SUM(x) AS t FROM s GROUP BY TUMBLE(ts, INTERVAL '2' SECOND)) GROUP BY "
        "TUMBLE(rt, INTERVAL '8' SECOND)",
        2,
        8,
        8,
    ),
    "Spark's window of a window": (
        "SELECT window.start AS b, window.end AS e, SUM(n) AS n, SUM(t) AS t FROM (SELECT "
        "window(ts, '2 seconds') AS window, COUNT(*) AS n, SUM(x) AS t FROM s GROUP BY "
        "window(ts, '2 seconds')) GROUP BY window(window, '6 seconds')",
        2,
        6,
        6,
    ),
    "Spark's window_time": (
        "SELECT window(window_time(window), '6 seconds').start AS b, window(window_time(window), "
        "'6 seconds').end AS e, SUM(n) AS n, SUM(t) AS t FROM (SELECT window, COUNT(*) AS n, "
        "SUM(x) AS t FROM s GROUP BY window(ts, '2 seconds')) GROUP BY window(window_time(window), "
        "'6 seconds')",
        2,
        6,
        6,
    ),
}


def chained(rows: Sequence[Row], inner: int, length: int, hop: int) -> list[tuple[Any, ...]]:
    """The slow twin: the rows of each short window, then the long windows that have its end."""
    short: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        short[row[0] // inner * inner + inner].append(row)
    found: dict[int, list[Row]] = defaultdict(list)
    for end, listed in short.items():
        last = end - 0.001
        first = int(last // hop) * hop + hop  # the end of the first long window that holds it
        for long_end in range(first, first + length, hop):
            if long_end - length <= last < long_end:
                found[long_end] += listed
    return [
        (end - length, end, len(listed), total([row[2] for row in listed]))
        for end, listed in found.items()
    ]


def total(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


@pytest.mark.parametrize("name", CHAINS)
@given(steps=ROWS, cut=st.integers(0, 25))
def test_windows_over_windows_are_those_of_the_slow_twin(
    name: str, steps: list[tuple[int, str | None, int]], cut: int
) -> None:
    text, *lengths = CHAINS[name]
    rows = timed(steps)
    session = connected()
    session.view(
        "short",
        "SELECT window_start AS ws, window_end AS we, window_time AS rowtime, COUNT(*) AS n, "
        "SUM(x) AS t FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '4' SECOND)) "
        "GROUP BY window_start, window_end, window_time",
    )
    query = session.query(text)
    push(session, rows[:cut])
    push(session, rows[cut:])
    session.finish()
    found = [plain(row, "at", "b", "e", "n", "t") for row in query.answers().to_pylist()]
    assert all(row[0] == row[2] for row in found)
    assert sorted(row[1:] for row in found) == sorted(chained(rows, *lengths))
    session.stop()


def test_short_windows_far_apart_are_all_told() -> None:
    session = connected()
    text = (
        "SELECT window_end AS e, SUM(n) AS n FROM TABLE(TUMBLE(TABLE q, DESCRIPTOR(r), INTERVAL "
        "'1' HOUR)) GROUP BY window_end"
    )
    session.view("q", "SELECT window_time AS r, COUNT(*) AS n FROM s [TUMBLE 2 MILLISECONDS] "
                 "GROUP BY window_time")  # fmt: skip
    query = session.query(text)
    push(session, [(0, "a", 1), (3599, "a", 1), (7200, "a", 1)])
    session.finish()
    found = [plain(row, "e", "n") for row in query.answers().to_pylist()]
    assert found == [(3600, 2), (10800, 1)]


def test_sessions_by_two_columns_in_brackets() -> None:
    session = connected()
    text = (
        "SELECT k, x, COUNT(*) AS n FROM TABLE(SESSION(TABLE s PARTITION BY (k, x), "
        "DESCRIPTOR(ts), INTERVAL '4' SECOND)) GROUP BY k, x, window_start, window_end"
    )
    query = session.query(text)
    push(session, [(0, "a", 1), (3, "a", 2), (5, "a", 1), (6, "a", 2)])
    session.finish()
    found = [plain(row, "at", "k", "x", "n") for row in query.answers().to_pylist()]
    assert found == [(4, "a", 1, 1), (9, "a", 1, 1), (10, "a", 2, 2)]


def test_sessions_over_what_is_not_a_choice_of_rows_are_refused() -> None:
    session = connected()
    text = "SELECT COUNT(*) AS n FROM ({}) [SESSION 4 SECONDS] AS q"
    for inner in (
        "SELECT ts, COUNT(*) AS n FROM s GROUP BY ts",
        "SELECT s.ts FROM s JOIN high ON s.k = high.k",
    ):
        with pytest.raises((UnsupportedError, WindrowError), match=r"WB263|WU246"):
            session.query(text.format(inner))
