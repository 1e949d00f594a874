"""Aggregates that only trees run, in whole queries: what they show, and what is refused."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import windrow
from windrow.errors import BindingError, UnsupportedError

START = datetime(2026, 1, 1, tzinfo=UTC)
ROWS: list[tuple[int, int, int, float | None, str | None]] = [
    (0, 1, 3, 1.5, "a"),
    (1, 1, 1, 2.5, "b"),
    (2, 1, 2, None, "b"),
    (2, 2, 2, 7.0, None),
]


def answers(*queries: str) -> list[list[dict[str, Any]]]:
    """The answers to queries over the rows, after three seconds."""
    session = _session()
    running = [session.query(query) for query in queries]
    for seconds, k, x, d, t in ROWS:
        row = {"k": k, "x": x, "d": d, "t": t, "ts": START + timedelta(seconds=seconds)}
        session.push("s", [row])
    session.advance("s", to=START + timedelta(seconds=3))
    return [query.result().to_pylist() for query in running]


def _session() -> Any:
    session = windrow.connect()
    session.stream("s", "k int, x int, d double, t string, ts timestamp", time="ts")
    return session


def one(items: str, rest: str = "") -> dict[str, Any]:
    """The one row of an answer."""
    (((found),),) = answers(f"SELECT {items} FROM s [10 SECONDS] {rest}")
    return found


def test_first_and_last_are_by_time() -> None:
    found = one("FIRST(x) f, LAST(x) l, FIRST_VALUE(t) v, LAST_VALUE(t) w, ANY_VALUE(d) a")
    assert found == {"f": 3, "l": 2, "v": "a", "w": None, "a": 1.5}


def test_first_and_last_may_leave_null_out() -> None:
    found = one("LAST(t, TRUE) a, LAST(t) IGNORE NULLS b, LATEST_BY_OFFSET(t) c, LAST(t, FALSE) d")
    assert found == {"a": "b", "b": "b", "c": "b", "d": None}


def test_a_condition_leaves_rows_out() -> None:
    found = one(
        "FIRST(x) FILTER (WHERE x < 3) f, MEDIAN(x) FILTER (WHERE k = 1) m, "
        "MAX_BY(t, d) FILTER (WHERE k = 1) b, MODE(x) FILTER (WHERE x <> 2) o"
    )
    assert found == {"f": 1, "m": 2.0, "b": "b", "o": 1}


def test_values_by_another() -> None:
    found = one("MIN_BY(t, d) a, MAX_BY(x, d) b, MIN_BY(t, x) c, ARG_MAX(t, x) e")
    assert found == {"a": "a", "b": 2, "c": "b", "e": "a"}


def test_percentiles() -> None:
    found = one(
        "MEDIAN(d) m, PERCENTILE(d, 0.25) p, QUANTILE(x, 0.9) q, "
        "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY d DESC) c, "
        "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY t) t, APPROX_PERCENTILE(x, 0.5) a, "
        "PERCENTILE_APPROX(d, 1, 100) b"
    )
    wanted = {"m": 2.5, "p": 2.0, "q": pytest.approx(2.7), "c": 4.75, "t": "b", "a": 2, "b": 7.0}
    assert found == wanted


def test_the_most_frequent_value() -> None:
    found = one("MODE(t) m, MODE() WITHIN GROUP (ORDER BY k % 2) o, APPROX_COUNT_DISTINCT(t) n")
    assert found == {"m": "b", "o": 1, "n": 2}


def test_other_names() -> None:
    found = one("MEAN(x) m, STD(x) s, EVERY(x > 0) e, SOME(x > 2) o, ANY(x > 5) a, TRY_AVG(x) t")
    assert found == {
        "m": 2.0, "s": pytest.approx(0.816496580927726), "e": True, "o": True, "a": False, "t": 2.0,
    }  # fmt: skip


def test_two_numbers() -> None:
    found = one(
        "CORR(x, d) c, COVAR_POP(x, d) p, COVAR_SAMP(x, d) s, REGR_SLOPE(d, x) l, "
        "REGR_INTERCEPT(d, x) i, REGR_R2(d, x) r, REGR_COUNT(d, x) n, REGR_AVGX(d, x) ax, "
        "REGR_AVGY(d, x) ay, REGR_SXX(d, x) xx, REGR_SXY(d, x) xy, REGR_SYY(d, x) yy"
    )
    wanted = {"c": -math.sqrt(3 / 103), "p": -1 / 3, "s": -0.5, "l": -0.5, "i": 14 / 3}
    wanted |= {
        "r": 3 / 103,
        "n": 3,
        "ax": 2.0,
        "ay": 11 / 3,
        "xx": 2.0,
        "xy": -1.0,
        "yy": 17.5 - 1 / 3,
    }
    assert found == pytest.approx(wanted, rel=1e-14)


def test_moments_and_bits() -> None:
    found = one(
        "SKEWNESS(x) s, KURTOSIS(x) k, BIT_AND(x) a, BIT_OR(x) o, BIT_XOR(x) e, TRY_SUM(x) t, "
        "CORR(x, k) FILTER (WHERE k = 1) c, TRY_SUM(9223372036854775807 - 0 * x) n"
    )
    wanted = {"s": 0.0, "k": -1.0, "a": 0, "o": 3, "e": 2, "t": 8, "c": None, "n": None}
    assert found == wanted


def test_groups_having_and_sets() -> None:
    (found,) = answers(
        "SELECT k, MEDIAN(x) m FROM s [10 SECONDS] GROUP BY ROLLUP (k) HAVING LAST(x) > 1 "
        "ORDER BY k"
    )
    assert found == [{"k": None, "m": 2.0}, {"k": 1, "m": 2.0}, {"k": 2, "m": 2.0}]


def test_frames() -> None:
    (found,) = answers(
        "SELECT x, MEDIAN(x) OVER (ORDER BY ts, k ROWS 1 PRECEDING) m, "
        "LAST(t) OVER (PARTITION BY k ORDER BY ts) l, "
        "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY t DESC) OVER (PARTITION BY k) p "
        "FROM s [10 SECONDS] ORDER BY ts, k"
    )
    assert [tuple(row.values()) for row in found] == [
        (3, 3.0, "a", "b"), (1, 2.0, "b", "b"), (2, 1.5, "b", "b"), (2, 2.0, None, None),
    ]  # fmt: skip


def test_of_a_join_by_the_times_of_both() -> None:
    (found,) = answers(
        "SELECT FIRST(a.x) f, LAST(b.t) l FROM s [10 SECONDS] a JOIN s [ROWS 1] b ON a.k = b.k"
    )
    assert found == [{"f": 2, "l": None}]


@pytest.mark.parametrize(
    ("code", "items"),
    [
        ("WB795", "MIN_BY(x)"),
        ("WB795", "PERCENTILE_CONT(0.5)"),
        ("WB795", "FIRST(x, 3)"),
        ("WB795", "MODE()"),
        ("WB795", "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY x, d)"),
        ("WB796", "PERCENTILE(x, 2)"),
        ("WB796", "PERCENTILE(x, d)"),
        ("WB242", "MEDIAN(t)"),
        ("WB242", "BIT_AND(d)"),
        ("WB242", "CORR(t, d)"),
        ("WB795", "CORR(d)"),
    ],
)
def test_wrong_arguments(code: str, items: str) -> None:
    with pytest.raises(BindingError) as caught:
        _session().query(f"SELECT {items} FROM s [1 SECOND]")
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("code", "items"),
    [("WU795", "MEDIAN(DISTINCT x)"), ("WU796", "MIN_BY(x, d) OVER (PARTITION BY k)")],
)
def test_refusals(code: str, items: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        _session().query(f"SELECT {items} FROM s [1 SECOND]")
    assert caught.value.code == code


def test_a_single_block_says_what_it_does_not_run() -> None:
    with pytest.raises(UnsupportedError) as caught:
        _session().query("SELECT MEDIAN(x) FROM s [1 SECOND]", algorithm="factorised")
    assert caught.value.code == "WU205"
