"""An exception at every place of push() and its kin leaves answers that are right, or none.

What is taken is told by the ledger: a push that failed was taken whole or not at all. Afterwards
answers, changes and result are those of a session that nothing disturbed, over the same rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

import windrow
from support.faults import chosen_places, fails_at, places_of

# Where the exception hits a generator that is being thrown away, Python swallows it, and says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

START = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = "ts timestamp, k int, g string, v bigint, d double"
Rows = list[dict[str, Any]]

JOIN = "FROM a [6 SECONDS], b [4 SECONDS] WHERE a.k = b.k"
FORMS = {
    "count": "SELECT COUNT(*) AS n FROM a [5 SECONDS]",
    "grouped": "SELECT g, COUNT(*) AS n, SUM(v) AS s, AVG(d) AS m FROM a [5 SECONDS] GROUP BY g",
    "extremes": "SELECT g, MIN(v) AS low, MAX(d) AS high FROM a [5 SECONDS] GROUP BY g",
    "distinct": "SELECT COUNT(DISTINCT g) AS n FROM a [5 SECONDS]",
    "slide": "SELECT g, SUM(v) AS s FROM a [RANGE 6 SECONDS SLIDE 2 SECONDS] GROUP BY g",
    "rows": "SELECT g, SUM(v) AS s, MAX(v) AS x FROM a [ROWS 20] GROUP BY g",
    "partition": "SELECT k, SUM(v) AS s FROM a [PARTITION BY k ROWS 3] GROUP BY k",
    "unbounded": "SELECT g, COUNT(*) AS n, SUM(v) AS s, SUM(d) AS d FROM a [UNBOUNDED] GROUP BY g",
    "unbounded best": "SELECT g, MAX(v) AS x, COUNT(DISTINCT k) AS n FROM a [UNBOUNDED] GROUP BY g",
    "ticks": "SELECT g, COUNT(*) AS n FROM a [5 SECONDS] GROUP BY g HAVING COUNT(*) > 1 EVERY (1)",
    "join": f"SELECT COUNT(*) AS n, SUM(a.v) AS s {JOIN}",
    "join by key": f"SELECT a.k, COUNT(*) AS n, SUM(b.d) AS s {JOIN} GROUP BY a.k",
    "join by both": f"SELECT a.g, b.g AS h, COUNT(*) AS n {JOIN} GROUP BY a.g, b.g",
    "join extremes": f"SELECT a.g, MAX(b.v) AS x {JOIN} GROUP BY a.g",
    "join best": f"SELECT MAX(b.v) AS x, SUM(a.v) AS s {JOIN}",
    "join distinct": f"SELECT COUNT(DISTINCT a.g) AS n {JOIN}",
    "star": "SELECT COUNT(*) AS n, SUM(b.v) AS s FROM a [6 SECONDS], b [4 SECONDS],"
    " a [3 SECONDS] AS c WHERE a.k = b.k AND b.k = c.k",
    "chain": "SELECT COUNT(*) AS n FROM a [6 SECONDS], b [4 SECONDS], a [3 SECONDS] AS c"
    " WHERE a.k = b.k AND b.g = c.g",
    "join residual": f"SELECT COUNT(*) AS n, MIN(a.v) AS x {JOIN} AND a.v < b.v",
    "join sums": f"SELECT a.g, COUNT(*) AS n, SUM(b.v) AS s {JOIN} AND a.v < b.v GROUP BY a.g",
    "select": "SELECT g, v FROM a [5 SECONDS] WHERE v > 2",
    "select distinct": "SELECT DISTINCT g FROM a [5 SECONDS]",
    "select join": f"SELECT a.g, b.v {JOIN}",
    "anti join": "SELECT a.g, a.v FROM a [5 SECONDS] LEFT ANTI JOIN b [3 SECONDS] ON a.k = b.k",
    "error": "SELECT g, COUNT(*) AS n FROM a [5 SECONDS] GROUP BY g ERROR (10%)",
}
TREES = {
    "tree left join": "SELECT a.g, b.v FROM a [5 SECONDS] LEFT JOIN b [3 SECONDS] ON a.k = b.k",
    "tree of counts": "SELECT n, COUNT(*) AS m FROM"
    " (SELECT g, COUNT(*) AS n FROM a [5 SECONDS] GROUP BY g) AS q GROUP BY n",
    "tree scalar": "SELECT k, v FROM a [5 SECONDS] WHERE v >"
    " (SELECT AVG(v) FROM b [5 SECONDS] WHERE b.k = a.k)",
    "tree top": "SELECT g, v FROM a [ROWS 20] WHERE k IN (SELECT k FROM b [3 SECONDS])"
    " ORDER BY d DESC LIMIT 3",
    "tree union": "SELECT k, g FROM a [PARTITION BY k ROWS 3]"
    " EXCEPT ALL SELECT k, g FROM b [2 SECONDS]",
    "tree numbers": "SELECT g, v, RANK() OVER (PARTITION BY k ORDER BY v) AS r FROM a [5 SECONDS]",
    "tree ticks": "SELECT g, MIN(h) AS h FROM (SELECT DISTINCT a.g, b.g AS h FROM a [5 SECONDS]"
    " FULL JOIN b [3 SECONDS] ON a.k = b.k AND a.v < b.v) AS q GROUP BY g EVERY (1)",
    "tree of answers": "SELECT g, MAX(n) AS n FROM (SELECT g, COUNT(*) AS n FROM a [3 SECONDS]"
    " GROUP BY g EVERY (1)) [4 SECONDS] AS q GROUP BY g",
    "tree unbounded": "SELECT n, COUNT(*) AS m FROM"
    " (SELECT k, COUNT(*) AS n, MIN(g) AS g FROM a GROUP BY k) AS q GROUP BY n",
}
FORMS |= TREES
ALGORITHMS = {
    "pipelined": "join residual",
    "incremental": "join sums",
    "charged": "join extremes",
}
CASES = {name: (text, "auto") for name, text in FORMS.items()}
CASES |= {name: (FORMS[form], name) for name, form in ALGORITHMS.items()}


def rows_from(second: float, count: int, seed: int) -> Rows:
    """Rows of about two seconds, some out of order, with ties, NULL and NaN."""
    draw = random.Random(seed)
    return [
        {
            "ts": START + timedelta(seconds=second, milliseconds=draw.randrange(0, 20) * 100),
            "k": draw.choice([1, 2, 3, None]),
            "g": draw.choice(["x", "yy", "é", None]),
            "v": draw.choice([1, 2, 3, 7, None]),
            "d": draw.choice([0.5, 1e16, -1e16, float("nan"), None]),
        }
        for _ in range(count)
    ]


@dataclass
class Run:
    """A session with one query, or several that share rows."""

    session: Any
    queries: list[Any]
    extra: Any = None

    @classmethod
    def of(cls, *cases: tuple[str, str]) -> Run:
        session = windrow.connect()
        for name in "ab":
            session.stream(name, SCHEMA, time="ts", lateness="2 seconds")
        return cls(session, [session.query(text, algorithm=how) for text, how in cases])

    def push(self, number: int) -> None:
        """The push of that number: of both streams in turn, of many rows and of few."""
        stream, count = "ab"[number % 2], (40, 30, 45, 1, 0)[number % 5]
        rows = rows_from(number * 0.9, count, seed=number)
        table = pa.Table.from_pylist(rows, schema=SCHEMA_ARROW)
        self.session.push(stream, table)

    def rows_taken(self) -> list[int]:
        """What the ledger says was taken; it balances."""
        taken = []
        for row in self.session.ledger().to_pylist():
            counts = {name: count for name, count in row.items() if isinstance(count, int)}
            assert counts.pop("rows_in") == sum(counts.values())
            taken.append(sum(counts.values()) - counts["rejected"])
        return taken

    def outcome(self) -> list[Any]:
        """All that a reader sees."""
        return [
            [each.changes().to_pylist(), each.answers().to_pylist(), each.result().to_pylist()]
            for each in self.queries
        ]


SCHEMA_ARROW = pa.schema(
    {
        "ts": pa.timestamp("us", "UTC"),
        "k": pa.int32(),
        "g": pa.string(),
        "v": pa.int64(),
        "d": pa.float64(),
    }
)
Operation = Callable[[Run], object]


def a_run(cases: list[tuple[str, str]], operation: Operation, *, is_done: bool) -> list[Any]:
    """What a session shows that nothing disturbs."""
    run = begun(cases)
    if is_done:
        operation(run)
    return rest_of(run)


def rest_of(run: Run) -> list[Any]:
    first = run.outcome()
    with suppress(windrow.DataError):  # WD120: the operation was finish(), and it is done
        for number in range(7, 11):
            run.push(number)
    run.session.finish()
    return [first, run.outcome(), run.rows_taken()]


def begun(cases: list[tuple[str, str]]) -> Run:
    run = Run.of(*cases)
    run.extra = run.session.query(ANOTHER)
    for number in range(6):
        run.push(number)
    return run


def check_places(
    cases: list[tuple[str, str]], operation: Operation, is_whole: bool, few: int
) -> None:
    """An exception at each place, or at some, of the operation."""
    done = repr(a_run(cases, operation, is_done=True))
    not_done = repr(a_run(cases, operation, is_done=False))
    run = begun(cases)
    places = places_of(lambda: operation(run))
    for place in chosen_places(places, is_whole, few):
        run = begun(cases)
        problem = KeyboardInterrupt() if place % 2 else MemoryError()
        where = fails_at(lambda run=run: operation(run), place, problem)
        try:
            found = repr(rest_of(run))
        except Exception as wrong:
            raise AssertionError(f"place {place} ({where})") from wrong
        assert found in (done, not_done), f"place {place} ({where})"


def push_six(run: Run) -> None:
    run.push(6)


@pytest.mark.parametrize("name", CASES)
def test_push(name: str, is_whole: bool) -> None:
    check_places([CASES[name]], push_six, is_whole, few=25)


def test_push_to_queries_that_share_rows(is_whole: bool) -> None:
    cases = [CASES[name] for name in ("count", "grouped", "join", "join by key", "extremes")]
    check_places(cases, push_six, is_whole, few=60)


def advanced(run: Run) -> None:
    run.session.advance("a", to=START + timedelta(seconds=9))


@pytest.mark.parametrize(
    "name",
    ["grouped", "join by key", "select", "error", "unbounded best", "tree top", "tree of answers"],
)
def test_advance(name: str, is_whole: bool) -> None:
    check_places([CASES[name]], advanced, is_whole, few=25)


@pytest.mark.parametrize("name", ["extremes", "join", "select distinct", "partition", *TREES])
def test_finish(name: str, is_whole: bool) -> None:
    check_places([CASES[name]], lambda run: run.session.finish(), is_whole, few=25)


@pytest.mark.parametrize("name", ["grouped", "join", "select", "error", "tree top"])
def test_looking(name: str, is_whole: bool) -> None:
    """What takes nothing away changes nothing when it is broken off."""
    for look in (
        lambda run: run.queries[0].result(),
        lambda run: run.queries[0].explain(),
        lambda run: run.session.ledger(),
        lambda run: run.session.windows(),
        lambda run: run.session.metrics(),
    ):
        check_places([CASES[name]], look, is_whole, few=5)


@pytest.mark.parametrize("name", ["grouped", "join", "select", "ticks", "tree left join"])
@pytest.mark.parametrize("read", ["answers", "changes"])
def test_reading(name: str, read: str, is_whole: bool) -> None:
    """A read that is broken off has taken everything, or nothing."""

    def reads(run: Run) -> None:
        getattr(run.queries[0], read)()

    check_places([CASES[name]], reads, is_whole, few=10)


ANOTHER = "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM a [7 SECONDS] GROUP BY k"


def registers(run: Run) -> None:
    run.session.query(ANOTHER, name="another")


def registers_late(run: Run) -> None:
    run.queries.append(run.session.query(ANOTHER, name="late"))


@pytest.mark.parametrize("name", ["grouped", "join", "select", "tree of answers"])
def test_registering(name: str, is_whole: bool) -> None:
    """A query that is broken off while it is registered disturbs neither others nor later ones."""
    cases = [CASES[name]]
    whole = repr(a_run(cases, registers_late, is_done=True))
    run = begun(cases)
    places = places_of(lambda: registers(run))
    for place in chosen_places(places, is_whole, few=40):
        run = begun(cases)
        where = fails_at(lambda run=run: registers(run), place, KeyboardInterrupt())
        registers_late(run)
        assert repr(rest_of(run)) == whole, f"place {place} ({where})"


@pytest.mark.parametrize("name", ["grouped", "join", "select"])
def test_stopping(name: str, is_whole: bool) -> None:
    """A query that is broken off while it stops can be stopped again; others go on."""

    def stops(run: Run) -> None:
        run.extra.stop()

    check_places([CASES[name]], stops, is_whole, few=25)
