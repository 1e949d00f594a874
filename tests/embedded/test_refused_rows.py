"""Rows that are refused: answers that lack them say so, and are whole again as soon as can be."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.oracle import Oracle, assert_same_rows
from support.streams import instant
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.errors import AdmissionError
from windrow.windows.completeness import Completeness

SECOND_US = 1_000_000
SCHEMA = "ts timestamp, k int, x int"
MEMORY = "40 KB"


def rows_at(times: Iterable[int]) -> pa.Table:
    """Rows of these times, in microseconds; their other columns follow from the times."""
    at = np.array(list(times), np.int64)
    columns = {"k": (at // 7 % 5).astype(np.int32), "x": (at // 11 % 100).astype(np.int32)}
    return pa.table({"ts": pa.array(at).cast(pa.timestamp("us", "UTC")), **columns})


def pushed(session: EmbeddedSession, stream: str, rows: pa.Table) -> bool:
    """Whether a push was taken as a whole."""
    try:
        session.push(stream, rows)
    except AdmissionError:
        return False
    return True


def a_minute(memory: str, *others: str) -> tuple[EmbeddedSession, EmbeddedQuery]:
    """A session with a query over one minute, after a minute with a row a second."""
    session = EmbeddedSession(memory)
    session.stream("s", SCHEMA, time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM s [1 MINUTE]", name="minute")
    for number, text in enumerate(others):
        session.query(text, name=f"other{number}")
    for second in range(60):
        session.push("s", rows_at([second * SECOND_US]))
    return session, query


def burst(session: EmbeddedSession, first_s: int, pushes: int = 5) -> int:
    """Three seconds with a thousand rows each; how many of the pushes were not taken."""
    times = first_s * SECOND_US + np.arange(3_000) * 1_000
    return sum(not pushed(session, "s", rows_at(part)) for part in np.split(times, pushes))


@pytest.mark.parametrize("pushes", [1, 5, 50])
def test_exact_answers_are_back_one_window_after_a_burst(pushes: int) -> None:
    session, query = a_minute(MEMORY)
    assert burst(session, 60, pushes) >= 1
    refused = session.ledger().to_pylist()[0]["rejected"]
    assert refused > 500
    taken = [pushed(session, "s", rows_at([(64 + each) * SECOND_US])) for each in range(200)]
    assert all(taken), "there is room for what comes after the burst"
    session.finish()
    told = query.answers().to_pylist()
    assert len(told) > 500
    seconds = np.array([*range(60), *(60 + np.arange(3_000) / 1_000), *range(64, 264)])
    times = np.round(seconds * SECOND_US).astype(np.int64)
    for row in told:
        at_us = round(row["at"].timestamp() * SECOND_US)
        if row["level"] == "A":
            assert row["error_bound"] is None
            assert row["n"] == np.sum((times >= at_us - 60 * SECOND_US) & (times <= at_us))
            assert not 63 * SECOND_US <= at_us < 122 * SECOND_US
        else:
            assert (row["level"], row["error_bound"]) == ("incomplete", np.inf)
            assert 60 * SECOND_US < at_us < 123 * SECOND_US, "no row of the burst would be in it"
    after = [row for row in told if row["at"] > instant(124 * SECOND_US)]
    assert [row["n"] for row in after] == [61] * len(after)
    assert len(after) == 139
    assert session.nbytes <= 40 << 10


def test_a_row_that_is_refused_moves_the_clock() -> None:
    session, query = a_minute(MEMORY)
    assert burst(session, 60) > 0
    before = query.clock
    while pushed(session, "s", rows_at(np.arange(200) + before + SECOND_US)):
        before = query.clock
    assert query.clock > before
    assert session.ledger()["late"].to_pylist() == [0]


def test_what_leaves_makes_room_before_it_is_asked_for() -> None:
    session = EmbeddedSession("60 KB")
    session.stream("s", SCHEMA, time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]")
    most = 0
    while pushed(session, "s", rows_at(np.arange(50) * 10 + most * 500)):
        most += 1
    assert most > 5
    # As many rows as fit at all, again and again, each time after those before have left.
    for round_ in range(1, 4):
        start = round_ * 20 * SECOND_US
        for part in range(most - 1):
            assert pushed(session, "s", rows_at(start + part * 500 + np.arange(50) * 10))
    session.finish()
    assert query.result().to_pylist() == [{"n": (most - 1) * 50}]


def test_the_result_says_that_it_lacks_rows() -> None:
    session, query = a_minute(MEMORY, "SELECT k, x FROM s [UNBOUNDED] WHERE x > 1000")
    endless = session.query("SELECT COUNT(*) AS n FROM s [UNBOUNDED]", name="endless")
    assert query.is_complete
    assert "windrow.level" not in str(query.result().schema.metadata)
    burst(session, 60)
    assert not query.is_complete
    with pytest.warns(RuntimeWarning, match="'minute': the result lacks rows that were refused"):
        result = query.result()
    assert result.schema.metadata == {b"windrow.level": b"incomplete"}
    assert query.result().num_rows == 1, "it is said once"
    levels = {row["query"]: row["level"] for row in session.queries().to_pylist()}
    assert (levels["minute"], levels["endless"]) == ("incomplete", "incomplete")
    assert {row["level"] for row in session.windows().to_pylist()} == {"incomplete"}
    assert 'windrow_service_level{query="minute",window="s",level="incomplete"} 1' in (
        session.metrics()
    )
    session.push("s", rows_at([200 * SECOND_US]))
    session.push("s", rows_at([201 * SECOND_US]))
    assert query.is_complete
    assert query.result().to_pylist() == [{"n": 1}]
    assert not endless.is_complete, "what never leaves is lacking for ever"
    burst(session, 202)
    with pytest.warns(RuntimeWarning, match="lacks rows"):
        query.result()


def test_rows_that_cannot_be_read_leave_answers_as_they_are() -> None:
    session, query = a_minute(MEMORY)
    with pytest.raises(Exception, match="WD"):
        session.push("s", pa.table({"ts": ["no time"], "k": [1], "x": [1]}))
    assert session.ledger()["rejected"].to_pylist() == [1]
    assert query.is_complete


def test_a_history_is_not_certain_of_time_in_which_rows_were_refused() -> None:
    session = EmbeddedSession(MEMORY)
    session.stream("s", SCHEMA, time="ts")
    session.history("s", measures=["x"], levels=[("1 second", "forever")])
    session.query("SELECT COUNT(*) AS n FROM s [1 MINUTE]")
    asked = "SELECT COUNT(*) AS n FROM HISTORY(s) [FROM '1970-01-01 00:00:{}' TO NOW]"
    asked += " EVERY (1 SECOND)"
    since, after = (session.query(asked.format(second)) for second in ("05", "20"))
    for second in range(10):
        session.push("s", rows_at([second * SECOND_US]))
    assert burst(session, 10) > 0
    for second in range(14, 31):
        session.push("s", rows_at([second * SECOND_US]))
    once = asked.replace("NOW] EVERY (1 SECOND)", "'1970-01-01 00:00:{}']")
    (row,) = session.ask(once.format("00", "10")).to_pylist()
    assert (row["n"], row["exact"]) == (10, True)
    (row,) = session.ask(once.format("14", "20")).to_pylist()
    assert (row["n"], row["exact"]) == (6, True)
    (row,) = session.ask(once.format("05", "20")).to_pylist()
    assert row["exact"] is False
    assert (row["n_low"], row["n_high"], row["exact_from"]) == (row["n"], None, None)
    levels = [(row["at"], row["level"]) for row in since.answers().to_pylist()]
    assert {level for at, level in levels if 5 < at.timestamp() < 10} == {"A"}
    assert {level for at, level in levels if at > instant(14 * SECOND_US)} == {"incomplete"}
    assert {row["level"] for row in after.answers().to_pylist()[-10:]} == {"A"}
    assert (since.is_complete, after.is_complete) == (False, True)
    with pytest.warns(RuntimeWarning, match="lacks rows that were refused"):
        assert since.result().schema.metadata == {b"windrow.level": b"incomplete"}
    assert after.result().schema.metadata is None
    points = session.past.series("s", None, (None, None), 100, []).to_pylist()
    assert {row["exact"] for row in points if row["from_us"] < 10 * SECOND_US} == {True}
    assert False in {row["exact"] for row in points if row["from_us"] < 13 * SECOND_US}


TEXTS = (
    "SELECT COUNT(*) AS n, SUM(x) AS t FROM s [10 SECONDS]",
    "SELECT k, COUNT(*) AS n, MAX(x) AS m FROM s [4 SECONDS] WHERE x > 50 GROUP BY k",
    "SELECT COUNT(*) AS n FROM s [RANGE 6 SECONDS SLIDE 2 SECONDS]",
    "SELECT SUM(x) AS t FROM s [ROWS 40]",
    "SELECT COUNT(*) AS n FROM s [PARTITION BY k ROWS 3]",
    "SELECT SUM(x) AS t FROM s [UNBOUNDED] EVERY (1 SECOND)",
    "SELECT COUNT(*) AS n FROM s [5 SECONDS], r [2 SECONDS] WHERE s.k = r.k",
    "SELECT COUNT(*) AS n FROM s [3 SECONDS] WHERE NOT EXISTS "
    "(SELECT 1 FROM r [2 SECONDS] WHERE r.k = s.k)",
    "SELECT COUNT(*) AS n FROM s [8 SECONDS] ERROR (20%) EVERY (1 SECOND)",
)
MOST_COMPARED = 25


@st.composite
def pushes(draw: st.DrawFn) -> list[tuple[str, list[int]]]:
    """Rows of two streams, some a burst, in order of time but for a second."""
    now, found = 0, []
    for _ in range(draw(st.integers(4, 14))):
        count = draw(st.sampled_from([1, 3, 20, 20, 200, 900, 2500]))
        span = draw(st.sampled_from([1, 1000, SECOND_US, 8 * SECOND_US]))
        generator = np.random.default_rng(draw(st.integers(0, 9)))
        times = now + np.sort(generator.integers(0, span, count))
        if draw(st.booleans()):
            times = times - generator.integers(0, SECOND_US, count)
        found.append((draw(st.sampled_from("sssr")), times.tolist()))
        now += draw(st.sampled_from([0, span, span, 12 * SECOND_US]))
    return found


SCENES = {
    "budget": st.integers(30, 160),
    "texts": st.sets(st.sampled_from(TEXTS), min_size=1, max_size=3),
    "given_rows": pushes(),
    "lateness": st.sampled_from(["0 seconds", "1 second"]),
}


@settings(max_examples=5, deadline=None)
@given(**SCENES)
def test_answers_of_level_a_are_those_of_all_rows(
    budget: int, texts: set[str], given_rows: list[tuple[str, list[int]]], lateness: str
) -> None:
    check_scene(budget, texts, given_rows, lateness)


def check_scene(
    budget: int, texts: set[str], given_rows: list[tuple[str, list[int]]], lateness: str
) -> None:
    """Streams with bursts under a budget: what claims to be exact is, over all rows pushed."""
    session = EmbeddedSession(budget << 10)
    lateness_us = SECOND_US if lateness == "1 second" else 0
    truth: dict[str, list[pa.Table]] = {name: [rows_at([])] for name in "sr"}
    complete = {name: Completeness(lateness_us) for name in "sr"}
    for name in "sr":
        session.stream(name, SCHEMA, time="ts", lateness=lateness)
    queries = [each for text in sorted(texts) if (each := registered(session, text)) is not None]
    for name, times in given_rows:
        rows = rows_at(times)
        late = complete[name].judge(np.array(times, np.int64))
        truth[name].append(rows.filter(pa.array(~late)))
        pushed(session, name, rows)
        assert session.nbytes <= budget << 10
    session.finish()
    (ledger, _) = session.ledger().to_pylist()
    assert ledger["late"] == sum(len(rows) for name, rows in given_rows if name == "s") - sum(
        rows.num_rows for rows in truth["s"]
    )
    whole = {name: pa.concat_tables(tables) for name, tables in truth.items()}
    for query in queries:
        compare(query, whole)


def registered(session: EmbeddedSession, text: str) -> EmbeddedQuery | None:
    """The query, unless not even an empty one has room."""
    try:
        query = session.query(text)
    except AdmissionError:
        return None
    assert isinstance(query, EmbeddedQuery)
    return query


def compare(query: EmbeddedQuery, rows: dict[str, pa.Table]) -> None:
    """Answers of level A, and the result where it is complete, with those over all rows."""
    answers = query.answers()
    names = [column.name for column in query.plan.select]
    at = answers["at"].cast(pa.int64()).to_pylist()
    told: dict[int, list[tuple[object, ...]]] = {}
    for instant_us, level, row in zip(
        at, answers["level"].to_pylist(), answers.select(names).to_pylist(), strict=True
    ):
        told.setdefault(instant_us, [])
        if level == "A":
            told[instant_us].append(tuple(row.values()))
    exact = [each for each, shown in told.items() if shown]
    chosen = sorted(set(exact[:: len(exact) // MOST_COMPARED + 1] + exact[-5:]))
    for instant_us, shown in Oracle(query.plan).answers(rows, chosen).items():
        assert_same_rows(told[instant_us], shown)
    if query.is_complete:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = query.result()
        (expected,) = Oracle(query.plan).answers(rows, [query.clock]).values()
        if query.plan.error_percent is None:
            assert_same_rows([tuple(row.values()) for row in result.to_pylist()], expected)
