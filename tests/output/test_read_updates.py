"""What both readers have read is let go of at once, and never more than that."""

from __future__ import annotations

from typing import Any

import pytest

import windrow
from windrow.backlog import Backlog
from windrow.embedded import EmbeddedQuery

FORMS = [
    "SELECT COUNT(*) AS n, SUM(v) AS s FROM a [10 SECONDS]",
    "SELECT COUNT(*) AS n, SUM(v) AS s FROM a [10 SECONDS] EVERY 1 SECOND",
    "SELECT k, COUNT(*) AS n FROM a [10 SECONDS] GROUP BY k",
    "SELECT k, MAX(v) AS n FROM a [10 SECONDS] GROUP BY k EVERY 1 SECOND",
    "SELECT k, v FROM a [10 SECONDS]",
    "SELECT DISTINCT k FROM a [10 SECONDS]",
]
STARTS_US = 1_767_225_600_000_000


def _session(text: str) -> tuple[windrow.Session, EmbeddedQuery]:
    session = windrow.connect()
    session.stream("a", "ts timestamp, k int, v int", time="ts")
    query = session.query(text)
    assert isinstance(query, EmbeddedQuery)
    return session, query


def _push(session: windrow.Session, number: int, rows: int) -> None:
    first = number * rows
    session.push(
        "a",
        [
            {"ts": STARTS_US + 7_000 * place, "k": place % 40, "v": place % 13}
            for place in range(first, first + rows)
        ],
    )


@pytest.mark.parametrize("text", FORMS)
def test_nothing_read_by_both_stays(text: str) -> None:
    session, query = _session(text)
    sizes = []
    for number in range(12):
        _push(session, number, 700)
        query.answers()
        query.changes()
        feed = query._publisher._feed
        sizes.append(feed._updates.nbytes)
    # At most the newest state, from which the next change is told.
    assert max(sizes) <= 64, sizes


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize("dropped", ["answers", "changes"])
def test_nothing_stays_that_one_has_read_and_nobody_else_will(text: str, dropped: str) -> None:
    session, query = _session(text)
    sizes = []
    for number in range(12):
        _push(session, number, 700)
        if dropped == "answers":
            query.changes()
            query._drop_answers()
        else:
            query.answers()
            query._publisher.drop_changes()
        sizes.append(query._publisher._feed._updates.nbytes)
    assert max(sizes) <= 64, sizes


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize("first", ["answers", "changes"])
def test_a_reading_that_breaks_off_loses_nothing(
    text: str, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, query = _session(text)
    twin_session, twin = _session(text)
    names = [first, "changes" if first == "answers" else "answers"]
    for number in range(6):
        for each in (session, twin_session):
            _push(each, number, 300)
        for name in names:
            _breaks_off(query, name, monkeypatch)
            assert getattr(query, name)().equals(getattr(twin, name)())
    assert query.result().equals(twin.result())


def _breaks_off(query: EmbeddedQuery, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the reading lets go of something, memory is short."""

    def short(*_: Any) -> Any:
        raise MemoryError

    query.ledger()  # what waits is applied before
    with monkeypatch.context() as patch:
        patch.setattr(Backlog, "after", short)
        feed = query._publisher._feed
        before = vars(feed).copy()
        try:
            getattr(query, name)()
        except MemoryError:
            assert all(vars(feed)[name] is value for name, value in before.items())
        else:
            # Nothing was let go of, and all was given: it is given once more for the twin's sake.
            vars(feed).update(before)
