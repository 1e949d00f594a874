"""Clock steps and sums far beyond the everyday."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

import windrow
from windrow.output.answer_times import TICKS_LIMIT

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_leap_over_too_many_ticks_answers_at_the_newest() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x int", time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM s [1 SECOND] EVERY (1 MICROSECOND)")
    session.push("s", [{"ts": START, "x": 1}, {"ts": START + timedelta(days=30), "x": 1}])
    session.finish()
    with pytest.warns(RuntimeWarning, match="were dropped"):
        answers = query.answers()
    assert answers.num_rows == TICKS_LIMIT
    assert answers["at"][-1].as_py() == START + timedelta(days=30)
    assert answers["n"][-1].as_py() == 1


def test_a_sum_of_decimals_has_digits_for_every_pair() -> None:
    session = windrow.connect()
    for name in ("a", "b"):
        session.stream(name, "ts timestamp, k int, p decimal(10, 2)", time="ts")
    query = session.query(
        "SELECT SUM(a.p) AS s FROM a [1 HOUR], b [1 HOUR] WHERE a.k = b.k EVERY (1 HOUR)"
    )
    largest = Decimal("99999999.99")
    for name, count in (("a", 20_000), ("b", 10_000)):
        price = pa.array([largest] * count, pa.decimal128(10, 2))
        rows = {"ts": [START] * count, "k": pa.array([1] * count, pa.int32()), "p": price}
        session.push(name, pa.table(rows))
    session.finish()
    result = query.result()
    result.validate(full=True)
    assert result["s"].to_pylist() == [largest * 20_000 * 10_000]


@pytest.mark.parametrize("function", ["MIN(a.x)", "MAX(b.x)", "COUNT(DISTINCT a.x)", "MIN(7)"])
@pytest.mark.parametrize("where", ["", " WHERE a.k = b.k"])
def test_a_constant_is_a_group(function: str, where: str) -> None:
    session = windrow.connect()
    for name in "ab":
        session.stream(name, "ts timestamp, k int, x int", time="ts")
    text = f"SELECT 'all' AS g, {function} AS v FROM a [9], b [9]{where} GROUP BY 'all'"
    query, one = session.query(text), session.query("SELECT MIN(x) AS v FROM a [9] GROUP BY 1 + 1")
    assert query.result().num_rows == 0
    for name in "ab":
        session.push(name, [{"ts": START, "k": 1, "x": 7}])
    session.finish()
    value = 1 if "COUNT" in function else 7
    assert query.result().to_pylist() == [{"g": "all", "v": value}]
    assert one.result().to_pylist() == [{"v": 7}]


def test_heartbeats_after_the_end_move_nothing() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x int", time="ts")
    query = session.query("SELECT COUNT(*) AS n FROM s [1 SECOND]")
    session.push("s", [{"ts": START, "x": 1}])
    session.finish()
    with pytest.raises(windrow.DataError, match="WD120"):
        session.advance("s", to=START + timedelta(days=1))
    assert query.result()["n"].to_pylist() == [1]
