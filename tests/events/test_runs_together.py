"""Queries over the same streams whose runs go together: each has its own answer all the same."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from support.event_streams import COLUMNS, SECOND, START, actions, do, shown
from windrow.embedded import EmbeddedSession
from windrow.embedded.query import EmbeddedQuery
from windrow.events.event_run import EventRun
from windrow.events.shown_rows import MANY_ROWS
from windrow.rows.gathered_rows import GATHERED_ROWS

# Windows that are the same, ones that are not, and a sum that gives up where v is NaN.
TEXTS = (
    "SELECT COUNT(*) AS n, SUM(w) AS s FROM a [5 SECONDS]",
    "SELECT k, SUM(w) AS s, COUNT(name) AS n FROM a [5 SECONDS] GROUP BY k",
    "SELECT name, MAX(w) AS h FROM a [5 SECONDS] WHERE w > 1 GROUP BY name",
    "SELECT COUNT(DISTINCT k) AS n FROM a [5 SECONDS] WHERE w > 1",
    "SELECT AVG(v) AS m FROM a [3 SECONDS]",
    "SELECT COUNT(*) AS n FROM a [4 SECONDS], b [4 SECONDS] WHERE a.k = b.k",
    "SELECT a.k, SUM(b.w) AS s FROM a [4 SECONDS], b [4 SECONDS] WHERE a.k = b.k GROUP BY a.k",
)
WHOLE, BY_KEY = TEXTS[:2]


def _session(texts: tuple[str, ...], **options: Any) -> tuple[EmbeddedSession, list[EmbeddedQuery]]:
    session = windrow.connect(**options)
    for name in "ab":
        session.stream(name, COLUMNS, time="ts")
    queries = [session.query(text) for text in texts]
    return session, [query for query in queries if isinstance(query, EmbeddedQuery)]


def _row(number: int, keys: int = 3) -> tuple[Any, ...]:
    return START + number * SECOND // 10, number % keys, 0.5, number % 5, "x"


def _run(query: EmbeddedQuery) -> EventRun:
    assert query.events.run is not None
    return query.events.run


def _with_runs(
    texts: tuple[str, ...], keys: int = 3, **options: Any
) -> tuple[EmbeddedSession, list[EmbeddedQuery]]:
    """Runs have read some rows, and some are gathered."""
    session, queries = _session(texts, **options)
    for number in range(max(20, keys)):
        session.push("a", _row(number, keys))
        for query in queries:
            query.latest()
    assert all(query.has_run for query in queries)
    return session, queries


@settings(max_examples=25)
@given(
    steps=actions,
    chosen=st.lists(st.sampled_from(TEXTS), min_size=2, max_size=4, unique=True),
    clock=st.sampled_from(["complete", "arrival"]),
)
def test_each_has_the_answer_that_it_has_alone(
    steps: list[Any], chosen: list[str], clock: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session, queries = _session(tuple(chosen), clock=clock)
        other, slow = _session(tuple(chosen), clock=clock)
        at = START
        for number, (move, stream, kind, row, _) in enumerate(steps):
            at += move * SECOND
            for each in (session, other):
                do(each, kind, stream, {"ts": at, **row})
            for place, query in enumerate(queries):
                if (number + place) % 3:  # they are not always read at the same time
                    latest, wanted = query.latest(), slow[place].result().to_pylist()
                    assert shown(latest) == shown(wanted), chosen[place]


def test_windows_of_the_same_rows_are_one() -> None:
    _, queries = _with_runs(TEXTS[:5])
    groups = {id(_run(query).group) for query in queries}
    assert len(groups) == 1
    windows = _run(queries[0]).group.windows
    assert sorted(window.readers for window in windows) == [1, 2, 2]


def test_one_that_goes_does_not_take_the_others_with_it() -> None:
    session, (first, second, third) = _with_runs(TEXTS[:3])
    run = _run(third)
    second.stop()
    for number in range(20, 40):
        session.push("a", _row(number))
        answers = first.latest(), third.latest()
    assert _run(third) is run
    assert [shown(answer) for answer in answers] == [
        shown(query.result().to_pylist()) for query in (first, third)
    ]


def test_one_that_nobody_reads_is_dropped() -> None:
    session, (read, unread) = _with_runs((WHOLE, BY_KEY))
    for number in range(20, 20 + 4 * GATHERED_ROWS):
        session.push("a", _row(number))
        if number % 64 == 0:
            read.latest()
    assert (read.has_run, unread.has_run) == (True, False)
    assert shown(read.latest()) == shown(read.result().to_pylist())


def test_a_run_that_outgrows_its_part_of_the_budget_is_dropped_and_not_built_again() -> None:
    session, (query,) = _session((BY_KEY,), memory="2MB")
    had_run = False
    for number in range(3_000):
        session.push("a", (START + number * 1_000, number, 0.5, 1, "x"))
        if number % 30 == 0:
            assert len(query.latest()) == number
        had_run = had_run or query.has_run
    assert had_run
    query.result()  # what was gathered is applied, and bytes are looked at
    for _ in range(20):
        assert len(query.latest()) == 2_999
    assert query.has_run is False


@pytest.mark.parametrize("rows", [3, 2 * MANY_ROWS])
def test_an_answer_stays_as_it_was_handed_out(rows: int) -> None:
    session, (query,) = _with_runs((BY_KEY,), keys=rows)
    kept = []
    for number in range(rows, 3 * rows):
        session.push("a", _row(number, rows))
        answer = query.latest()
        kept.append((answer, repr(answer)))
    assert all(repr(answer) == text for answer, text in kept)


@pytest.mark.parametrize("change", ["pop", "clear", "reverse", "sort", "append", "item", "plus"])
def test_an_answer_may_be_changed_by_who_has_it(change: str) -> None:
    keys = 2 * MANY_ROWS
    session, (query,) = _with_runs(
        ("SELECT k, COUNT(*) AS n FROM a [99 SECONDS] GROUP BY k",), keys=keys
    )
    for number in range(keys, keys + 20):
        session.push("a", _row(number, keys))
        answer = query.latest()
        if change == "append":
            answer.append({})
        elif change == "item":
            answer[0] = {}
        elif change == "plus":
            answer += [{}]
        else:
            getattr(answer, change)(**({"key": str} if change == "sort" else {}))
        del answer
    assert shown(query.latest()) == shown(query.result().to_pylist())
