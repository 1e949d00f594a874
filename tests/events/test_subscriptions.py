"""on_answer, on_change and `async for` against answers() and result() of a second session."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections import Counter
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings

import windrow
from support.event_streams import (
    MANY_EXAMPLES,
    SECOND,
    START,
    EventStep,
    actions,
    do,
    few_forms,
    session_with,
    shown,
)
from windrow.embedded import EmbeddedSession
from windrow.events import answer_queue
from windrow.events.answer import Answer
from windrow.events.subscriptions import Change

Heard = list[tuple[datetime | None, list[str]]]


class Listener:
    """What one query tells, and its rows by the changes alone."""

    def __init__(self, query: windrow.Query) -> None:
        self.heard: Heard = []
        self.rows = Counter(map(repr, query.latest()))
        query.on_answer(lambda answer: self.heard.append((answer.at, shown(answer))))
        query.on_change(self._change)

    def _change(self, change: Change) -> None:
        self.rows[repr(change.row)] += change.change
        self.rows += Counter()


def by_instants(answers: list[dict[str, Any]]) -> Heard:
    found: Heard = []
    for row in answers:
        at = row.pop("at")
        del row["level"], row["error_bound"]
        if not found or found[-1][0] != at:
            found.append((at, []))
        found[-1][1].append(repr(row))
    return [(at, sorted(rows)) for at, rows in found]


@pytest.mark.parametrize("clock", ["complete", "arrival"])
@settings(max_examples=MANY_EXAMPLES)
@given(steps=actions, chosen=few_forms)
def test_changes_add_up_to_the_result_and_answers_are_those_of_answers(
    clock: str, steps: list[EventStep], chosen: list[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session, queries = session_with(clock, chosen)
        other, slow = session_with(clock, chosen)
        listeners = {name: Listener(query) for name, query in queries.items()}
        at = START
        for move, stream, kind, row, looks in steps:
            at += move * SECOND
            for each in (session, other):
                do(each, kind, stream, {"ts": at, **row})
            for name, listener in listeners.items():
                wanted = slow[name].result().to_pylist()
                assert listener.rows == Counter(map(repr, wanted)), name
                if looks:
                    assert shown(queries[name].latest()) == shown(wanted), name
        for each in (session, other):
            each.finish()
        for name, listener in listeners.items():
            wanted = by_instants(slow[name].answers().to_pylist())
            if clock == "arrival":  # an answer at an instant is given again when more comes at it
                last = dict(listener.heard)
                assert list(last) == [at for at, _ in wanted], name
            else:
                assert listener.heard == wanted, name


def counting() -> tuple[EmbeddedSession, windrow.Query]:
    session = windrow.connect(clock="arrival")
    session.stream("s", "ts timestamp, x int", time="ts")
    return session, session.query("SELECT COUNT(*) AS n, SUM(x) AS x FROM s [10 SECONDS]")


def push(session: EmbeddedSession, second: int, x: int = 1) -> None:
    session.push("s", (START + second * SECOND, x))


def test_what_a_function_raises_comes_after_all_others_were_called() -> None:
    session, query = counting()
    heard: list[Answer] = []

    def fails(_: Answer) -> None:
        raise ZeroDivisionError("of the user's")

    broken = query.on_answer(fails)
    query.on_answer(heard.append)
    for second in range(3):
        with pytest.raises(ZeroDivisionError, match="of the user's"):
            push(session, second)
    broken.close()
    broken.close()
    push(session, 3)
    assert [answer[0]["n"] for answer in heard] == [1, 2, 3, 4]
    assert session.ledger()["rows_in"].to_pylist() == [4]
    assert query.latest() == query.result().to_pylist()


def test_a_function_may_push_and_close() -> None:
    session, query = counting()
    heard: list[int] = []

    def echo(answer: Answer) -> None:
        heard.append(answer[0]["n"])
        if answer[0]["n"] < 4:
            push(session, len(heard))
        else:
            subscription.close()

    subscription = query.on_answer(echo)
    push(session, 0)
    push(session, 9)
    assert heard == [1, 2, 3, 4]
    assert query.latest()[0]["n"] == 5


def test_async_for_from_the_same_loop_and_from_another_thread() -> None:
    session, query = counting()
    push(session, 0)

    async def main() -> list[int]:
        answers = aiter(query)
        for second in (1, 2):
            push(session, second)
        thread = threading.Thread(target=lambda: (push(session, 3), session.finish()))
        thread.start()
        found = [answer[0]["n"] async for answer in answers]
        thread.join()
        return found

    assert asyncio.run(main()) == [2, 3, 4]


def test_a_slow_task_loses_the_oldest_answers_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_queue, "QUEUED_ANSWERS", 2)
    session, query = counting()

    async def main() -> list[int]:
        answers = aiter(query)
        for second in range(5):
            push(session, second)
        with pytest.warns(RuntimeWarning, match="3 answers were dropped"):
            first = await anext(answers)
        rest = [first[0]["n"], (await anext(answers))[0]["n"]]
        answers.close()
        assert [answer async for answer in answers] == []
        return rest

    assert asyncio.run(main()) == [4, 5]


def test_a_loop_that_was_left_is_called_no_more() -> None:
    session, query = counting()

    async def main() -> None:
        push(session, 0)
        async for _ in _pushing(session, query):
            break

    asyncio.run(main())
    push(session, 5)
    push(session, 6)
    assert not session._ingest.listening


def _pushing(session: EmbeddedSession, query: windrow.Query) -> answer_queue.AnswerQueue:
    answers = aiter(query)
    push(session, 1)
    return answers


def test_a_query_of_a_history_has_no_events() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x int", time="ts")
    session.history("s", measures=["x"], levels=[("1 second", "1 hour")])
    query = session.query(
        "SELECT SUM(x) AS x FROM HISTORY(s) [FROM '2026-01-01' TO NOW] EVERY (10 SECONDS)"
    )
    assert query.latest() == query.result().to_pylist()
    for subscribe in (query.on_answer, query.on_change):
        with pytest.raises(windrow.UnsupportedError) as caught:
            subscribe(print)
        assert caught.value.code == "WU308"
    with pytest.raises(windrow.UnsupportedError):
        aiter(query)
