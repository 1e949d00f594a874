"""Continuous questions about the past: every answer against DuckDB over all rows."""

from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from support.history_truth import LEVELS, MEASURES, Question, give, questions, session_of
from support.oracle import Oracle, assert_same_rows, rows_of
from support.runners import BEGINNING, Judge, Model, grouped, listed, replay
from support.streams import Action, plan_of, scenarios
from windrow.errors import DataError

LONG_AGO_US = -2_208_988_800_000_000  # 1900
keys_kept = st.sampled_from([(), ("s",), ("s", "o"), ("s", "o", "y")])
levels_kept = st.sampled_from(LEVELS)
EVERY = ("1 SECOND", "1500 MILLISECONDS", "4 SECONDS")


@st.composite
def whole_pasts(draw: st.DrawFn, keys: tuple[str, ...]) -> Question:
    """Questions about all that ever was."""
    asked = draw(questions([], keys, now=True))
    having = draw(st.sampled_from([None, None, "COUNT(*) > 1", "SUM(k) IS NOT NULL"]))
    return Question(asked.items, asked.groups, asked.where, LONG_AGO_US, None, None, having)


@given(scenarios(most_rows=30), keys_kept, levels_kept, st.data())
def test_every_arrival_is_answered_exactly(
    actions: list[Action], keys: tuple, levels: list, data: st.DataObject
) -> None:
    session, model = session_of(), Model()
    session.history("a", measures=MEASURES, by=keys, levels=levels)
    question = data.draw(whole_pasts(keys))
    query = session.query(question.of_history)
    plan = plan_of(question.text("a [UNBOUNDED]"))
    judge, since = Judge(plan), BEGINNING
    for number, action in enumerate([*actions, None]):
        if action is None:
            session.finish()
        else:
            give(session, action)
            model.take(action)
        if number % 5 == 0 or action is None:
            clock = model.last(plan) if action is None else model.clock(plan)
            answers = query.answers()
            assert set(answers["level"].to_pylist()) <= {"A"}
            assert answers["error_bound"].null_count == answers.num_rows
            judge.check(model.rows(), since, clock, answers, query.changes(), query.result())
            assert query.clock == clock
            since = clock


@given(scenarios(most_rows=30, streams="aa"), keys_kept, levels_kept, st.data())
def test_every_tick_is_answered_exactly(
    actions: list[Action], keys: tuple, levels: list, data: st.DataObject
) -> None:
    session, model = session_of(), Model()
    session.history("a", measures=MEASURES, by=keys, levels=levels)
    question, every = data.draw(whole_pasts(keys)), data.draw(st.sampled_from(EVERY))
    query = session.query(f"{question.of_history} EVERY ({every})")
    plan = plan_of(f"{question.text('a [UNBOUNDED]')} EVERY ({every})")
    oracle, found, held = Oracle(plan), [], Counter()
    for number, action in enumerate([*actions, None]):
        if action is None:
            session.finish()
        else:
            give(session, action)
            model.take(action)
        if number % 3 == 0 or action is None:
            found += rows_of(query.answers().drop_columns(["level", "error_bound"]))
        if number % 4 == 0 or action is None:
            replay(query.changes(), held)
            if rows_of(query.result()) and model.rows()["a"].num_rows and held:
                assert_same_rows(rows_of(query.result()), listed(held))
    clock, rows = model.last(plan), model.rows()
    due = oracle.answer_instants(rows, clock)
    expected = oracle.answers(rows, [*due, clock])
    by_instant = grouped(found)
    assert set(by_instant) <= set(due)
    for at in due:
        assert_same_rows(by_instant.get(at, []), expected[at], f"answer at {at}")
    assert_same_rows(rows_of(query.result()), expected[clock])


@given(scenarios(most_rows=40, streams="aaa"), keys_kept, levels_kept, st.data())
def test_one_that_comes_later_says_the_same_as_asking(
    actions: list[Action], keys: tuple, levels: list, data: st.DataObject
) -> None:
    session, model = session_of(), Model()
    session.history("a", measures=MEASURES, by=keys, levels=levels)
    for action in actions[: len(actions) // 2]:
        give(session, action)
        model.take(action)
    question = data.draw(questions(actions, keys, now=True))
    query = session.query(question.of_history)
    shown = range(len(question.groups) + len(question.items))
    assert_same_rows(
        rows_of(query.result()), rows_of(session.ask(question.of_history).select(shown))
    )
    assert query.answers().num_rows == 0
    for action in actions[len(actions) // 2 :]:
        give(session, action)
        model.take(action)
    answers = query.answers()
    if answers.num_rows and set(answers["level"].to_pylist()) == {"A"}:
        last = model.streams["a"].through
        wanted = question.truth(model.rows()["a"], max(last + 1, question.since_us))
        assert_same_rows(rows_of(query.result()), wanted)
    held: Counter = Counter()
    replay(query.changes(), held)
    if held:
        assert_same_rows(rows_of(query.result()), listed(held))


def test_an_answer_in_doubt_has_its_error() -> None:
    session = session_of()
    session.history("b", measures=["k"], levels=[("1 second", 0), ("10 seconds", "forever")])
    start = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [{"ts": start + timedelta(seconds=i), "k": 1} for i in range(40)]
    session.push("b", rows)
    text = "SELECT COUNT(*) AS n FROM HISTORY(b) [FROM '2026-01-01 00:00:05' TO NOW]"
    query = session.query(text)
    session.advance("b", to=start + timedelta(seconds=39))
    (row,) = query.answers().to_pylist()
    assert (row["level"], row["n"]) == ("B", 35)
    # Between 30 and 40 rows: 35 is off by 5 of 30 at most.
    assert row["error_bound"] == 5 / 30
    assert query.result().to_pylist() == [{"n": 35}]


def test_an_answer_that_may_be_null_is_not_said_to_be_close() -> None:
    session = session_of()
    session.history("b", measures=["k"], levels=[("1 second", 0), ("10 seconds", "forever")])
    start = datetime(2026, 1, 1, tzinfo=UTC)
    # One row of the cut node: all of it lies before the interval.
    session.push("b", [{"ts": start + timedelta(seconds=1), "k": 3}])
    session.push("b", [{"ts": start + timedelta(seconds=20), "k": None}])
    text = "FROM HISTORY(b) [FROM '2026-01-01 00:00:05' TO NOW]"
    parts = ("MAX(k)", "MIN(k)", "AVG(k)", "SUM(k)", "COALESCE(MAX(k), -9)", "MAX(k) + 1")
    queries = [session.query(f"SELECT {part} AS x {text}") for part in parts]
    session.advance("b", to=start + timedelta(seconds=39))
    for query in queries:
        (row,) = query.answers().to_pylist()
        assert (row["level"], row["error_bound"]) == ("B", math.inf), query.text
    asked = session.ask(f"SELECT COALESCE(MAX(k), -9) AS x {text}").to_pylist()[0]
    assert (asked["x_low"], asked["x_high"], asked["exact"]) == (None, None, False)


def test_a_stopped_query_stays_as_it_was() -> None:
    session = session_of()
    session.history("b", measures=["k"], levels=[("1 second", "forever")])
    query = session.query("SELECT SUM(k) AS n FROM HISTORY(b) [FROM '2026-01-01' TO NOW]")
    assert query.result().to_pylist() == [{"n": None}]
    session.push("b", [{"ts": f"2026-01-01 00:00:0{i}", "k": i} for i in range(4)])
    assert query.result().to_pylist() == [{"n": 3}]
    assert "SUM(k)" in query.explain()
    session.stop()
    with pytest.raises(DataError, match="WD121"):
        session.push("b", [{"ts": "2026-01-01 00:00:09", "k": 9}])
    assert not query.is_running
    assert query.result().to_pylist() == [{"n": 3}]
    assert [row["n"] for row in query.answers().to_pylist()] == [0, 1, 3]
    assert query.changes(2)["n"].to_pylist() == [0]
    assert query.changes()["change"].to_pylist() == [-1, 1, -1, 1]


def test_a_sum_beyond_64_bits_ends_the_query_and_nothing_else() -> None:
    session = session_of()
    session.history("a", measures=["l"], levels=[("1 second", "forever")])
    query = session.query("SELECT SUM(l) AS n FROM HISTORY(a) [FROM '2026-01-01' TO NOW]")
    session.push("a", [{"ts": "2026-01-01", "l": 2**62}] * 2)
    with pytest.warns(RuntimeWarning, match="query 'query1' has stopped"):
        session.finish()
    assert not query.is_running
    for read in (query.result, query.answers, query.changes):
        with pytest.raises(DataError, match="WD302"):
            read()
    asked = session.ask("SELECT COUNT(l) AS n FROM HISTORY(a) [FROM '2026-01-01' TO NOW]")
    assert asked["n"].to_pylist() == [2]


def test_what_nobody_reads_is_bounded_in_bytes_and_told() -> None:
    session = windrow.connect(memory="8 MB")  # a quarter of it for what is unread
    session.stream("s", "ts timestamp, k string, x bigint", time="ts")
    session.history("s", measures=["x"], by=["k"], levels=[("1 second", "1 minute")])
    query = session.query(
        "SELECT k, SUM(x) AS x FROM HISTORY(s) [FROM '2026-01-01' TO NOW] GROUP BY k EVERY (1)"
    )
    start = datetime(2026, 1, 1, tzinfo=UTC)
    keys = [f"{each} {'long ' * 80}" for each in range(50)]
    for second in range(150):
        at = start + timedelta(seconds=second)
        session.push("s", {"ts": [at] * 50, "k": keys, "x": [second] * 50})
    session.advance("s", to=start + timedelta(seconds=150))
    with pytest.warns(RuntimeWarning, match="changes were netted"):
        changes = query.changes()
    added = Counter()
    for row in changes.to_pylist():
        added[row["k"], row["x"]] += row["change"]
    shown = Counter((row["k"], row["x"]) for row in query.result().to_pylist())
    assert +added == shown
    assert changes.nbytes < 3 << 20
    with pytest.warns(RuntimeWarning, match="rows of answers were dropped"):
        answers = query.answers()
    assert 1 << 18 < answers.nbytes < 3 << 20
    instants = answers["at"].to_pylist()
    assert max(instants) == start + timedelta(seconds=150)
    for at in sorted(set(instants)):
        total = sum(range((at - start).seconds + 1)) if at < max(instants) else sum(range(150))
        found = {row["x"] for row in answers.to_pylist() if row["at"] == at}
        assert found == {total}
