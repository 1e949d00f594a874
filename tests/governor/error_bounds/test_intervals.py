"""Intervals hold what fractions say, and what cannot be rounded stays as it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.governor.error_bounds.intervals import Interval, point

numbers = st.floats(-1e100, 1e100) | st.sampled_from([0.0, 0.1, 1.0, 3.0, 5e-324, 1e-200])
positive = st.floats(1e-100, 1e100) | st.sampled_from([1.0, 3.0, 7.0])

# Each by intervals, and by fractions of one number of each.
STEPS: dict[
    str, tuple[Callable[[Interval, Interval], Interval], Callable[[Fraction, Fraction], Fraction]]
] = {
    "plus": (lambda a, b: a.plus(b), lambda a, b: a + b),
    "minus": (lambda a, b: a.minus(b), lambda a, b: a - b),
    "times": (lambda a, b: a.times(b.low), lambda a, b: a * b),
    "over": (lambda a, b: a.over(b), lambda a, b: a / b),
    "squared": (lambda a, _: a.squared(), lambda a, _: a * a),
    "widened": (lambda a, _: a.widened(2.0**-50), lambda a, _: a + a / 2**50),
}


def interval(left: float, right: float) -> Interval:
    return Interval(np.array([min(left, right)]), np.array([max(left, right)]))


@pytest.mark.parametrize("step", STEPS)
@given(left=numbers, right=numbers, divisor=positive, wider=positive, share=st.floats(0, 1))
def test_every_result_is_held(
    step: str, left: float, right: float, divisor: float, wider: float, share: float
) -> None:
    by_intervals, by_fractions = STEPS[step]
    second = interval(divisor, divisor if step == "times" else wider)
    with np.errstate(all="ignore"):
        result = by_intervals(interval(left, right), second)
    inner = Fraction(left) + (Fraction(right) - Fraction(left)) * Fraction(share)
    for one in (Fraction(left), Fraction(right), inner):
        for other in (Fraction(second.low[0]), Fraction(second.high[0])):
            assert result.low[0] <= by_fractions(one, other) <= result.high[0]


@given(number=st.floats(0, 1e300) | st.sampled_from([0.0, 2.0, 4.0, 5e-324]))
def test_roots_are_held(number: float) -> None:
    with np.errstate(all="ignore"):
        root = interval(0.0, number).root()
    assert root.low[0] == 0
    assert Fraction(root.high[0]) ** 2 >= Fraction(number)
    assert root.high[0] <= math.nextafter(math.sqrt(number), math.inf)


def test_zero_stays_zero() -> None:
    zero, one = point(np.zeros(1)), point(np.ones(1))
    for result in (
        zero.plus(zero), zero.minus(zero), zero.times(np.ones(1)), one.times(np.zeros(1)),
        zero.over(one), zero.squared(), zero.root(), zero.widened(0.5),
    ):  # fmt: skip
        assert (result.low[0], result.high[0]) == (0, 0)
    assert one.plus(zero) == one
