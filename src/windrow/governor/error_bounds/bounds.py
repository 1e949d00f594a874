"""How far an answer can be from the exact one, from what is known of the rows that are lacking.

Everything here is certain: the exact answer lies in an interval, found by interval arithmetic, and
the bound is the largest relative error |answer - exact| / |exact| that any number in it would mean.

    0 / 0 counts as 0. An exact answer of 0 where the answer is not 0, a NULL that should not be
    one, NaN and infinities give an infinite bound, unless nothing is lacking: then it is 0.

Values that are not doubles (integers beyond 2**53, decimals) are meant by the nearest one: what
MIN and MAX of them differ by below 2**-52 of themselves is not told.

Means and variances are made about the mean of the values held, from which what is lacking mostly
differs little; so nothing cancels. A part of the rows cannot make the sum of squared distances
from the mean larger than all of them do: the variance has a floor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, AggregateFunction, Form
from windrow.governor.error_bounds.intervals import Floats, Interval, point, raised
from windrow.governor.error_bounds.tail import HeldValues, Tail

__all__ = [
    "HELD_ERROR",
    "completed_bounds",
    "completed_truths",
    "relative_bounds",
    "relative_error_bounds",
]

# How far answers, and means that tails are about, may be off by rounding: eight times half a unit.
HELD_ERROR = 2.0**-50


def relative_error_bounds(function: str, tail: Tail, held: HeldValues) -> Floats:
    """A bound on the relative error of each answer; it holds for every answer.

    function: as in a plan. The tail is of the function's measure; for averages and variances its
    centre is the mean of the values held, right to within HELD_ERROR (anything where none are
    held).
    """
    traits = AGGREGATE_FUNCTIONS[function]
    fewest = traits.fewest_values
    with np.errstate(all="ignore"):
        bound = _farthest(held.value, _TRUTHS[traits.form](traits, tail, held))
        bound[~np.isfinite(held.value) | (held.count < fewest)] = np.inf
        is_sure = (tail.count.high == 0) | (held.count + tail.count.high < fewest)
        bound[is_sure] = 0.0
    return bound


def completed_truths(function: str, tail: Tail, held: HeldValues) -> Interval:
    """What the exact answers lie in, from the rows held and what is known of the others.

    Unlike relative_error_bounds() it does not matter how many values are held: where there are
    none, `value` and the tail's centre are 0. Infinite ends where it is not known that there is an
    answer, or how large it is; an interval of one number is exact.
    """
    traits = AGGREGATE_FUNCTIONS[function]
    fewest = traits.fewest_values
    with np.errstate(all="ignore"):
        value, extreme = held.value, traits.form is Form.EXTREME
        if extreme or fewest > 1:
            nothing = (-np.inf if traits.is_greatest else np.inf) if extreme else 0.0
            value = np.where(held.count < fewest, nothing, value)
        found = _TRUTHS[traits.form](traits, tail, HeldValues(held.count, value))
        low, high = found.low.copy(), found.high.copy()
        unsure = ~(np.isfinite(low) & np.isfinite(high)) | (held.count + tail.count.low < fewest)
        low[unsure], high[unsure] = -np.inf, np.inf
        is_sure = (tail.count.high == 0) | (held.count + tail.count.high < fewest)
        low[is_sure] = high[is_sure] = held.value[is_sure]
    return Interval(low, high)


def completed_bounds(truth: Interval) -> tuple[Floats, Floats]:
    """For each interval the number whose relative error can be least, and that error.

    >>> value, bound = completed_bounds(Interval(np.array([10.0]), np.array([15.0])))
    >>> value.round(12).tolist(), bound.round(12).tolist()
    ([12.0], [0.2])
    """
    low, high = truth.low, truth.high
    with np.errstate(all="ignore"):
        # Of one sign: as much below the larger end as above the smaller one, relative to each.
        value = np.where(low * high > 0, 2 / (1 / low + 1 / high), low / 2 + high / 2)
        value = np.where(low == high, low, np.clip(value, low, high))
        bound = _farthest(value, truth)
    bound[low == high] = 0.0
    return value, bound


def relative_bounds(answer: Floats, truth: Interval) -> Floats:
    """The largest relative errors of answers, where the exact ones are in these intervals."""
    with np.errstate(all="ignore"):
        return _farthest(answer, truth)


def _farthest(answer: Floats, truth: Interval) -> Floats:
    """The largest relative error for any number of the interval: at one of its ends."""
    errors = []
    for end in (truth.low, truth.high):
        distance = np.abs(answer - end)
        distance = raised(distance, distance == 0)
        share = distance / np.abs(end)
        errors.append(raised(share, distance == 0))
    worst = np.maximum(*errors)
    worst[(truth.low <= 0) & (truth.high >= 0)] = np.inf
    # An answer of zero is off by all of it, however much that is.
    worst[answer == 0] = 1.0
    worst[(truth.low == 0) & (truth.high == 0) & (answer == 0)] = 0.0
    worst[~(np.isfinite(truth.low) & np.isfinite(truth.high))] = np.inf
    return worst


def _count(tail: Tail, held: HeldValues) -> Interval:
    # Whole numbers below 2**53: nothing is rounded.
    return Interval(tail.count.low + held.count, tail.count.high + held.count)


def _counted(_function: AggregateFunction, tail: Tail, held: HeldValues) -> Interval:
    return _count(tail, held)


def _sum(_function: AggregateFunction, tail: Tail, held: HeldValues) -> Interval:
    total = point(held.value).widened(HELD_ERROR).plus(tail.sum)
    return total.widened(HELD_ERROR)


def _average(_function: AggregateFunction, tail: Tail, held: HeldValues) -> Interval:
    deviation = _held_shift(tail, held).times(held.count).plus(tail.deviation)
    mean = point(tail.center).plus(deviation.over(_count(tail, held)))
    return mean.widened(HELD_ERROR)


def _extreme(function: AggregateFunction, tail: Tail, held: HeldValues) -> Interval:
    known = tail.highest if function.is_greatest else tail.lowest
    pick = np.maximum if function.is_greatest else np.minimum
    return Interval(pick(held.value, known.low), pick(held.value, known.high))


def _spread(function: AggregateFunction, tail: Tail, held: HeldValues) -> Interval:
    shown = point(held.value).widened(HELD_ERROR)
    variance = shown.squared() if function.is_root else shown
    spread = _all_variance(function.rows_less, variance, tail, held)
    return (spread.root() if function.is_root else spread).widened(HELD_ERROR)


def _all_variance(rows_less: int, variance: Interval, tail: Tail, held: HeldValues) -> Interval:
    """(squares - deviation**2 / n) / (n - rows_less) of the rows held and lacking together."""
    held_squares = variance.times(np.maximum(held.count - rows_less, 0))
    shift = _held_shift(tail, held)
    count = _count(tail, held)
    squares = held_squares.plus(shift.squared().times(held.count)).plus(tail.squares)
    deviation = shift.times(held.count).plus(tail.deviation)
    about_mean = squares.minus(deviation.squared().over(count)).not_below(held_squares.low)
    return about_mean.over(Interval(count.low - rows_less, count.high - rows_less))


def _held_shift(tail: Tail, held: HeldValues) -> Interval:
    """How far the true mean of the values held can be from the centre, which is it rounded."""
    size = Interval(np.zeros_like(tail.center), np.abs(tail.center)).times(
        np.where(held.count > 0, HELD_ERROR, 0.0)
    )
    return Interval(-size.high, size.high)


# What the exact answer lies in.
_TRUTHS: dict[Form, Callable[[AggregateFunction, Tail, HeldValues], Interval]] = {
    Form.ROWS: _counted,
    Form.COUNT: _counted,
    Form.SUM: _sum,
    Form.MEAN: _average,
    Form.EXTREME: _extreme,
    Form.SPREAD: _spread,
}
