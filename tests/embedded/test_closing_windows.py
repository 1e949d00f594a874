"""Windows that close, and sessions: when answers come, what finish() does, steps undone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import windrow
from support.runners import Model, exactly
from support.streams import Action
from support.tree_forms import CLOSING_FORMS
from support.tree_rows import tree_actions
from support.tree_runs import TreeRunner, shard_run, tree_plan_of
from windrow.errors import BindingError, UnsupportedError

START = datetime(2026, 1, 1, tzinfo=UTC)


def answers_of(text: str, seconds: Sequence[float], *, finish: bool = True) -> list[dict[str, Any]]:
    """All answers of a query over rows at these seconds; times as seconds."""
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts")
    query = session.query(text)
    for number, second in enumerate(seconds):
        session.push("s", [{"ts": START + timedelta(seconds=second), "k": number % 2}])
    if finish:
        session.finish()
    rows = query.answers().drop_columns(["level", "error_bound"]).to_pylist()
    return [{name: _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    return (value - START).total_seconds() if isinstance(value, datetime) else value


def test_there_is_an_answer_for_each_window_when_it_closes() -> None:
    text = (
        "SELECT window_start AS w, COUNT(*) AS n FROM s [TUMBLE 10 SECONDS] GROUP BY window_start"
    )
    assert answers_of(text, [0, 9.999999, 10, 31]) == [
        {"at": 10, "w": 0, "n": 2},
        {"at": 20, "w": 10, "n": 1},
        {"at": 40, "w": 30, "n": 1},
    ]
    assert answers_of(text, [0, 9.999999, 10, 31], finish=False)[-1]["at"] == 20


def test_a_window_without_rows_counts_none() -> None:
    found = answers_of("SELECT COUNT(*) AS n FROM s [TUMBLE 10 SECONDS]", [5, 25])
    assert found == [{"at": 10, "n": 1}, {"at": 20, "n": 0}, {"at": 30, "n": 1}]


def test_finish_closes_the_hops_that_have_begun() -> None:
    text = "SELECT window_end AS e, COUNT(*) AS n FROM s [HOP 6 SECONDS BY 4 SECONDS] GROUP BY 1"
    assert [(row["at"], row["e"], row["n"]) for row in answers_of(text, [1, 7])] == [
        (2, 2, 1),
        (6, 6, 1),
        (10, 10, 1),
    ]


def test_windows_of_different_hops_answer_when_rows_enter() -> None:
    text = "SELECT COUNT(*) AS n FROM s [TUMBLE 2 SECONDS] AS a, s [TUMBLE 3 SECONDS] AS b"
    assert [row["at"] for row in answers_of(text, [1])] == [2, 3]


def test_a_session_is_told_once_when_it_closes() -> None:
    text = (
        "SELECT k, window_start AS w, window_end AS e, COUNT(*) AS n"
        " FROM s [SESSION 5 SECONDS PARTITION BY k] GROUP BY k, window_start, window_end"
    )
    assert answers_of(text, [0, 1, 5, 20, 10.000001]) == [
        {"at": 6, "k": 1, "w": 1, "e": 6, "n": 1},
        {"at": 10, "k": 0, "w": 0, "e": 10, "n": 2},
        {"at": 25, "k": 1, "w": 20, "e": 25, "n": 1},
    ]


def test_open_sessions_are_the_result() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts")
    query = session.query("SELECT k, window_end FROM s [SESSION 5 SECONDS PARTITION BY k]")
    session.push("s", [{"ts": START + timedelta(seconds=each), "k": 1} for each in (0, 3, 4)])
    session.advance("s", to=START + timedelta(seconds=9))
    assert [_plain(row["window_end"]) for row in query.result().to_pylist()] == [9, 9, 9]
    session.advance("s", to=START + timedelta(seconds=10))
    assert not query.result().num_rows
    assert "when a session closes" in query.explain()


def test_sessions_beside_answers_of_a_query_need_ticks() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts")
    text = (
        "SELECT a.k FROM s [SESSION 5 SECONDS] AS a"
        " JOIN (SELECT k FROM s [5 SECONDS] EVERY (1 SECOND)) [5 SECONDS] AS b ON a.k = b.k"
    )
    with pytest.raises(UnsupportedError, match="WU700"):
        session.query(text)
    session.query(f"{text} EVERY (1 SECOND)")


def test_a_window_of_a_view_that_only_filters_is_that_of_its_stream() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts")
    session.view("some", "SELECT k, ts AS at_time FROM s WHERE k > 0")
    text = "SELECT COUNT(*) AS n FROM TUMBLE(TABLE some, DESCRIPTOR(at_time), INTERVAL '1' MINUTE)"
    query = session.query(text)
    session.push(
        "s", [{"ts": START + timedelta(seconds=each), "k": each} for each in (0, 1, 59, 60)]
    )
    session.finish()
    assert query.answers()["n"].to_pylist() == [2, 1]


def test_a_window_by_proctime_is_one_by_the_time_of_the_rows() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts")
    session.view("b", "SELECT *, PROCTIME() AS p_time FROM s")
    text = "SELECT COUNT(*) AS n, MAX(k) AS k FROM TUMBLE(TABLE {}, INTERVAL '1' MINUTE)"
    names = ("s, DESCRIPTOR(ts)", "b, DESCRIPTOR(ts)", "b, DESCRIPTOR(P_Time)")
    queries = [session.query(text.format(name)) for name in names]
    session.push("s", [{"ts": START + timedelta(seconds=each), "k": each} for each in (0, 59, 60)])
    session.finish()
    first, *others = [query.answers().to_pylist() for query in queries]
    assert [row["k"] for row in first] == [59, 60]
    assert all(each == first for each in others)
    with pytest.raises(BindingError, match="'k' is no time of 'b'"):
        session.query(text.format("b, DESCRIPTOR(k)"))


def undone(text: str, actions: Sequence[Action]) -> list[list[str]]:
    """All that a tree gives, every step of which was made, undone and made again."""
    plan, model = tree_plan_of(text), Model()
    runner = TreeRunner(plan)
    for action in [*actions, None]:
        batches = {} if action is None else model.take(action)
        clock = model.last(plan) if action is None else model.clock(plan)
        mark = runner.shard.mark()
        prepared = {
            number: runner._preparers[number].prepare(batches[entry.stream.name])
            for number, entry in enumerate(plan.inputs)
            if entry.stream.name in batches
        }
        runner.shard.advance(prepared, clock)
        runner.shard.rewind(mark)
        runner.shard.keep(mark)
        runner.step(batches, clock)
    publisher = runner.publisher
    told = (publisher.answers(), publisher.changes(), publisher.result())
    return [sorted(exactly(each)) for each in told]


@pytest.mark.parametrize("number", range(0, len(CLOSING_FORMS), 3))
def test_a_step_can_be_undone(number: int) -> None:
    text, actions = CLOSING_FORMS[number], tree_actions(number, rows=12)
    expected = [sorted(exactly(each)) for each in shard_run(text, actions)]
    assert undone(text, actions) == expected
