"""Queries of one session that share rows: each gives, bit for bit, what it gives alone."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.runners import BEGINNING, Model
from support.streams import (
    STREAMS,
    Action,
    Heartbeat,
    Push,
    batch_of,
    instant,
    queries,
    scenarios,
    single_queries,
)
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.errors import DataError

# When a query is registered and when it is stopped, in actions from the beginning.
Plan = tuple[str, int, int]

plans = st.lists(
    st.tuples(
        st.one_of(single_queries(), single_queries(), queries),
        st.sampled_from([0, 0, 0, 2, 5]),
        st.sampled_from([4, 99, 99]),
    ),
    min_size=2,
    max_size=4,
)


def session_of() -> EmbeddedSession:
    session = EmbeddedSession("1 GB")
    for name, schema in STREAMS.items():
        session.stream(name, schema.arrow, time=schema.time, lateness=schema.lateness_us / 1e6)
    return session


def take(session: EmbeddedSession, action: Action) -> None:
    if isinstance(action, Heartbeat):
        session.advance(action.stream, to=action.to_us)
    else:
        session.push(action.stream, batch_of(action.stream, action.rows))


def run(actions: list[Action], chosen: list[Plan]) -> list[list[pa.Table]]:
    """The answers, changes and result of each query, all in one session."""
    session = session_of()
    running: dict[int, EmbeddedQuery] = {}
    for number, action in enumerate([*actions, None]):
        for index, (text, starts, stops) in enumerate(chosen):
            if number == min(starts, len(actions)):
                running[index] = session.query(text, name=f"q{index}")
            if number == stops and index in running:
                running[index].stop()
        if action is not None:
            take(session, action)
    session.finish()
    return [
        [query.answers(), query.changes(), query.result()] for _, query in sorted(running.items())
    ]


@given(scenarios(), plans)
def test_each_query_gives_what_it_gives_alone(actions: list[Action], chosen: list[Plan]) -> None:
    try:
        alone = [run(actions, [each])[0] for each in chosen]
    except DataError:  # a sum beyond its type: told by the tests of sums
        return
    together = run(actions, chosen)
    for (text, *_), one, several in zip(chosen, alone, together, strict=True):
        for wanted, found in zip(one, several, strict=True):
            assert repr(found.to_pylist()) == repr(wanted.to_pylist()), text


def test_rows_are_held_once() -> None:
    rows = [
        {"ts": instant(second * 1_000_000), "k": second % 7, "d": float(second), "l": second}
        for second in range(5_000)
    ]
    texts = [
        "SELECT COUNT(*) AS n FROM a [2 HOURS]",
        "SELECT SUM(d) AS s, AVG(l) AS m FROM a [90 MINUTES]",
        "SELECT k, SUM(d) AS s FROM a [2 HOURS] GROUP BY k EVERY (1 MINUTE)",
        "SELECT AVG(d) AS m FROM a [80 MINUTES]",
    ]

    def held(chosen: list[str]) -> int:
        session = session_of()
        for text in chosen:
            session.query(text)
        for first in range(0, 5_000, 500):
            session.push("a", batch_of("a", tuple(rows[first : first + 500])))
        return session.nbytes

    together, apart = held(texts), sum(held([text]) for text in texts)
    assert together < 0.6 * apart
    widest = held([texts[2]])
    # Beside the widest window's rows: a second value, and a code for each of the others.
    assert together < 2.2 * widest


# Extremes, different values, chains and stars, and joins pair by pair. {w} is a width in minutes.
OF_ALL_OPERATORS = [
    "SELECT MAX(d) AS m FROM a [{w} MINUTES] EVERY (1 MINUTE)",
    "SELECT COUNT(DISTINCT k) AS m FROM a [{w} MINUTES] EVERY (1 MINUTE)",
    "SELECT COUNT(*) AS n FROM a [{w} MINUTES] x, b [{w} MINUTES] y, a [{w} MINUTES] z "
    "WHERE x.k = y.k AND y.l = z.l EVERY (1 MINUTE)",
    "SELECT MIN(x.d) AS n, SUM(y.d) AS s FROM a [{w} MINUTES] x, b [{w} MINUTES] y "
    "WHERE x.k = y.k EVERY (1 MINUTE)",
    "SELECT COUNT(*) AS n FROM a [{w} SECONDS] x, b [{w} SECONDS] y "
    "WHERE x.k = y.k AND x.d > y.d EVERY (1 MINUTE)",
    "SELECT x.k, MAX(x.d + y.d) AS n FROM a [{w} SECONDS] x, b [{w} SECONDS] y "
    "WHERE x.k = y.k AND x.l <= y.l GROUP BY x.k EVERY (1 MINUTE)",
]


@pytest.mark.parametrize("text", OF_ALL_OPERATORS)
def test_queries_of_all_operators_hold_rows_once(text: str) -> None:
    rows = [
        {"ts": instant(second * 1_000_000), "k": second % 7, "d": float(second % 91), "l": second}
        for second in range(4_000)
    ]

    def columns_held(count: int) -> tuple[int, int]:
        """Bytes of times and values, and of what is each query's own."""
        session = session_of()
        queries = [session.query(text.format(w=100 - number)) for number in range(count)]
        for first in range(0, 4_000, 500):
            for stream in "ab":
                session.push(stream, batch_of(stream, tuple(rows[first : first + 500])))
        assert all(len(query.readers) == len(query.windows) for query in queries)
        windows = [window for query in queries for window in query.windows]
        stores = {id(each.columns.store): each.columns.store for each in windows}
        own = sum(window.columns.nbytes for window in windows)
        return sum(each.nbytes for each in stores.values()), own

    one, own = columns_held(1)
    assert columns_held(2) == (one, 2 * own)
    assert columns_held(10) == (one, 10 * own)


def test_a_short_window_does_not_keep_what_it_makes_of_a_long_ones_rows() -> None:
    rows = tuple({"ts": instant(n * 1_000_000), "d": float(n % 91)} for n in range(3_000))

    def held(*texts: str) -> int:
        session = session_of()
        for text in texts:
            session.query(text)
        for first in range(0, 3_000, 500):
            session.push("a", batch_of("a", rows[first : first + 500]))
        return session.nbytes

    long = "SELECT MAX(d) AS m FROM a [40 MINUTES] EVERY (1 MINUTE)"
    short = "SELECT MAX(d) AS m FROM a [1 MINUTE] EVERY (1 MINUTE)"
    assert held(long, short) < held(long) + 2 * held(short)


def test_what_nobody_reads_is_given_back() -> None:
    session = session_of()
    first = session.query("SELECT SUM(d) AS s FROM a [1 HOUR]")
    second = session.query("SELECT SUM(l) AS s FROM a [1 HOUR]")
    rows = tuple({"ts": instant(n * 1000), "d": 1.0, "l": 2} for n in range(3_000))
    session.push("a", batch_of("a", rows))
    both = session.nbytes
    first.stop()
    one = session.nbytes
    assert one < both - 3_000 * 8
    session.push("a", batch_of("a", ({"ts": instant(3_000_000), "d": 1.0, "l": 2},)))
    session.finish()
    assert second.result().to_pylist() == [{"s": 6_002}]
    second.stop()
    assert session.nbytes == 0


@st.composite
def lives(draw: st.DrawFn) -> tuple[list[Action], str, int, int]:
    actions = draw(scenarios(streams="a"))
    text = draw(single_queries())
    times = [row["ts"] for action in actions if isinstance(action, Push) for row in action.rows]
    start = min(times, default=instant(0))
    start_us = int(start.timestamp() * 1_000_000)  # type: ignore[attr-defined]
    begin = start_us + draw(st.integers(0, 6)) * 500_000
    return actions, text, begin, begin + draw(st.integers(0, 12)) * 500_000


@given(lives())
def test_a_life_is_the_rows_of_that_time(case: tuple[list[Action], str, int, int]) -> None:
    actions, text, begin, end = case
    first, last = (f"{instant(each):%Y-%m-%d %H:%M:%S.%f}" for each in (begin, end))
    clause = f" DURATION ['{first}', '{last}']"
    mortal, full = session_of(), session_of()
    living, other = mortal.query(text + clause), full.query(text)
    shared = mortal.query(text)
    model = Model()
    try:
        for action in actions:
            take(mortal, action)
            for applied in model.take(action).values():
                times = applied.column("ts").cast(pa.int64()).to_numpy()
                full.push("a", applied.filter(pa.array((times >= begin) & (times <= end))))
            if model.streams["a"].through > BEGINNING:
                full.advance("a", to=model.streams["a"].through)
        mortal.finish()
        full.finish()
        wanted = other.answers().to_pylist()
        found = living.answers().to_pylist()
    except DataError:
        return
    del shared
    assert repr(found) == repr([row for row in wanted if row["at"] <= instant(end)])
