"""An exception at every place of what subscribers bring about: each is told all, and once.

The same is done to a second session, which nothing disturbs; what was taken is told by the ledger.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pytest

import windrow
from support.faults import Injected, chosen_places, fails_at, places_of
from windrow.embedded import EmbeddedSession
from windrow.embedded.query import EmbeddedQuery
from windrow.events.answer import Answer
from windrow.events.subscriptions import Change

# Where the exception hits a generator that is being thrown away, Python swallows it, and says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

START, SECOND = 1_767_225_600_000_000, 1_000_000
TEXTS = {
    "whole": "SELECT COUNT(*) AS n, SUM(v) AS s FROM a [3 SECONDS]",
    "grouped": "SELECT k, SUM(d) AS s, MAX(v) AS h FROM a [4 SECONDS] GROUP BY k",
    "select": "SELECT k, v FROM a [3 SECONDS] WHERE v > 1",
    "join": "SELECT COUNT(*) AS n FROM a [2 SECONDS], a [3 SECONDS] b WHERE a.k = b.k AND a.v < b.v",
    "every": "SELECT COUNT(*) AS n FROM a [6 SECONDS] EVERY (2 SECONDS)",
    "a tree": "SELECT k, COUNT(*) AS n FROM a [5 SECONDS] GROUP BY k ORDER BY n DESC, k LIMIT 2",
}
NAN = float("nan")
SCHEMA = pa.schema(
    [("ts", pa.timestamp("us", tz="UTC")), ("k", pa.int32()), ("v", pa.int32()), ("d", pa.float64())]
)
# What is done: the kind, a time in tenths of seconds and the values of k, v and d.
STEPS: list[tuple[str, int, tuple[int, int, float]]] = [
    ("row", 70, (1, 2, 0.5)),
    ("row", 82, (2, 3, 1.5)),
    ("Arrow", 83, (2, 4, 2.5)),
    ("row", 84, (1, 5, 0.25)),
    ("row", 95, (1, 5, 0.25)),
    ("answers", 0, (0, 0, 0.0)),
    ("row", 96, (2, 1, NAN)),
    ("row", 97, (2, 2, 1.0)),
    ("advance", 200, (0, 0, 0.0)),
    ("row", 205, (1, 3, 1.0)),
]


@dataclass
class Listened:
    """A session with the answers and the changes that its queries tell."""

    session: EmbeddedSession
    queries: dict[str, EmbeddedQuery] = field(default_factory=dict)
    heard: dict[str, list[tuple[datetime | None, list[str]]]] = field(default_factory=dict)
    rows: dict[str, Counter[str]] = field(default_factory=dict)
    answers: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def of(cls, chosen: list[str], clock: str) -> Listened:
        made = cls(windrow.connect(clock=clock))
        made.session.stream("a", "ts timestamp, k int, v int, d double", time="ts")
        for name in chosen:
            query = made.session.query(TEXTS[name])
            assert isinstance(query, EmbeddedQuery)
            made.queries[name] = query
            made.listen(name)
        for second in range(6):
            made.do("row", 10 * second + 1, (second % 3, second, second / 4))
        return made

    def listen(self, name: str) -> None:
        heard = self.heard[name] = []
        rows = self.rows[name] = Counter()
        self.answers[name] = []

        def answered(answer: Answer) -> None:
            heard.append((answer.at, sorted(map(repr, answer))))

        def changed(change: Change) -> None:
            rows[repr(change.row)] += change.change

        rows.update(map(repr, self.queries[name].latest()))
        self.queries[name].on_answer(answered)
        self.queries[name].on_change(changed)

    def do(self, kind: str, at: int, values: tuple[int, int, float]) -> None:
        at_us = START + at * SECOND // 10
        if kind == "advance":
            self.session.advance("a", to=at_us)
        elif kind == "answers":
            for name, query in self.queries.items():
                self.answers[name] += query.answers().to_pylist()
        elif kind == "Arrow":
            row = dict(zip(SCHEMA.names, (at_us, *values), strict=True))
            self.session.push("a", pa.RecordBatch.from_pylist([row], SCHEMA))
        else:
            self.session.push("a", (at_us, *values))

    @property
    def taken(self) -> int:
        return int(self.session.ledger()["rows_in"].to_pylist()[0])

    def shown(self, name: str) -> Counter[str]:
        return +self.rows[name]


def do_all(watched: Listened, other: Listened | None = None) -> None:
    """All steps; with another session, those that break off are done again if they did nothing."""
    for kind, at, values in STEPS:
        if other is None:
            watched.do(kind, at, values)
            continue
        if kind != "answers":
            other.do(kind, at, values)
        try:
            watched.do(kind, at, values)
        except (Injected, KeyboardInterrupt, MemoryError):
            if kind == "advance" or (kind != "answers" and watched.taken < other.taken):
                watched.do(kind, at, values)


@pytest.mark.parametrize("clock", ["complete", "arrival"])
@pytest.mark.parametrize(
    "chosen", [["whole", "select"], ["grouped", "join"], ["every", "a tree"]], ids="-".join
)
def test_all_are_told_once(chosen: list[str], clock: str, is_whole: bool) -> None:
    first = Listened.of(chosen, clock)
    places = places_of(lambda: do_all(first))
    problems = (Injected, KeyboardInterrupt, MemoryError)
    for place in chosen_places(places, is_whole, 12):
        watched, other = Listened.of(chosen, clock), Listened.of(chosen, clock)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            where = fails_at(
                lambda watched=watched, other=other: do_all(watched, other),  # type: ignore[misc]
                place,
                problems[place % 3](),,
            )
        for each in (watched, other):
            each.do("row", 230, (1, 1, 1.0))
            each.do("row", 231, (2, 2, 1.0))
        for name, query in watched.queries.items():
            result = query.result().to_pylist()
            assert sorted(map(repr, result)) == sorted(
                map(repr, other.queries[name].result().to_pylist())
            ), where
            assert watched.shown(name) == Counter(map(repr, result)), (name, where)
            assert watched.heard[name] == other.heard[name], (name, where)
