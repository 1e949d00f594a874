"""From two worlds to an interval: what the exact answer over joined rows lies in.

The lower world has the rows that count for certain, the upper one those that may count as well.
The exact answer is of a set of rows between the two. So a count, a sum of values of one sign and
the sum of squared distances from the mean lie between theirs; a sum lies between the lower world's
with all that may be taken away and with all that may come; a mean moves from that of the lower
world by no more than the values that may come can move it.
Rounding: every lane is a sum of numbers of one sign (but deviations, whose sizes are bounded by
    squares), made in at most `steps` additions: it is off by less than steps * 2**-53 of itself.
    Whole numbers below 2**53 are not off at all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from windrow.aggregate_functions import AggregateFunction, Form
from windrow.governor.coarse import cell_form
from windrow.governor.coarse.cell_form import ROWS, CellForm, Lanes
from windrow.governor.error_bounds.intervals import Flags, Floats, Interval

__all__ = ["Truth", "truth_of"]

WHOLE_DOUBLES = 2.0**53
ROUNDING = 2.0**-52
SPARE_STEPS = 64


class Truth:
    """The interval of an aggregate, by group; is_null: where there surely is no value."""

    def __init__(self, interval: Interval, is_null: Flags, is_unsure: Flags) -> None:
        low, high = interval.low.copy(), interval.high.copy()
        known = np.isfinite(low) & np.isfinite(high) & ~is_unsure
        low[~known], high[~known] = -np.inf, np.inf
        low[is_null] = high[is_null] = 0.0
        self.interval, self.is_null = Interval(low, high), is_null


class _Lanes:
    """The lanes of one measure, in both worlds."""

    def __init__(self, form: CellForm, lanes: Lanes, measure: int, anchor: float) -> None:
        self._form, self._lanes, self._measure, self.anchor = form, lanes, measure, anchor

    def of(self, lane: str) -> tuple[Floats, Floats]:
        column = self._lanes[:, self._form.place(self._measure, lane)]
        return column[:, 0], column[:, 1]


def truth_of(
    function: AggregateFunction,
    measure: int | None,
    form: CellForm,
    lanes: Lanes,
    steps: int,
    anchor: float = 0.0,
    *,
    is_whole: bool = False,
) -> Truth:
    """What the exact answers lie in. lanes[group, lane, world]; is_whole: values are integers."""
    slack = (steps + SPARE_STEPS) * ROUNDING
    with np.errstate(all="ignore"):
        if measure is None:
            found = _counted(lanes[:, ROWS, 0], lanes[:, ROWS, 1], slack)
            nothing = np.zeros(lanes.shape[0], np.bool_)
            return Truth(found, nothing, nothing)
        own = _Lanes(form, lanes, measure, anchor)
        low, high = own.of(cell_form.VALID)
        if function.is_count:
            nothing = np.zeros(lanes.shape[0], np.bool_)
            return Truth(_counted(low, high, slack), nothing, nothing)
        fewest = function.fewest_values
        found = _TRUTHS[function.form](function, own, slack, is_whole)
        return Truth(found, high < fewest, (low < fewest) & (high >= fewest))


def _counted(low: Floats, high: Floats, slack: float) -> Interval:
    share = np.where(high < WHOLE_DOUBLES, 0.0, slack)
    return Interval(low - share * low, high + share * high)


def _sum(_function: AggregateFunction, own: _Lanes, slack: float, is_whole: bool) -> Interval:
    (low, high), (less, more) = own.of(cell_form.POSITIVE), own.of(cell_form.NEGATIVE)
    error = slack * (high + more)
    if is_whole:
        error = np.where(high + more < WHOLE_DOUBLES, 0.0, error)
    return Interval(low - more - error, high - less + error)


def _extreme(function: AggregateFunction, own: _Lanes, _slack: float, _is_whole: bool) -> Interval:
    if function.is_greatest:
        low, high = own.of(cell_form.HIGHEST)
        return Interval(-low, -high)
    low, high = own.of(cell_form.LOWEST)
    return Interval(high, low)


def _mean(_function: AggregateFunction, own: _Lanes, slack: float, _is_whole: bool) -> Interval:
    """About the mean of the lower world, from which those that may come are mostly not far."""
    count, most = own.of(cell_form.VALID)
    deviation, all_deviation = own.of(cell_form.DEVIATION)
    squares, all_squares = own.of(cell_form.SQUARES)
    lowest, highest = own.of(cell_form.LOWEST)[1], -own.of(cell_form.HIGHEST)[1]
    shift = deviation / count
    mean = own.anchor + shift
    more = np.maximum(most - count, 0)
    distance = (all_deviation - deviation) - more * shift
    reach = np.sqrt(most * all_squares)  # bounds all sums of distances from the anchor
    error = 4 * slack * (reach + most * np.abs(shift))
    square = (all_squares - squares) - 2 * shift * (all_deviation - deviation) + more * shift**2
    square = np.maximum(square, 0) + 8 * slack * (all_squares + most * shift**2)
    spread = np.sqrt(more * square)
    # Of those that may come: how much the values above the mean are above it in all.
    above = np.minimum((spread + distance) / 2 + error, more * np.maximum(highest - mean, 0))
    below = np.minimum((spread - distance) / 2 + error, more * np.maximum(mean - lowest, 0))
    # All that moves the mean one way comes with at least one row; the more rows, the less.
    high = np.minimum(above / count, np.maximum(highest - mean, 0) * more / (count + more))
    low = np.minimum(below / count, np.maximum(mean - lowest, 0) * more / (count + more))
    wide = error / count + 4 * slack * np.abs(mean)
    none = more == 0
    return Interval(
        mean - np.where(none, 0, np.maximum(low, 0)) - wide,
        mean + np.where(none, 0, np.maximum(high, 0)) + wide,
    )


def _spread(function: AggregateFunction, own: _Lanes, slack: float, _is_whole: bool) -> Interval:
    """The sum of squared distances from the mean never falls when rows are added."""
    count, most = own.of(cell_form.VALID)
    deviation, all_deviation = own.of(cell_form.DEVIATION)
    squares, all_squares = own.of(cell_form.SQUARES)
    least = squares - deviation**2 / count - 8 * slack * squares
    largest = all_squares - all_deviation**2 / most + 8 * slack * all_squares
    low = np.maximum(least, 0) / (most - function.rows_less)
    high = np.maximum(largest, 0) / np.maximum(count - function.rows_less, 1)
    if function.is_root:
        low, high = np.sqrt(low), np.sqrt(high)
    return Interval(low * (1 - slack), high * (1 + slack))


_TRUTHS: dict[Form, Callable[[AggregateFunction, _Lanes, float, bool], Interval]] = {
    Form.SUM: _sum,
    Form.EXTREME: _extreme,
    Form.MEAN: _mean,
    Form.SPREAD: _spread,
}
