"""Variances against exact fractions: a large mean, wide ranges, special values, short windows."""

from __future__ import annotations

import math
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.runners import play
from support.streams import Action, Push, instant, plan_of
from windrow.operators.ranks import ranks_of_values, values_of_ranks

TEXT = (
    "SELECT VAR_POP(d) AS p, VARIANCE(d) AS v, STDDEV_POP(d) AS q, STDDEV(d) AS s FROM a [1 MINUTE]"
)
# Below this a square is no longer a whole double.
SMALLEST = 1e-140
values = st.floats(-1e140, 1e140, allow_nan=False).filter(lambda x: x == 0 or abs(x) > SMALLEST)
near_a_large_mean = st.floats(0, 1).map(lambda x: 1e12 + x)


def result_of(numbers: list[float | None]) -> tuple[float | None, ...]:
    rows = tuple({"ts": instant(i), "d": number} for i, number in enumerate(numbers))
    actions: list[Action] = [Push("a", rows)]
    runner, _ = play(plan_of(TEXT), actions)
    (row,) = runner.publisher.result().to_pylist()
    return row["p"], row["v"], row["q"], row["s"]


@given(st.lists(values, min_size=2, max_size=12) | st.lists(near_a_large_mean, min_size=2))
def test_no_digit_is_lost(numbers: list[float]) -> None:
    exact = [Fraction(number) for number in numbers]
    mean = sum(exact) / len(exact)
    squares = sum((number - mean) ** 2 for number in exact)
    population, sample, deviation, sample_deviation = result_of(list(numbers))
    assert population == pytest.approx(float(squares / len(exact)), rel=1e-12, abs=1e-280)
    assert sample == pytest.approx(float(squares / (len(exact) - 1)), rel=1e-12, abs=1e-280)
    assert deviation == math.sqrt(population)
    assert sample_deviation == math.sqrt(sample)


def test_of_one_value_and_of_none() -> None:
    assert result_of([3.0]) == (0.0, None, 0.0, None)
    assert result_of([None, None]) == (None, None, None, None)
    assert result_of([None, 1.0, 3.0]) == (1.0, 2.0, 1.0, math.sqrt(2.0))


@pytest.mark.parametrize("special", [math.nan, math.inf, -math.inf])
def test_special_values_make_it_nan(special: float) -> None:
    assert all(math.isnan(part) for part in result_of([1.0, special, 2.0]) if part is not None)


def test_squares_beyond_the_doubles_are_infinite() -> None:
    assert result_of([1e200, -1e200]) == (math.inf, math.inf, math.inf, math.inf)


def test_large_values_of_a_small_variance() -> None:
    # n times the sum of squares is beyond the doubles, the variance is not.
    population, *_ = result_of([1e153 + i * 1e140 for i in range(100)])
    exact = [Fraction(1e153 + i * 1e140) for i in range(100)]
    mean = sum(exact) / 100
    wanted = float(sum((number - mean) ** 2 for number in exact) / 100)
    assert population == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("is_max", [True, False])
@given(st.lists(st.floats() | st.none(), min_size=1))
def test_ranks_keep_the_order_of_doubles(is_max: bool, numbers: list[float | None]) -> None:
    column = pa.array(numbers, pa.float64())
    ranks, present = ranks_of_values(column, is_max=is_max)
    flags = present.astype(bool) if present.size else ~column.is_null().to_numpy(False)
    back = values_of_ranks(ranks, flags, pa.float64(), is_max=is_max).to_pylist()
    shown = [None if x is None else "NaN" if x != x else x for x in back]
    assert shown == [None if x is None else "NaN" if x != x else x for x in numbers]
    known = [x for x in numbers if x is not None]
    if known:
        best = max(ranks[flags])
        order = sorted(known, key=lambda x: (x != x, x))
        wanted = order[-1] if is_max else order[0]
        found = values_of_ranks(ranks, flags & (ranks == best), pa.float64(), is_max=is_max)
        value = next(x for x in found.to_pylist() if x is not None)
        assert value == wanted or (value != value and wanted != wanted)
