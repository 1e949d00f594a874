"""latest() after every event against result() of a session that applies every push at once."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings

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
from windrow.embedded.query import EmbeddedQuery
from windrow.events.answer import Answer


@pytest.mark.parametrize("clock", ["complete", "arrival"])
@settings(max_examples=MANY_EXAMPLES)
@given(steps=actions, chosen=few_forms)
def test_latest_is_the_result_after_every_push(
    clock: str, steps: list[EventStep], chosen: list[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session, queries = session_with(clock, chosen)
        other, slow = session_with(clock, chosen)
        at = START
        for move, stream, kind, row, looks in steps:
            at += move * SECOND
            for each in (session, other):
                do(each, kind, stream, {"ts": at, **row})
            for name, query in queries.items():
                latest, wanted = query.latest(), slow[name].result().to_pylist()
                assert shown(latest) == shown(wanted), (name, latest, wanted)
                if looks:
                    assert shown(query.result().to_pylist()) == shown(wanted), name
        for each in (session, other):
            each.finish()
        for name, query in queries.items():
            assert shown(query.latest()) == shown(slow[name].result().to_pylist()), name
            found, wanted = (each.answers().to_pylist() for each in (query, slow[name]))
            assert repr(found) == repr(wanted), name


def test_every_form_has_a_run_but_trees() -> None:
    session, queries = session_with("complete")
    for second in range(4):
        for stream in "ab":
            row = {"ts": START + second * SECOND, "k": 1, "v": 0.5, "w": 1, "name": "x"}
            session.push(stream, row)
            for query in queries.values():
                query.latest()
    runs = {name: query for name, query in queries.items() if isinstance(query, EmbeddedQuery)}
    assert [name for name, query in runs.items() if not query.has_run] == ["a tree"]


def test_a_query_that_was_stopped_answers_what_it_had() -> None:
    session, queries = session_with("complete", ["whole", "grouped"])
    for second in range(30):
        session.push("a", (START + second * SECOND // 10, 1, 0.5, 3, "x"))
        for query in queries.values():
            query.latest()
    queries["whole"].stop()
    kept = queries["whole"].result().to_pylist()
    for second in range(30, 40):
        session.push("a", (START + second * SECOND // 10, 1, 0.5, 3, "x"))
        assert queries["whole"].latest() == kept
        assert shown(queries["grouped"].latest()) != kept
    assert queries["grouped"].latest() == queries["grouped"].result().to_pylist()


def test_an_answer_knows_when_it_holds() -> None:
    session, queries = session_with("arrival")
    answer = queries["whole"].latest()
    assert isinstance(answer, Answer)
    assert (answer, answer.at) == ([{"n": 0, "s": None, "m": None}], None)
    for second in (3, 4):
        session.push("a", (START + second * SECOND, 1, 0.5, 7, "x"))
        answer = queries["whole"].latest()
        assert answer.at is not None
        assert (answer.at.second, answer.level, answer.error_bound) == (second, "A", None)
