"""The market: every answer, worked out by DuckDB from all trades and quotes."""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa
import pytest

from support.gallery import Rows, job_answers, module_of, program_of, rows_of, ticks, worked_out

NAME = "market-data"
Streams = dict[str, pa.Table]


@pytest.fixture(scope="module")
def streams() -> Streams:
    return module_of(NAME, "make_data").market(1)


@pytest.fixture(scope="module")
def found(streams: Streams) -> dict[str, pa.Table]:
    return program_of(NAME).watch(streams)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    return job_answers(NAME, tmp_path_factory.mktemp(NAME))


def spreads(streams: Streams) -> Rows:
    return worked_out(
        """SELECT t, symbol, avg((ask - bid)::DOUBLE), max(ask - bid) AS widest FROM ticks, quotes
           WHERE ts BETWEEN t - INTERVAL 1 MINUTE AND t GROUP BY ALL HAVING widest > 0.2""",
        ticks=ticks([streams["quotes"]], 60),
        quotes=streams["quotes"],
    )


def prices(streams: Streams) -> Rows:
    return worked_out(
        """SELECT t, symbol, (sum(price * size) / sum(size))::DOUBLE, sum(size)::BIGINT
           FROM ticks, trades WHERE ts > t - INTERVAL 5 MINUTES AND ts <= t GROUP BY ALL""",
        ticks=ticks([streams["trades"]], 60),
        trades=streams["trades"],
    )


def rises(streams: Streams) -> Rows:
    return worked_out(
        """WITH pairs AS MATERIALIZED (
             SELECT b.symbol, b.price - a.price AS rise, a.ts AS earlier, b.ts AS later
             FROM trades AS b, trades AS a
             WHERE b.symbol = a.symbol AND b.price >= a.price * 1.03
               AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL 5 MINUTES)
           SELECT t, symbol, max(rise) FROM ticks, pairs
           WHERE later BETWEEN t - INTERVAL 1 MINUTE AND t
             AND earlier BETWEEN t - INTERVAL 5 MINUTES AND t
           GROUP BY ALL""",
        ticks=ticks([streams["trades"]], 60),
        trades=streams["trades"],
    )


def assert_close(rows: Rows, expected: Rows, number: int) -> None:
    """Equal but for one column of doubles, whose last digit depends on the order of a sum."""
    assert len(rows) == len(expected) > 0
    for row, exact in zip(rows, expected, strict=True):
        others = [row[:number] + row[number + 1 :], exact[:number] + exact[number + 1 :]]
        assert others[0] == others[1]
        # A quotient of decimals has six digits behind the point, and is a text in JSON.
        digits = 5.1e-7 if isinstance(row[number], (Decimal, str)) else 0.0
        assert math.isclose(float(row[number]), exact[number], rel_tol=1e-12, abs_tol=digits)


def test_spreads(
    streams: Streams, found: dict[str, pa.Table], job: dict[str, list[dict[str, object]]]
) -> None:
    names = ("at", "symbol", "spread", "widest")
    assert_close(rows_of(found["spread"], *names), spreads(streams), 2)
    shown = [{**row, "widest": Decimal(row["widest"])} for row in job["spread"]]
    assert_close(rows_of(shown, *names), spreads(streams), 2)


def test_average_prices(
    streams: Streams, found: dict[str, pa.Table], job: dict[str, list[dict[str, object]]]
) -> None:
    expected = prices(streams)
    assert_close(rows_of(found["vwap"], "at", "symbol", "vwap", "shares"), expected, 2)
    at_the_end = [row[1:] for row in expected if row[0] == expected[-1][0]]
    assert_close(rows_of(job["vwap"], "symbol", "vwap", "shares"), at_the_end, 1)


def test_rises(
    streams: Streams, found: dict[str, pa.Table], job: dict[str, list[dict[str, object]]]
) -> None:
    expected = rises(streams)
    assert {symbol for _, symbol, _ in expected} == {"EMBR"}  # whom the news was about
    assert rows_of(found["rises"], "at", "symbol", "rise") == expected
    shown = [{**row, "rise": Decimal(row["rise"])} for row in job["rises"]]
    assert rows_of(shown, "at", "symbol", "rise") == expected


def test_answers_under_a_budget_are_as_good_as_they_say(streams: Streams) -> None:
    answers, _ = program_of(NAME).activity(streams["trades"], "124 KB")
    exact = worked_out(
        """SELECT "at", count(ts), coalesce(sum(size), 0)::BIGINT
           FROM answers LEFT JOIN trades ON ts BETWEEN "at" - INTERVAL 10 MINUTES AND "at"
           GROUP BY ALL""",
        answers=answers,
        trades=streams["trades"],
    )
    rows = rows_of(answers.to_pylist(), "at", "trades", "shares", "level", "error_bound")
    assert {row[3] for row in rows} == {"A", "B"}
    for (_, count, shares, level, bound), (_, true_count, true_shares) in zip(
        rows, exact, strict=True
    ):
        if level == "A":
            assert (count, shares, bound) == (true_count, true_shares, None)
        else:
            assert abs(count - true_count) <= bound * true_count
            assert abs(shares - true_shares) <= bound * true_shares
