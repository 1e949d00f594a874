"""An exception at every place of what runs do: the next answers are right.

What was taken is told by the ledger. A second session, which nothing disturbs and which nobody
reads row by row, is given the same rows; every latest() is held against its result().
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import windrow
from support.faults import Injected, chosen_places, fails_at, places_of
from windrow.embedded import EmbeddedSession
from windrow.embedded.query import EmbeddedQuery
from windrow.rows import gathered_rows

# Where the exception hits a generator that is being thrown away, Python swallows it, and says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

START = 1_767_225_600_000_000
COLUMNS = "ts timestamp, k int, v int, d double"
TEXTS = (
    "SELECT COUNT(*) AS n, SUM(v) AS s FROM a [2 SECONDS]",
    "SELECT k, AVG(v) AS m, MAX(v) AS h FROM a [2 SECONDS] GROUP BY k",
    "SELECT COUNT(*) AS n FROM a [2 SECONDS], a [3 SECONDS] b WHERE a.k = b.k AND a.v < b.v",
    "SELECT MIN(v) AS l, MAX(v) AS h, SUM(d) AS s FROM a [1 SECONDS]",
    "SELECT k, v FROM a [1 SECONDS] WHERE v > 2",
    "SELECT COUNT(*) AS n, SUM(a.v) AS s FROM a [2 SECONDS], a [3 SECONDS] b WHERE a.k = b.k",
)
GROUPS = ("SELECT k, COUNT(*) AS n FROM a [9 SECONDS] GROUP BY k",)
FEW_KEYS, MANY_KEYS = 30, 80


@dataclass
class Watched:
    """A session whose queries are read after every row, and one that is given the same rows."""

    session: EmbeddedSession
    queries: list[EmbeddedQuery]
    keys: int
    plain: EmbeddedSession
    wanted: list[EmbeddedQuery]
    pushed: int = 0
    nan_at: int | None = None  # the number of a row that has NaN

    @classmethod
    def of(cls, texts: tuple[str, ...], keys: int, **options: Any) -> Watched:
        sessions = [windrow.connect(**options) for _ in range(2)]
        listed = []
        for session in sessions:
            session.stream("a", COLUMNS, time="ts")
            queries = [session.query(text) for text in texts]
            listed.append([query for query in queries if isinstance(query, EmbeddedQuery)])
        return cls(sessions[0], listed[0], keys, sessions[1], listed[1])

    @property
    def row(self) -> tuple[Any, ...]:
        """The next row."""
        at = START + self.pushed * 100_000
        double = float("nan") if self.pushed == self.nan_at else self.pushed / 8
        return at, self.pushed % self.keys, self.pushed % 7, double

    def push(self) -> None:
        """One row, for the watched session alone."""
        self.session.push("a", self.row)

    def read(self) -> None:
        for query in self.queries:
            query.latest()

    def event(self) -> None:
        self.push()
        self.read()

    def follow(self) -> None:
        """The other session gets the row, if the watched one has it; then the next row is due."""
        taken = self.session.ledger()["rows_in"].to_pylist()[0]
        if taken > self.plain.ledger()["rows_in"].to_pylist()[0]:
            self.plain.push("a", self.row)
        self.pushed += 1

    def go_on(self, rows: int) -> None:
        """So many events."""
        for _ in range(rows):
            self.event()
            self.plain.push("a", self.row)
            self.pushed += 1

    def with_runs(self) -> Watched:
        """Every query has its run by now."""
        self.go_on(self.keys)
        for _ in range(4):
            self.read()
        assert all(query.has_run for query in self.queries)
        return self

    def check(self, where: str) -> None:
        for query, other in zip(self.queries, self.wanted, strict=True):
            found, wanted = query.latest(), other.result().to_pylist()
            assert sorted(map(repr, found)) == sorted(map(repr, wanted)), where


def check_places(
    begin: Callable[[], Watched], operation: Callable[[Watched], object], is_whole: bool, few: int
) -> None:
    """An exception at places of an operation that has the next row, or that has none."""
    watched = begin()
    places = places_of(lambda: operation(watched))
    problems = (Injected, KeyboardInterrupt, MemoryError)
    for place in chosen_places(places, is_whole, few):
        watched = begin()
        where = fails_at(lambda watched=watched: operation(watched), place, problems[place % 3]())  # type: ignore[misc]
        watched.read()  # before anything else is looked at, which may mend what is wrong
        watched.follow()
        watched.check(where)
        for _ in range(8):
            watched.go_on(1)
            watched.check(where)


@pytest.mark.parametrize("clock", ["complete", "arrival"])
@pytest.mark.parametrize(
    ("texts", "keys"), [(TEXTS, FEW_KEYS), (GROUPS, MANY_KEYS)], ids=["few", "many"]
)
def test_an_event(texts: tuple[str, ...], keys: int, clock: str, is_whole: bool) -> None:
    check_places(
        lambda: Watched.of(texts, keys, clock=clock).with_runs(), Watched.event, is_whole, 40
    )


@pytest.mark.parametrize("texts", [TEXTS[:3], TEXTS[3:]], ids=["first", "others"])
def test_building_runs_that_go_together(texts: tuple[str, ...], is_whole: bool) -> None:
    def begin() -> Watched:
        watched = Watched.of(texts, FEW_KEYS).with_runs()
        for query in watched.queries[1:]:
            query.events.drop()
        watched.go_on(1)
        return watched

    check_places(begin, Watched.event, is_whole, 40)


def test_rows_that_are_taken_together(is_whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered_rows, "GATHERED_ROWS", FEW_KEYS + 1)
    check_places(lambda: Watched.of(TEXTS, FEW_KEYS).with_runs(), Watched.event, is_whole, 60)


def test_a_run_that_nobody_has_read_for_long(
    is_whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathered_rows, "GATHERED_ROWS", 5)

    def begin() -> Watched:
        watched = Watched.of(TEXTS[:3], FEW_KEYS).with_runs()
        while watched.queries[1].events._batches < 2:  # the others are read
            watched.push()
            watched.plain.push("a", watched.row)
            watched.pushed += 1
            watched.queries[0].latest()
        return watched

    def five_events(watched: Watched) -> None:
        for number in range(5):
            watched.push()
            watched.queries[0].latest()
            if number < 4:
                watched.plain.push("a", watched.row)
                watched.pushed += 1
        assert not watched.queries[1].has_run

    check_places(begin, five_events, is_whole, 40)


def test_a_run_for_which_there_is_no_room(is_whole: bool) -> None:
    """What the budget refuses is dropped when gathered rows are applied."""

    def begin() -> Watched:
        watched = Watched.of(TEXTS[:3], FEW_KEYS).with_runs()
        watched.session._ingest.memory = 8  # an eighth of it is for runs
        return watched

    def looks(watched: Watched) -> None:
        watched.push()
        watched.queries[0].result()
        assert not any(query.has_run for query in watched.queries)

    check_places(begin, looks, is_whole, 40)


def test_a_value_that_a_run_gives_up(is_whole: bool) -> None:
    def begin() -> Watched:
        watched = Watched.of(TEXTS[3:5], FEW_KEYS).with_runs()
        watched.nan_at = watched.pushed
        return watched

    check_places(begin, Watched.event, is_whole, 30)


def test_a_query_that_is_stopped_among_others(is_whole: bool) -> None:
    def begin() -> Watched:
        watched = Watched.of(TEXTS[:4], FEW_KEYS).with_runs()
        watched.queries.append(watched.queries.pop(1))  # the one to be stopped is the last
        watched.wanted.append(watched.wanted.pop(1))
        return watched

    def stops(watched: Watched) -> None:
        watched.queries[-1].stop()

    first = begin()
    for place in chosen_places(places_of(lambda: stops(first)), is_whole, 30):
        watched = begin()
        where = fails_at(lambda watched=watched: stops(watched), place, KeyboardInterrupt())  # type: ignore[misc]
        watched.queries.pop().stop()
        watched.wanted.pop()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(8):
                watched.go_on(1)
                watched.check(where)
