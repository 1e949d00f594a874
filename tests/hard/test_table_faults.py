"""An exception at any place of upsert() and delete() leaves the table as it was, or changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import windrow
from support.faults import Injected, chosen_places, fails_at, places_of

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

START = datetime(2026, 1, 1, tzinfo=UTC)
TEXTS = (
    "SELECT t.s, COUNT(*) AS n FROM a [5 SECONDS] LEFT JOIN t ON a.k = t.k GROUP BY t.s",
    "SELECT a.v, t.s FROM a [5 SECONDS] LEFT JOIN t FOR SYSTEM_TIME AS OF a.ts ON a.k = t.k",
    "SELECT v.k, v.s FROM v JOIN t ON t.k = v.k",
    "SELECT s, n FROM busy",
)
Operation = Callable[[Any], object]


def session_of() -> tuple[Any, list[Any]]:
    session = windrow.connect()
    session.stream("a", "ts timestamp, k int, v int", time="ts")
    session.table("t", "k int, s string", key="k")
    session.table("v", "k int, s string, ts timestamp", key="k", time="ts")
    session.view(
        "busy", "SELECT t.s, COUNT(*) AS n FROM a [3 SECONDS], t WHERE a.k = t.k GROUP BY s"
    )
    queries = [session.query(text) for text in TEXTS]
    session.upsert("t", [{"k": 1, "s": "x"}, {"k": 2, "s": "y"}])
    push(session, 0)
    session.upsert("v", [{"k": k, "s": "early", "ts": at(1)} for k in (1, 2)])
    push(session, 2)
    return session, queries


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def push(session: Any, second: int) -> None:
    session.push("a", [{"ts": at(second + i / 4), "k": i % 3, "v": i} for i in range(4)])


def upsert(session: Any) -> None:
    session.upsert("t", [{"k": 1, "s": "new"}, {"k": 3, "s": "z"}])


def delete(session: Any) -> None:
    session.delete("t", [2])


def versions(session: Any) -> None:
    session.upsert(
        "v", [{"k": 1, "s": "late", "ts": at(1.5)}, {"k": 2, "s": "to come", "ts": at(4)}]
    )


def is_made(session: Any, operation: Operation) -> bool:
    given = {upsert: 4, delete: 3, versions: 4}[operation]
    name = "v" if operation is versions else "t"
    (row,) = [row for row in session.ledger().to_pylist() if row["stream"] == name]
    return bool(row["rows_in"] == given)


def ended(session: Any, queries: list[Any]) -> list[Any]:
    for second in (4, 6):
        push(session, second)
    session.finish()
    return [
        sorted(map(str, table.to_pylist()))
        for query in queries
        for table in (query.answers(), query.changes(), query.result())
    ]


@pytest.mark.parametrize("operation", [upsert, delete, versions])
def test_a_change_is_made_or_not(operation: Operation, is_whole: bool) -> None:
    session, queries = session_of()
    places = places_of(lambda: operation(session))
    expected = ended(session, queries)
    for place in chosen_places(places, is_whole, few=25):
        session, queries = session_of()
        where = fails_at(lambda: operation(session), place, Injected())  # noqa: B023
        if not is_made(session, operation):
            operation(session)
        assert ended(session, queries) == expected, where


def test_a_push_that_fails_undoes_what_it_read_of_tables(is_whole: bool) -> None:
    def pushed(session: Any) -> None:
        push(session, 4)

    session, queries = session_of()
    versions(session)
    places = places_of(lambda: pushed(session))
    expected = ended(session, queries)
    for place in chosen_places(places, is_whole, few=25):
        session, queries = session_of()
        versions(session)
        where = fails_at(lambda: pushed(session), place, Injected())  # noqa: B023
        taken = session.ledger()["rows_in"][0].as_py()
        if taken == 8:
            push(session, 4)
        assert ended(session, queries) == expected, where
