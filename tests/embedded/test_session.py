"""The session in this process: generated streams against the oracle, and the ledger."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from support.oracle import SumOverflowError, rows_of
from support.query_forms import PUSHES
from support.runners import Judge, Model
from support.sessions import give, session_of
from support.streams import STREAMS, Action, Push, batch_of, queries, scenarios, split
from windrow.embedded import EmbeddedSession
from windrow.errors import DataError

FORMS = ["dicts", "batch", "table", "pandas", "polars", "one by one"]


def check_ledger(session: EmbeddedSession, model: Model) -> None:
    for row in session.ledger().to_pylist():
        parts = ("applied", "late", "bad_time", "rejected", "waiting")
        assert row["rows_in"] == sum(row[part] for part in parts)
        stream = model.streams[row["stream"]]
        assert row["rows_in"] == stream.rows_in
        assert row["late"] == sum(batch.num_rows for batch in stream.late)
        late = pa.Table.from_batches(stream.late, stream.schema.arrow)
        assert repr(rows_of(session.late(row["stream"]))) == repr(rows_of(late))


@given(queries, scenarios(), st.sampled_from(["batch", "table", "dicts", "one by one"]))
def test_the_session_agrees_with_the_oracle(text: str, actions: list[Action], form: str) -> None:
    session, model = session_of(), Model()
    query = session.query(text)
    judge, since = Judge(query.plan), -(2**61)
    try:
        for number, action in enumerate([*actions, None]):
            if action is None:
                session.finish()
            else:
                give(session, action, form)
                model.take(action)
            if number % 5 == 0 or action is None:
                clock = model.last(query.plan) if action is None else model.clock(query.plan)
                given = (query.answers(), query.changes(), query.result())
                assert query.clock == clock
                judge.check(model.rows(), since, clock, *given)
                since = clock
            check_ledger(session, model)
    except DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise
        if refused.code == "WD304":
            return  # the slow twin has NULL there
        moments = judge.oracle.change_instants(model.rows(), model.last(query.plan))
        with pytest.raises(SumOverflowError):
            judge.oracle.answers(model.rows(), moments)


@given(st.lists(queries, min_size=2, max_size=3), scenarios(), st.data())
def test_queries_and_pushes_do_not_disturb_each_other(
    texts: list[str], actions: list[Action], data: st.DataObject
) -> None:
    alone = []
    for text in texts:
        session = session_of()
        query = session.query(text)
        alone.append(run(session, [query], actions))
    session = session_of()
    together = [session.query(text) for text in texts]
    other = data.draw(split(actions))
    found = run(session, together, other, form="one by one")
    refused = any(each == ["refused"] for each in alone)
    assert found == (["refused"] if refused else [part for each in alone for part in each])


def run(
    session: EmbeddedSession, registered: list, actions: list[Action], form: str = "batch"
) -> list[str]:
    try:
        for action in actions:
            give(session, action, form)
        session.finish()
        return [
            repr(rows_of(table))
            for query in registered
            for table in (query.answers(), query.changes(), query.result())
        ]
    except DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise
        return ["refused"]


def test_an_empty_session_has_nothing_to_say() -> None:
    session = session_of()
    counted = session.query("SELECT COUNT(*) AS n, SUM(k) AS s FROM a [1 SECOND]")
    grouped = session.query("SELECT k, COUNT(*) AS n FROM a [1 SECOND] GROUP BY k")
    assert counted.result().to_pylist() == [{"n": 0, "s": None}]
    assert grouped.result().num_rows == 0
    for query in (counted, grouped):
        assert query.answers().num_rows == 0
        assert query.changes().num_rows == 0
    session.push("a", ())
    session.push("a", batch_of("a", ()))
    session.finish()
    assert counted.answers().num_rows == 0
    assert session.ledger()["rows_in"].to_pylist() == [0] * len(STREAMS)


def test_what_was_pushed_shows_at_once() -> None:
    session = session_of()
    query = session.query("SELECT COUNT(*) AS n FROM b [10 SECONDS]")
    push = Push("b", ({"ts": "2026-01-01 00:00:00", "k": 1},))
    session.push("b", list(push.rows))
    assert query.result().to_pylist() == [{"n": 0}]  # rows of the same instant may follow
    session.advance("b", to="2026-01-01")
    assert query.result().to_pylist() == [{"n": 1}]
    assert query.changes()["change"].to_pylist() == [1]
    assert query.answers()["n"].to_pylist() == [1]
    assert query.answers().num_rows == 0
    assert query.changes().num_rows == 0
    session.advance("b", to="2026-01-01 00:00:10")
    assert query.result().to_pylist() == [{"n": 1}]
    session.advance("b", to="2026-01-01 00:00:10.000001")
    assert query.changes().select(["change", "n"]).to_pylist() == [
        {"change": -1, "n": 1},
        {"change": 1, "n": 0},
    ]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("SELECT MOD(l, 3) AS m FROM a [3 SECONDS]", "SELECT l % 3 AS m FROM a [3 SECONDS]"),
        ("SELECT DIV(k + 5, 2) AS m FROM a [ROWS 9]", "SELECT (k + 5) DIV 2 AS m FROM a [ROWS 9]"),
        ("SELECT MEAN(k) AS m, STD(k) AS d FROM a [ROWS 9]",
         "SELECT AVG(k) AS m, STDDEV(k) AS d FROM a [ROWS 9]"),
        ("SELECT EVERY(o) AS e, SOME(o) AS s, ANY(o) AS y, COUNTIF(o) AS c FROM a [ROWS 9]",
         "SELECT BOOL_AND(o) AS e, BOOL_OR(o) AS s, BOOL_OR(o) AS y, COUNT_IF(o) AS c"
         " FROM a [ROWS 9]"),
        ("SELECT TOP 2 k, l FROM a [ROWS 9] ORDER BY l, k",
         "SELECT k, l FROM a [ROWS 9] ORDER BY l, k LIMIT 2"),
        ("SELECT DISTINCT TOP (2) k FROM a [ROWS 9] ORDER BY k EMIT CHANGES",
         "SELECT DISTINCT k FROM a [ROWS 9] ORDER BY k LIMIT 2"),
        ("SELECT TOP 1 k FROM a [ROWS 9] UNION ALL SELECT k FROM b [ROWS 3] EMIT FINAL",
         "(SELECT k FROM a [ROWS 9] LIMIT 1) UNION ALL SELECT k FROM b [ROWS 3]"),
        ("SELECT k, COUNT(*) AS n FROM a [3 SECONDS] GROUP BY 1 EMIT ON WINDOW CLOSE",
         "SELECT k, COUNT(*) AS n FROM a [3 SECONDS] GROUP BY k"),
    ],
)  # fmt: skip
def test_other_spellings_are_accepted_as_what_they_mean(text: str, same: str) -> None:
    session = session_of()
    queries_ = [session.query(text), session.query(same)]
    for push in PUSHES:
        session.push(push.stream, batch_of(push.stream, push.rows))
    session.finish()
    one, other = (query.result() for query in queries_)
    assert one.equals(other)
    one, other = (query.changes() for query in queries_)
    assert repr(one.to_pylist()) == repr(other.to_pylist())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT TOP 2 k FROM a [1 SECOND] LIMIT 3", "WS791"),
        ("SELECT TOP 2 PERCENT k FROM a [1 SECOND]", "WU792"),
        ("SELECT TOP 2 WITH TIES k FROM a [1 SECOND]", "WU792"),
    ],
)
def test_what_top_cannot_mean_is_refused(text: str, code: str) -> None:
    with pytest.raises(windrow.WindrowError, match=code):
        session_of().query(text)
