"""An exception at every place of what subscribers bring about: each is told all, and once.

The same is done to a second session, which nothing disturbs; what was taken is told by the ledger.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

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
    "join": "SELECT COUNT(*) AS n FROM a [2 SECONDS], a [3 SECONDS] b WHERE a.k = b.k AND a.v < 4",
    "every": "SELECT COUNT(*) AS n FROM a [6 SECONDS] EVERY (2 SECONDS)",
    "a tree": "SELECT k, COUNT(*) AS n FROM a [5 SECONDS] GROUP BY k ORDER BY n DESC, k LIMIT 2",
}
NAN = float("nan")
SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", tz="UTC")),
        ("k", pa.int32()),
        ("v", pa.int32()),
        ("d", pa.float64()),
    ]
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

FIRST_ROWS = 6


@dataclass
class Listened:
    """A session with the answers and the changes that its queries tell."""

    session: EmbeddedSession
    queries: dict[str, EmbeddedQuery] = field(default_factory=dict)
    heard: dict[str, list[tuple[int, list[str]]]] = field(default_factory=dict)
    rows: dict[str, Counter[str]] = field(default_factory=dict)
    answers: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, chosen: list[str], clock: str) -> Listened:
        made = cls(windrow.connect(clock=clock))
        made.session.stream("a", "ts timestamp, k int, v int, d double", time="ts")
        for name in chosen:
            query = made.session.query(TEXTS[name])
            assert isinstance(query, EmbeddedQuery)
            made.queries[name] = query
            made.listen(name)
        for second in range(FIRST_ROWS):
            made.do("row", 10 * second + 1, (second % 3, second, second / 4))
        return made

    def listen(self, name: str) -> None:
        heard = self.heard[name] = []
        rows = self.rows[name] = Counter()
        self.answers[name] = []

        def answered(answer: Answer) -> None:
            heard.append((answer.at_us, sorted(map(repr, answer))))

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
                self.answers[name] += map(repr, query.answers().to_pylist())
        elif kind == "Arrow":
            row = dict(zip(SCHEMA.names, (at_us, *values), strict=True))
            self.session.push("a", pa.RecordBatch.from_pylist([row], SCHEMA))
        else:
            self.session.push("a", (at_us, *values))

    @property
    def taken(self) -> int:
        return int(self.session.ledger()["rows_in"].to_pylist()[0])

    def end(self) -> None:
        """Two more rows: by then everyone was told of all before them."""
        self.do("row", 230, (1, 1, 1.0))
        self.do("row", 231, (2, 2, 1.0))
        self.do("answers", 0, (0, 0, 0.0))


def do_rest(watched: Listened, done: list[str]) -> None:
    """The steps that are left; done: the kinds of those that were made."""
    for step in STEPS[len(done) :]:
        watched.do(*step)
        done.append(step[0])


def do_broken(watched: Listened, done: list[str]) -> None:
    """The step that was broken off, unless its row was taken."""
    step = STEPS[len(done)]
    rows = FIRST_ROWS + done.count("row") + done.count("Arrow")
    if step[0] == "advance" or (step[0] in ("row", "Arrow") and watched.taken == rows):
        watched.do(*step)
    done.append(step[0])


@pytest.mark.parametrize("clock", ["complete", "arrival"])
@pytest.mark.parametrize(
    "chosen", [["whole", "select"], ["grouped", "join"], ["every", "a tree"]], ids="-".join
)
def test_all_are_told_once(chosen: list[str], clock: str, is_whole: bool) -> None:
    first, other = Listened.of(chosen, clock), Listened.of(chosen, clock)
    places = places_of(lambda: do_rest(first, []))
    do_rest(other, [])
    other.end()
    problems = (Injected, KeyboardInterrupt, MemoryError)
    for place in chosen_places(places, is_whole, 12):
        watched, done = Listened.of(chosen, clock), list[str]()
        problem = problems[place % 3]()
        where = fails_at(lambda of=watched, to=done: do_rest(of, to), place, problem)  # type: ignore[misc]
        broken = "" if len(done) == len(STEPS) else STEPS[len(done)][0]
        if broken:
            do_broken(watched, done)
            do_rest(watched, done)
        watched.end()
        for name, query in watched.queries.items():
            result = Counter(map(repr, query.result().to_pylist()))
            assert result == Counter(map(repr, other.queries[name].result().to_pylist())), where
            assert +watched.rows[name] == result, (name, where)
            assert watched.heard[name] == other.heard[name], (name, where)
            if broken != "answers":  # then those are lost that it would have returned
                assert watched.answers[name] == other.answers[name], (name, where)
