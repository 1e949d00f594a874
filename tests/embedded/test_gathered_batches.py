"""Small pushes wait for others, and nothing tells them from pushes that were taken one by one."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import windrow
from windrow.embedded import EmbeddedSession, ingest
from windrow.errors import AdmissionError, DataError
from windrow.rows import gathered_batches
from windrow.rows.gathered_batches import GATHERED_BATCHES

SCHEMA = pa.schema(
    [("ts", pa.timestamp("us", "UTC")), ("k", pa.string()), ("x", pa.int64())],
)
JOIN = "SELECT COUNT(*) AS n, SUM(a.x) AS s FROM a [5 SECONDS], b [3 SECONDS] WHERE a.k = b.k"
QUERIES = (
    JOIN,
    "SELECT k, x FROM a [4 SECONDS]",
    "SELECT k, MAX(x) AS m FROM b [ROWS 3] GROUP BY k",
)
SECOND_US = 1_000_000

Row = tuple[int | None, str | None, int | None]
rows_of = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 30), st.none()),
        st.sampled_from(["p", "q", None]),
        st.one_of(st.integers(-3, 3), st.none()),
    ),
    max_size=4,
)
pushes_of = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        rows_of,
        st.sampled_from(["batch", "table", "dicts", "single", "naive"]),
        st.sampled_from(["", "", "", "answers", "changes", "advance"]),
    ),
    max_size=14,
)


def batch_of(rows: Iterable[Row]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [[], [], []]
    times = [None if second is None else second * SECOND_US for second in columns[0]]
    arrays = [pa.array(times, pa.int64()).cast(SCHEMA[0].type), *columns[1:]]
    made = [pa.array(each, field.type) for each, field in zip(arrays, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(made, schema=SCHEMA)


def given_as(form: str, rows: list[Row]) -> list[Any]:
    """What is pushed: the same rows in a form, each at once or one by one."""
    batch = batch_of(rows)
    if form == "naive":  # times without a zone are converted
        plain = batch["ts"].cast(pa.timestamp("us"))
        return [pa.table({"ts": plain, "k": batch["k"], "x": batch["x"]})]
    if form == "dicts":
        return [batch.to_pylist()]
    if form == "single":
        return list(batch.to_pylist())
    return [batch if form == "batch" else pa.Table.from_batches([batch])]


def run(pushes: list[Any], lateness: int) -> list[Any]:
    """Everything that can be read of a session with these pushes."""
    session = windrow.connect(memory="64 MB")
    for name in "ab":
        session.stream(name, SCHEMA, time="ts", lateness=f"{lateness} seconds")
    queries = [session.query(text) for text in QUERIES]
    told: list[Any] = []
    for stream, rows, form, then in pushes:
        for each in given_as(form, rows):
            session.push(stream, each)
        if then == "advance":
            session.advance(stream, to=5 * SECOND_US)
        elif then:
            told += [getattr(query, then)().to_pylist() for query in queries]
    session.finish()
    told += [query.answers().to_pylist() for query in queries]
    told += [query.result().to_pylist() for query in queries]
    for name in "ab":
        told += [session.late(name).to_pylist(), session.bad_rows(name).to_pylist()]
    return [*told, session.ledger().to_pylist(), session.streams().to_pylist()]


@settings(max_examples=25, deadline=None)
@example([("a", [(9, "p", 1)], "batch", ""), ("a", [(3, "p", 1), (9, "q", 2)], "batch", "")], 2)
@example([("a", [(9, "p", 1), (2, "p", 2)], "batch", ""), ("a", [(8, "p", 1)], "single", "")], 0)
@given(pushes_of, st.integers(0, 4))
def test_the_same_as_pushes_that_are_taken_one_by_one(pushes: list[Any], lateness: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        together = run(pushes, lateness)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ingest, "SMALL_ROWS", 0)
            patch.setattr(gathered_batches, "SMALL_ROWS", 0)
            apart = run(pushes, lateness)
    assert together == apart


@pytest.fixture
def session() -> EmbeddedSession:
    session = windrow.connect(memory="64 MB")
    for name in "ab":
        session.stream(name, SCHEMA, time="ts")
    return session


def steps_of(session: EmbeddedSession) -> int:
    return session._ingest.steps


def test_small_batches_are_taken_together(session: EmbeddedSession) -> None:
    query = session.query(JOIN)
    session.push("a", batch_of([(0, "p", 1)]))  # how far ahead a row may be is not known before
    before = steps_of(session)
    for number in range(GATHERED_BATCHES - 1):
        session.push("a", batch_of([(number, "p", 1)] * 3))
    assert steps_of(session) == before
    session.push("a", batch_of([(GATHERED_BATCHES, "p", 1)]))
    assert steps_of(session) == before + 1
    session.push("b", batch_of([(GATHERED_BATCHES, "p", 1)]))
    session.finish()
    assert query.result()["n"].to_pylist() == [13]


def test_what_waits_is_a_copy_and_counted(session: EmbeddedSession) -> None:
    query = session.query("SELECT x FROM a [1 HOUR]")
    numbers = np.arange(1000)
    for first in (0, 1000, 2000):
        times = pa.array(np.arange(1000) + first).cast(SCHEMA[0].type)
        words = pa.array(["w"] * 1000)
        session.push("a", pa.record_batch([times, words, pa.array(numbers)], schema=SCHEMA))
        numbers += 1000
    assert session._ingest.streams["a"].nbytes > 2 * 8 * 2000
    assert session.metrics()  # does not apply them
    session.finish()
    assert sorted(query.result()["x"].to_pylist()) == list(range(3000))


def test_what_is_wrong_is_said_at_once(session: EmbeddedSession) -> None:
    query = session.query("SELECT COUNT(*) AS n FROM a [1 HOUR]")
    session.push("a", batch_of([(1, "p", 1)]))
    bad = pa.record_batch({"ts": [1.5], "k": ["p"], "x": [1]})
    with pytest.raises(DataError, match="ts"):
        session.push("a", bad)
    with pytest.raises(DataError, match="'x'"):
        session.push("a", [{"ts": datetime(2026, 1, 1, tzinfo=UTC), "x": "one"}] * 20)
    session.push("a", batch_of([(2, "p", 1)]))
    session.advance("a", to=2 * SECOND_US)
    assert query.result().to_pylist() == [{"n": 2}]
    (row, _) = session.ledger().to_pylist()
    assert (row["rows_in"], row["rejected"], row["applied"]) == (23, 21, 2)


def test_where_memory_is_short_no_push_waits() -> None:
    session = windrow.connect(memory="40 KB")
    session.stream("a", SCHEMA, time="ts")
    session.query("SELECT COUNT(*) AS n FROM a [1 HOUR]")
    refused = 0
    for number in range(40):
        before = session.ledger()["rejected"][0].as_py()
        try:
            session.push("a", batch_of([(number, "p", 1)] * 100))
        except AdmissionError:
            refused += 1
        else:  # what is taken later is not refused
            assert session.ledger()["rejected"][0].as_py() == before
    assert refused


def test_rows_that_come_after_an_interruption_are_not_lost(
    session: EmbeddedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = session.query("SELECT COUNT(*) AS n FROM a [1 HOUR]")
    session.push("a", batch_of([(0, "p", 1)]))
    session.push("a", batch_of([(1, "p", 1)]))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ingest.Ingest, "_decide", interrupted)
        with pytest.raises(KeyboardInterrupt):
            query.result()
    session.push("a", batch_of([(2, "p", 1)]))
    session.push("a", {"ts": datetime(1970, 1, 1, 0, 0, 3, tzinfo=UTC), "k": "p", "x": 1})
    session.advance("a", to=3 * SECOND_US)
    assert query.result().to_pylist() == [{"n": 4}]


def test_a_push_for_which_there_is_room_in_parts_makes_none_of_its_rows_late(
    session: EmbeddedSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = session.query("SELECT COUNT(*) AS n FROM a [1 HOUR]")
    monkeypatch.setattr(ingest.Ingest, "_room_for", lambda *_: 2)
    for first in (0, 10, 20):
        session.push("a", batch_of([(first + each, "p", 1) for each in (5, 9, 1, 3, 7)]))
    session.advance("a", to=40 * SECOND_US)
    assert query.result().to_pylist() == [{"n": 15}]
    assert session.late("a").num_rows == 0
