"""keep=: a query that is registered late begins full, and questions have their rows."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import windrow
from support.oracle import assert_same_rows, rows_of
from support.query_forms import FORMS, PUSHES
from support.streams import STREAMS, batch_of
from support.tree_forms import TREE_FORMS
from windrow.embedded import EmbeddedSession

START = datetime(2026, 1, 1, tzinfo=UTC)
TEXTS = [*(form.text for form in FORMS.values()), *TREE_FORMS[::9]]


def second(number: float) -> datetime:
    return START + timedelta(seconds=number)


def keeping(clock: str = "complete") -> EmbeddedSession:
    session = windrow.connect(memory="1 GB", clock=clock)
    for stream in STREAMS.values():
        columns = {column.name: str(column.type) for column in stream.columns}
        late = stream.lateness_us / 1_000_000 if clock == "complete" else 0
        session.stream(stream.name, columns, time="ts", lateness=late, keep="1 hour")
    return session


def one_stream(**options: Any) -> EmbeddedSession:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts", **options)
    return session


@pytest.mark.parametrize("number", range(0, len(TEXTS), 2))
def test_a_query_that_is_registered_late_agrees_with_one_that_was_early(number: int) -> None:
    text, session = TEXTS[number], keeping()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        early = session.query(text)
        for push in PUSHES[:20]:
            session.push(push.stream, batch_of(push.stream, push.rows))
        early.answers()
        late = session.query(text)
    assert_same_rows(rows_of(late.result()), rows_of(early.result()), text)
    assert late.answers().num_rows == 0
    for push in PUSHES[20:]:
        session.push(push.stream, batch_of(push.stream, push.rows))
    assert_same_rows(rows_of(late.result()), rows_of(early.result()), text)
    session.finish()
    assert_same_rows(rows_of(late.answers()), rows_of(early.answers()), text)


@pytest.mark.parametrize("clock", ["complete", "arrival"])
@pytest.mark.parametrize("number", range(1, len(TEXTS), 4))
def test_a_question_is_answered_from_rows_that_are_kept(number: int, clock: str) -> None:
    text, session = TEXTS[number], keeping(clock)
    if "EVERY" in text or "DURATION" in text:
        text = "SELECT k, COUNT(*) AS n FROM a [3 SECONDS] GROUP BY k"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        early = session.query(text)
        for push in PUSHES[:20]:
            session.push(push.stream, batch_of(push.stream, push.rows))
        wanted = early.result()
        early.stop()
    assert_same_rows(rows_of(session.ask(text)), rows_of(wanted), text)


def test_views_begin_full() -> None:
    session = one_stream(keep="1 hour")
    session.view("busy", "SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k")
    for number in range(4):
        session.push("s", {"ts": second(number), "k": number % 2})
    most = session.query("SELECT MAX(n) AS n FROM busy")
    session.finish()
    assert most.result()["n"].to_pylist() == [2]


def test_rows_are_let_go_when_they_are_too_old_and_counted_in_the_budget() -> None:
    session = one_stream(keep="10 seconds")
    for number in range(200):
        session.push("s", [{"ts": second(number), "k": n} for n in range(20)])
    session.ledger()  # small pushes are applied when somebody looks
    kept = session._ingest.stream("s").kept
    assert kept is not None
    assert 20 * 10 * 12 <= kept.nbytes <= session._ingest._set_aside_bytes()
    assert kept.nbytes <= 4 * 20 * 10 * 12
    count = session.query("SELECT COUNT(*) AS n FROM s [5 SECONDS]")
    assert count.result()["n"].to_pylist() == [20 * 6 - 20]  # the last second is not complete
    assert "begun with" in count.explain()
    with pytest.raises(windrow.BindingError, match="WB277"):
        session.ask("SELECT COUNT(*) AS n FROM s [1 HOUR]")
    assert session.ask("SELECT COUNT(*) AS n FROM s [5 SECONDS]")["n"].to_pylist() == [100]


def test_without_keep_a_query_begins_empty() -> None:
    session = one_stream()
    session.push("s", {"ts": second(0), "k": 1})
    session.push("s", {"ts": second(1), "k": 1})
    count = session.query("SELECT COUNT(*) AS n FROM s [1 MINUTE]")
    assert count.result()["n"].to_pylist() == [0]


def test_a_push_that_is_broken_off_keeps_its_rows_once() -> None:
    session = one_stream(keep="1 hour", lateness="1 hour")
    session.push("s", {"ts": [second(0)], "k": [1]})
    with pytest.raises(windrow.DataError):
        session.push("s", {"ts": [second(1)], "k": ["one"]})
    session.push("s", {"ts": [second(1)], "k": [2]})
    late = session.query("SELECT k FROM s [1 MINUTE]")
    session.finish()
    assert late.result()["k"].to_pylist() == [1, 2]
