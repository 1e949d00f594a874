"""clock="arrival": a row moves every stream to its time, and its answer is there after push()."""

from __future__ import annotations

import random
import warnings
from collections import Counter
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from support.oracle import assert_same_rows, rows_of
from support.query_forms import FORMS, PUSHES
from support.sql_oracle import SqlOracle
from support.streams import STREAMS, Action, Push, batch_of, joins, scenarios, single_queries
from support.tree_forms import TREE_FORMS
from windrow.embedded import EmbeddedSession
from windrow.jobs.job import job_of
from windrow.plan.relations.tree_plan import TreePlan

START = datetime(2026, 1, 1, tzinfo=UTC)


def arriving(memory: str = "1 GB") -> EmbeddedSession:
    session = windrow.connect(memory=memory, clock="arrival")
    for stream in STREAMS.values():
        columns = {column.name: str(column.type) for column in stream.columns}
        session.stream(stream.name, columns, time="ts")
    return session


def second(number: float) -> datetime:
    return START + timedelta(seconds=number)


def two_streams() -> tuple[EmbeddedSession, windrow.Query]:
    session = windrow.connect(clock="arrival")
    for name in ("a", "b"):
        session.stream(name, "ts timestamp, k int", time="ts")
    text = "SELECT COUNT(*) AS n FROM a [10 SECONDS], b [10 SECONDS] WHERE a.k = b.k"
    return session, session.query(text)


def test_the_answer_is_there_when_push_returns() -> None:
    session, count = two_streams()
    session.push("a", {"ts": second(0), "k": 1})
    assert count.result().to_pylist() == [{"n": 0}]
    session.push("b", {"ts": second(0), "k": 1})
    assert count.result().to_pylist() == [{"n": 1}]
    session.push("b", {"ts": second(10), "k": 1})
    assert count.result().to_pylist() == [{"n": 2}]
    session.push("b", {"ts": second(10.5), "k": 1})  # the row of a has left
    assert count.result().to_pylist() == [{"n": 0}]
    assert session.ledger()["late"].to_pylist() == [0, 0]


@pytest.mark.filterwarnings("ignore:stream")
def test_rows_older_than_the_newest_of_any_stream_are_late_and_equal_ones_are_not() -> None:
    session, count = two_streams()
    session.push("a", {"ts": second(5), "k": 1})
    session.push("b", [{"ts": second(4), "k": 1}, {"ts": second(5), "k": 1}])
    assert session.late("b")["ts"].to_pylist() == [second(4)]
    assert count.result().to_pylist() == [{"n": 1}]


def test_rows_of_one_push_come_in_any_order() -> None:
    session, count = two_streams()
    session.push("a", {"ts": [second(9), second(1), second(5)], "k": [1, 1, 1]})
    session.push("b", {"ts": second(9), "k": 1})
    assert count.result().to_pylist() == [{"n": 3}]
    assert session.ledger()["late"].to_pylist() == [0, 0]


def test_an_answer_at_an_instant_is_given_again_when_more_comes_at_it() -> None:
    session, count = two_streams()
    session.push("a", {"ts": second(0), "k": 1})
    assert count.answers()["n"].to_pylist() == [0]
    for _ in range(2):
        session.push("b", {"ts": second(0), "k": 1})
    answers = count.answers()
    assert answers["n"].to_pylist() == [2]  # once, as nobody has read in between
    assert answers["at"].to_pylist() == [second(0)]


def test_heartbeats_move_all_streams() -> None:
    session, count = two_streams()
    session.push("a", {"ts": second(0), "k": 1})
    session.push("b", {"ts": second(0), "k": 1})
    session.advance("a", to=second(11))
    assert count.result().to_pylist() == [{"n": 0}]


def test_views_and_histories_go_on_with_arrivals() -> None:
    session = windrow.connect(clock="arrival")
    session.stream("s", "ts timestamp, k int", time="ts")
    session.history("s", measures=["k"], levels=[("1 second", "forever")])
    session.view("busy", "SELECT k, COUNT(*) AS n FROM s [10 SECONDS] GROUP BY k")
    most = session.query("SELECT MAX(n) AS n FROM busy")
    for number in range(4):
        session.push("s", {"ts": second(number // 2), "k": 1})
        assert most.result().to_pylist() == [{"n": number + 1}]
    session.finish()
    asked = "SELECT COUNT(*) AS n FROM HISTORY(s) [FROM '2026-01-01' TO '2026-01-02' AT 1 SECOND]"
    assert session.ask(asked)["n"].to_pylist() == [4]


def test_lateness_is_refused_where_nothing_is_waited_for() -> None:
    session = windrow.connect(clock="arrival")
    with pytest.raises(windrow.BindingError, match="WB751"):
        session.stream("s", "ts timestamp", time="ts", lateness="1 second")


def test_a_clock_has_one_of_two_names() -> None:
    with pytest.raises(windrow.BindingError, match="did you mean 'arrival'") as caught:
        windrow.connect(clock="arival")
    assert caught.value.code == "WB750"


def test_a_script_may_set_the_clock() -> None:
    assert job_of("SET clock = 'arrival'; SELECT 1 AS x").settings.clock == "arrival"
    with pytest.raises(windrow.BindingError, match="WB750"):
        job_of("SET clock = 'wall'; SELECT 1 AS x")


def test_spark_has_no_order_of_arrival() -> None:
    with pytest.raises(windrow.UnsupportedError, match="WU752"):
        windrow.connect(object(), clock="arrival")  # type: ignore[call-overload]


# ---- against DuckDB


def check(text: str, actions: list[Action], seed: int = 0) -> None:
    """After each push the result is that of all rows so far; changes add up to it."""
    session = arriving()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        query = session.query(text)
        oracle = SqlOracle(text, at_ticks=isinstance(session.plan_of(text), TreePlan))
        held: dict[str, list[pa.RecordBatch]] = {name: [] for name in STREAMS}
        clock, total, reads = -(2**61), Counter[str](), random.Random(seed)
        for action in actions:
            if not isinstance(action, Push) or not action.rows:
                continue
            batch = batch_of(action.stream, action.rows)
            times = batch.column("ts").cast(pa.int64()).to_numpy()
            held[action.stream].append(batch.filter(pa.array(times >= clock)))
            clock = max(clock, int(times.max()))
            session.push(action.stream, batch)
            if reads.random() < 0.5:
                continue
            rows = {
                name: pa.Table.from_batches(each, STREAMS[name].arrow)
                for name, each in held.items()
            }
            assert_same_rows(rows_of(query.result()), oracle.answer_at(rows, clock), text)
            _add(total, query.changes())
            # What a query shows before any row of its own has come is no change.
            if total:
                assert +total == Counter(map(repr, rows_of(query.result())))


def _add(total: Counter[str], changes: pa.Table) -> None:
    signs = changes["change"].to_pylist()
    for sign, row in zip(signs, rows_of(changes.drop_columns(["at", "change"])), strict=True):
        total[repr(row)] += sign


def tied(seed: int) -> list[Action]:
    """Pushes of the forms' rows, most of them at the instant of the one before."""
    draw = random.Random(seed)
    rows = {name: [r for p in PUSHES if p.stream == name for r in p.rows] for name in "abc"}
    now, made = START, list[Action]()
    for _ in range(12):
        now += timedelta(milliseconds=draw.choice((0, 0, 0, 500, 500, 1000, 3000)))
        name, back = draw.choice("aabbc"), draw.choice((0, 0, 0, 1))
        times = [
            now - timedelta(seconds=draw.choice((0, back))) for _ in range(draw.choice((1, 3)))
        ]
        made.append(Push(name, tuple({**draw.choice(rows[name]), "ts": each} for each in times)))
    return made


@pytest.mark.parametrize("name", [name for name in FORMS if name != "duration"])
def test_every_form_is_right_after_each_push(name: str) -> None:
    check(FORMS[name].text, tied(seed=len(name)))


@pytest.mark.parametrize("number", range(0, len(TREE_FORMS), 9))
def test_trees_are_right_after_each_push(number: int) -> None:
    check(TREE_FORMS[number], tied(seed=number))


# The oracle of texts would give DuckDB's integers for signs of doubles.
texts = st.one_of(single_queries(), joins()).filter(lambda text: "SIGN(" not in text)


@given(texts, scenarios(), st.integers(0, 9))
def test_generated_queries_are_right_after_each_push(
    text: str, actions: list[Action], seed: int
) -> None:
    try:
        check(text, actions, seed)
    except windrow.DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise
