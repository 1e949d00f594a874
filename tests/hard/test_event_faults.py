"""An exception at every place of a push and of latest(): the next answers are right."""

from __future__ import annotations

from typing import Any

import pytest

import windrow
from support.faults import Injected, chosen_places, fails_at, places_of
from windrow.embedded import EmbeddedSession
from windrow.embedded.query import EmbeddedQuery

START = 1_767_225_600_000_000
TEXTS = (
    "SELECT COUNT(*) AS n, SUM(v) AS s FROM a [2 SECONDS]",
    "SELECT k, AVG(v) AS m, MAX(v) AS h FROM a [2 SECONDS] GROUP BY k",
    "SELECT COUNT(*) AS n FROM a [2 SECONDS], a [3 SECONDS] b WHERE a.k = b.k AND a.v < b.v",
)
GROUPS = "SELECT k, COUNT(*) AS n FROM a [9 SECONDS] GROUP BY k"


def _started(texts: tuple[str, ...], keys: int) -> tuple[EmbeddedSession, list[EmbeddedQuery]]:
    session = windrow.connect()
    session.stream("a", "ts timestamp, k int, v int", time="ts")
    queries = [session.query(text) for text in texts]
    found = [query for query in queries if isinstance(query, EmbeddedQuery)]
    for number in range(keys):
        session.push("a", _row(number, keys))
    for _ in range(4):
        for query in found:
            query.latest()
    assert all(query.has_run for query in found)
    return session, found


def _row(number: int, keys: int) -> tuple[Any, ...]:
    return START + number * 100_000, number % keys, number % 7


def _shown(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, rows))


@pytest.mark.parametrize(("texts", "keys"), [(TEXTS, 30), ((GROUPS,), 80)], ids=["few", "many"])
def test_an_event_that_is_broken_off_spoils_no_answer(
    texts: tuple[str, ...], keys: int, is_whole: bool
) -> None:
    def event(session: EmbeddedSession, queries: list[EmbeddedQuery], number: int) -> None:
        session.push("a", _row(number, keys))
        for query in queries:
            query.latest()

    session, queries = _started(texts, keys)
    event(session, queries, keys)
    places = places_of(lambda: event(session, queries, keys + 1))
    session, queries = _started(texts, keys)
    number = keys
    for place in chosen_places(places, is_whole, 60):
        event(session, queries, number)
        assert all(query.has_run for query in queries)
        at = number + 1
        where = fails_at(lambda at=at: event(session, queries, at), place, Injected())  # type: ignore[misc]
        number += 2
        for query in queries:
            found = query.latest()
            assert _shown(found) == _shown(query.result().to_pylist()), where
