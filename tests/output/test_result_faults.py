"""Values that a result cannot show: only their rows are missing, and every reader is told."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from support.oracle import rows_of
from support.runners import ShardRunner, listed, replay
from support.streams import plan_of
from windrow.embedded import EmbeddedSession
from windrow.errors import DataError

BIG = 2**62
SPAN = 3
values = st.sampled_from([1, 2, BIG, BIG, -BIG])
steps = st.lists(st.lists(st.tuples(st.sampled_from("ab"), values), max_size=3), max_size=12)


def session_of() -> EmbeddedSession:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k string, x bigint, p decimal(18, 0)", time="ts")
    return session


def push(session: EmbeddedSession, second: int, *rows: tuple[str, int]) -> None:
    at = f"2026-01-01 00:00:{second:02}"
    session.push("s", [{"ts": at, "k": key, "x": value} for key, value in rows])


def read(reader) -> tuple[pa.Table, int]:
    """What a reader gives when it is asked again after an error, and how many errors there were."""
    errors = 0
    while True:
        try:
            return reader(), errors
        except DataError as error:
            errors += 1
            if error.code != "WD302" or errors > 1:  # told twice of the same
                raise


def sums(given_steps: list, at: int) -> dict[str, int]:
    window = [row for step in given_steps[max(0, at - SPAN) : at + 1] for row in step]
    return {key: sum(x for k, x in window if k == key) for key in sorted({k for k, _ in window})}


def fits(value: int) -> bool:
    return -(2**63) <= value < 2**63


@given(steps, st.booleans())
def test_only_what_overflows_is_missing_and_that_is_told(given_steps: list, every: bool) -> None:
    session = session_of()
    text = f"SELECT k, SUM(x) AS n FROM s [{SPAN} SECONDS] GROUP BY k"
    query = session.query(f"{text} EVERY (1 SECOND)" if every else text)
    held: Counter = Counter()
    for second, rows in enumerate(given_steps):
        if rows:
            push(session, second, *rows)
        session.advance("s", to=f"2026-01-01 00:00:{second:02}")
        began = any(given_steps[: second + 1])
        truth = sums(given_steps, second)
        shown = [(key, value) for key, value in truth.items() if fits(value)]
        answers, errors = read(query.answers)
        due = bool(rows) or (every and began)
        assert errors == (due and len(shown) < len(truth)), (second, truth)
        assert [row[3:] for row in rows_of(answers)] == (shown if due else [])
        replay(read(query.changes)[0], held)
        assert sorted(listed(held)) == shown
        if len(shown) < len(truth):
            for _ in range(2):  # as long as the row is missing
                with pytest.raises(DataError, match="WD302"):
                    query.result()
        else:
            assert rows_of(query.result()) == shown


def test_the_error_names_the_group_and_the_instant() -> None:
    session = session_of()
    query = session.query("SELECT k, SUM(x) AS n FROM s [3 SECONDS] GROUP BY k")
    push(session, 1, ("a", BIG), ("b", 1))
    push(session, 2, ("a", BIG), ("b", 2))
    session.advance("s", to="2026-01-01 00:00:02")
    with pytest.raises(DataError) as told:
        query.result()
    words = "SUM(s.x) is beyond 64 bits where s.k is 'a', at 2026-01-01 00:00:02"
    assert (told.value.code, told.value.message) == ("WD302", words)
    session.advance("s", to="2026-01-01 00:00:05")
    assert query.result().to_pylist() == [{"k": "a", "n": BIG}, {"k": "b", "n": 2}]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT SUM(x) AS n FROM s [9 SECONDS]", "WD302"),
        ("SELECT SUM(x) + 0.5 AS n FROM s [9 SECONDS]", "WD302"),
        ("SELECT COUNT(*) AS n FROM s [9 SECONDS] HAVING SUM(x) > 0", "WD302"),
        ("SELECT MAX(x) * 2 AS n FROM s [9 SECONDS]", "WD304"),
        ("SELECT COUNT(*) AS n FROM s [9 SECONDS] HAVING -2 * MAX(x) < 0", "WD304"),
        ("SELECT CAST(MAX(x) AS INT) AS n FROM s [9 SECONDS] EVERY (1 SECOND)", "WD304"),
        ("SELECT SUM(x) AS n FROM s [9 SECONDS] ERROR (10%) EVERY (1 SECOND)", "WD302"),
    ],
)
def test_whatever_lacks_a_value_is_told(text: str, code: str) -> None:
    session = session_of()
    query = session.query(text)
    push(session, 1, ("a", BIG + 1), ("a", BIG))
    session.finish()
    assert query.is_running
    for reader in (query.answers, query.changes, query.result):
        with pytest.raises(DataError) as told:
            reader()
        assert told.value.code == code
    assert query.answers().num_rows == 0
    assert query.changes().num_rows == 0


@pytest.mark.parametrize(
    "text",
    [
        "SELECT CASE WHEN COUNT(*) < 2 THEN SUM(x) END AS n FROM s [9 SECONDS]",
        "SELECT SUM(x) AS n FROM s [9 SECONDS] HAVING COUNT(*) < 2",
        "SELECT COALESCE(AVG(x), SUM(x)) AS n FROM s [9 SECONDS]",
    ],
)
def test_what_is_not_looked_at_is_no_fault(text: str) -> None:
    session = session_of()
    query = session.query(text)
    push(session, 1, ("a", BIG), ("a", BIG))
    session.finish()
    assert query.result().num_rows in (0, 1)
    assert query.answers().num_rows in (0, 1)


def test_faults_are_saved_and_go_on() -> None:
    plan = plan_of("SELECT b.k AS k, SUM(b.k) AS n FROM b [5 SECONDS] GROUP BY b.k")
    runner = ShardRunner(plan)
    schema = plan.inputs[0].stream.arrow
    step = 0

    def give(*numbers: int) -> None:
        nonlocal step
        step += 1
        times = pa.array([step * 1_000_000] * len(numbers)).cast(pa.timestamp("us", tz="UTC"))
        columns = {"ts": times, "k": pa.array(numbers, pa.int64())}
        arrays = [columns.get(f.name, pa.nulls(len(numbers), f.type)) for f in schema]
        runner.step({"b": pa.RecordBatch.from_arrays(arrays, schema=schema)}, step * 1_000_000)

    give(7, 2**63 - 1)
    give(2**63 - 1, 3)
    runner.restart()
    for reader in (runner.publisher.result, runner.publisher.answers, runner.publisher.changes):
        with pytest.raises(DataError, match="WD302"):
            reader()
    assert runner.publisher.answers().num_rows > 0
    give(4)
    runner.restart()
    with pytest.raises(DataError, match="WD302"):
        runner.publisher.result()
    runner.step({}, 6_500_000)
    runner.restart()
    assert rows_of(runner.publisher.result())[-1] == (2**63 - 1, 2**63 - 1)
