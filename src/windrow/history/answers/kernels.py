"""Values of aggregates with bounds, from what is surely in an interval and the nodes that it cuts.

Of a cut node any of its rows may be in the interval, or none; sure rows are S, cut ones C:

    COUNT      [n(S), n(S) + n(C)]
    SUM        [sum(S) + negatives(C), sum(S) + positives(C)]
    MIN        [min(S, C), min(S)]; without sure rows [min(C), max(C)]; MAX likewise
    AVG        as if all rows of C were at max(C), or none there:
               the larger of avg(S) and (sum(S) + n(C) max(C)) / (n(S) + n(C)); likewise min(C)
    VARIANCE   squares(S) / (n - 1) with all n rows of S and C at the least; at the most
               squares(S) + n(C) d**2, d the largest distance of a cut value to the mean of S, or,
               by Popoviciu, a quarter of the squared range for each row

Each is the least and the largest value that what is known of C allows, widened by what rounding may
do; so that bounds of finer nodes lie within those of coarser ones. They bound the value if there is
one: where all rows may be cut off it may be NULL as well. Special values: NaN is larger than all
others, so that a NaN that may be there shows in the upper bound.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit
from windrow.history.cells.kernels import EXACT, LEFT, PARTS, RIGHT
from windrow.history.state_kernels import (
    DOUBLE,
    INFINITY_WORD,
    LARGEST_WORD,
    MINUS_INFINITY_WORD,
    NAN_WORD,
    POSITIVE,
    REAL_STEP,
    REST,
    SQUARES,
    SUM,
    VALID,
    WHOLE_STEP,
    add_pairs,
)

VALUE = 0
LOW = 1
HIGH = 2

SAMPLE = 0
POPULATION = 1

_ROUNDING = 2.0**-50
_EXACT_LIMIT = 2.0**53
_SMALLEST_SQUARE = 1e-300  # what is smaller is not to be trusted


@njit(cache=True)
def finish_counts(whole, row, shares, out):
    """Counts of rows, or of valid rows, for each group."""
    for group in range(shares.shape[0]):
        at = PARTS * group
        sure = whole[row, at + EXACT]
        left, right = whole[row, at + LEFT], whole[row, at + RIGHT]
        guess = shares[group, 0] * left + shares[group, 1] * right
        out[group, VALUE] = sure + min(np.int64(guess + 0.5), left + right)
        out[group, LOW] = sure
        out[group, HIGH] = sure + left + right


@njit(cache=True)
def finish_extremes(whole, measure, is_max, out):
    """Order words of the smallest or largest value, for each group."""
    w = VALID + WHOLE_STEP * measure
    for group in range(out.shape[0]):
        at = PARTS * group
        lowest = min(whole[w + 1, at + LEFT], whole[w + 1, at + RIGHT])
        highest = max(whole[w + 2, at + LEFT], whole[w + 2, at + RIGHT])
        is_sure = whole[w, at] > 0
        is_cut = whole[w, at + LEFT] + whole[w, at + RIGHT] > 0
        if is_max:
            sure = whole[w + 2, at]
            out[group, LOW] = sure if is_sure else lowest
            out[group, HIGH] = max(sure, highest)
            out[group, VALUE] = out[group, HIGH]
        else:
            sure = whole[w + 1, at]
            out[group, LOW] = min(sure, lowest)
            out[group, HIGH] = sure if is_sure else highest
            out[group, VALUE] = out[group, LOW]
        if not is_cut:
            out[group, LOW] = out[group, HIGH] = out[group, VALUE]


@njit(cache=True)
def special_values(whole, measure, at):
    """Whether a state has NaN, infinity, minus infinity."""
    w = VALID + WHOLE_STEP * measure
    if whole[w, at] == 0:
        return False, False, False
    highest = whole[w + 2, at]
    # Behind a NaN an infinity does not show, and does not matter.
    return highest == NAN_WORD, highest == INFINITY_WORD, whole[w + 1, at] == MINUS_INFINITY_WORD


@njit(cache=True)
def special_bounds(whole, kind, measure, at, out):
    """Put in what special values force on a sum or mean."""
    if kind != DOUBLE:
        return
    nan, plus, minus = special_values(whole, measure, at + EXACT)
    left_nan, left_plus, left_minus = special_values(whole, measure, at + LEFT)
    right_nan, right_plus, right_minus = special_values(whole, measure, at + RIGHT)
    cut_nan, cut_plus = left_nan or right_nan, left_plus or right_plus
    cut_minus = left_minus or right_minus
    if nan or (plus and minus):
        out[VALUE] = out[LOW] = out[HIGH] = np.nan
    elif plus or minus:
        out[VALUE] = out[LOW] = out[HIGH] = np.inf if plus else -np.inf
        if cut_nan or (cut_minus if plus else cut_plus):
            out[HIGH] = np.nan
    else:
        if cut_minus:
            out[LOW] = -np.inf
        if cut_nan or cut_plus:
            out[HIGH] = np.nan if cut_nan or cut_minus else np.inf


@njit(cache=True)
def cut_sums(whole, real, kind, measure, at):
    """Bounds of the sums of the negative and of the positive values of a state."""
    w = VALID + WHOLE_STEP * measure
    r = REAL_STEP * measure
    valid = whole[w, at]
    total = real[r + SUM, at]
    if valid == 0:
        return 0.0, 0.0
    positive = real[r + POSITIVE, at]
    if not (np.isfinite(total) and np.isfinite(positive)):
        # A sum beyond the largest double: which part of it is there may be of any size.
        return (
            -np.inf if whole[w + 1, at] < 0 else 0.0,
            np.inf if whole[w + 2, at] > 0 else 0.0,
        )
    is_exact = kind != DOUBLE and abs(total) < _EXACT_LIMIT and positive < _EXACT_LIMIT
    # The sum of positive values was rounded at every row.
    slack = 0.0 if is_exact else (valid + 4) * 2.0**-52 * (positive + abs(total))
    if whole[w + 1, at] >= 0:
        return 0.0, total + slack
    if whole[w + 2, at] <= 0:
        return total - slack, 0.0
    return total - positive - slack, positive + slack


@njit(cache=True)
def finish_sums(whole, real, kind, measure, shares, out, rest):
    """Sums as pairs of doubles, for each group."""
    w = VALID + WHOLE_STEP * measure
    r = REAL_STEP * measure
    for group in range(shares.shape[0]):
        at = PARTS * group
        total, below = real[r + SUM, at], real[r + REST, at]
        left_low, left_high = cut_sums(whole, real, kind, measure, at + LEFT)
        right_low, right_high = cut_sums(whole, real, kind, measure, at + RIGHT)
        guess = shares[group, 0] * real[r + SUM, at + LEFT]
        guess += shares[group, 1] * real[r + SUM, at + RIGHT]
        lower, upper = left_low + right_low, left_high + right_high
        if kind == DOUBLE and whole[w, at + LEFT] + whole[w, at + RIGHT] > 0:
            slack = 2.0**-90 * real[r + POSITIVE, at] + 2.0**-90 * abs(total)
            lower -= slack
            upper += slack
        if kind != DOUBLE:
            guess = np.floor(guess + 0.5)
        if np.isnan(guess):
            guess = 0.0
        for side, more in ((VALUE, min(max(guess, lower), upper)), (LOW, lower), (HIGH, upper)):
            out[group, side], rest[group, side] = add_pairs(total, below, more, 0.0)
        if whole[w, at + LEFT] + whole[w, at + RIGHT] > 0:
            bound_overflow(total, out[group])
        special_bounds(whole, kind, measure, at, out[group])
        for side in range(3):
            if not np.isfinite(out[group, side]):
                rest[group, side] = 0.0


@njit(cache=True)
def bound_overflow(total, out):
    """Where sums ran beyond the largest double, what they would be is not known."""
    if not np.isfinite(total) or np.isnan(out[LOW]):
        out[LOW] = -np.inf
    if not np.isfinite(total) or np.isnan(out[HIGH]):
        out[HIGH] = np.inf
    if np.isnan(out[VALUE]):
        out[VALUE] = 0.0


@njit(cache=True)
def value_of_order(word, kind):
    """About the value of an order word: where words differ, values do not compare otherwise."""
    if kind != DOUBLE:
        return np.float64(word)
    bits = np.empty(1, np.int64)
    bits[0] = word ^ ((word >> 63) & LARGEST_WORD)
    return bits.view(np.float64)[0]


@njit(cache=True)
def cut_range(whole, measure, at):
    """Valid rows of both cuts, and their smallest and largest order words."""
    w = VALID + WHOLE_STEP * measure
    lowest = min(whole[w + 1, at + LEFT], whole[w + 1, at + RIGHT])
    highest = max(whole[w + 2, at + LEFT], whole[w + 2, at + RIGHT])
    return whole[w, at + LEFT] + whole[w, at + RIGHT], lowest, highest


@njit(cache=True)
def finish_averages(whole, real, kind, measure, shares, out):
    """Means, for each group; NaN where there is no row."""
    w = VALID + WHOLE_STEP * measure
    r = REAL_STEP * measure
    for group in range(shares.shape[0]):
        at = PARTS * group
        sure, total = whole[w, at], real[r + SUM, at]
        cut, lowest, highest = cut_range(whole, measure, at)
        guess, rows = total, np.float64(sure)
        for side in range(2):
            share = shares[group, side]
            guess += share * real[r + SUM, at + LEFT + side]
            rows += share * whole[w, at + LEFT + side]
        out[group, VALUE] = guess / rows if rows > 0.0 else np.nan
        if cut > 0:
            low, high = value_of_order(lowest, kind), value_of_order(highest, kind)
            # Made small before they are added: two large numbers may have no sum.
            lost = 2.0**-90 * real[r + POSITIVE, at] + 2.0**-90 * abs(total)
            bound_mean(sure, total, lost, cut, low, high, out[group])
            # Beyond the largest double a mean still lies between the extremes of all rows.
            if np.isfinite(low) and not np.isfinite(total + cut * low + lost):
                least = value_of_order(whole[w + 1, at], kind) if sure > 0 else low
                out[group, LOW] = min(low, least)
            if np.isfinite(high) and not np.isfinite(total + cut * high + lost):
                most = value_of_order(whole[w + 2, at], kind) if sure > 0 else high
                out[group, HIGH] = max(high, most)
        else:
            out[group, LOW] = out[group, HIGH] = out[group, VALUE]
        special_bounds(whole, kind, measure, at, out[group])
        keep_between(out[group])


@njit(cache=True)
def keep_between(out):
    """Move a guess between its bounds; NaN is larger than all others."""
    if np.isnan(out[LOW]) or (not np.isnan(out[VALUE]) and out[VALUE] < out[LOW]):
        out[VALUE] = out[LOW]
    if not np.isnan(out[HIGH]) and not (out[VALUE] <= out[HIGH]):
        out[VALUE] = out[HIGH]


@njit(cache=True)
def bound_mean(sure, total, lost, cut, low, high, out):
    """Bounds of a mean of sure rows and any of the cut ones, which lie between low and high.

    lost: what the sum of the sure rows may have lost by rounding.
    """
    count = np.float64(sure + cut)
    for side, extreme, outwards in ((LOW, low, -1.0), (HIGH, high, 1.0)):
        bound = (total + cut * extreme) / count
        slack = (_ROUNDING * abs(total) + cut * (_ROUNDING * abs(extreme))) / count
        if sure > 0:
            mean = total / sure
            # A NaN among the cut values does not replace the mean: it comes in later.
            if np.isnan(bound) or (bound - mean) * outwards < 0.0:
                bound, slack = mean, 0.0
            slack = max(slack, _ROUNDING * abs(mean) + lost / sure)
        out[side] = bound + outwards * slack if np.isfinite(slack) else bound


@njit(cache=True)
def finish_variances(whole, real, kind, measure, out):
    """Variances of the sample and of the population, for each group: out[group, which, side]."""
    w = VALID + WHOLE_STEP * measure
    r = REAL_STEP * measure
    for group in range(out.shape[0]):
        at = PARTS * group
        sure, total = whole[w, at], real[r + SUM, at]
        squares = real[r + SQUARES, at]
        nan, plus, minus = special_values(whole, measure, at + EXACT)
        cut, lowest, highest = cut_range(whole, measure, at)
        for which in range(2):
            less = 1 if which == SAMPLE else 0
            here = out[group, which]
            here[:] = squares / (sure - less) if sure > less else np.nan
            if kind == DOUBLE and (nan or plus or minus):
                here[:] = np.nan
            elif cut > 0 and sure + cut > less:
                least = min(whole[w + 1, at], lowest) if sure else lowest
                most = max(whole[w + 2, at], highest) if sure else highest
                bound_variance(
                    sure, total, squares, cut, less, value_of_order(lowest, kind),
                    value_of_order(highest, kind), value_of_order(least, kind),
                    value_of_order(most, kind), here,
                )  # fmt: skip


@njit(cache=True)
def bound_variance(sure, total, squares, cut, less, low, high, least, most, out):
    """Bounds of a variance; a special value among the cut ones leaves no upper bound but NaN."""
    if not np.isfinite(low) or not np.isfinite(high):
        out[VALUE] = out[LOW] = 0.0
        out[HIGH] = np.nan
        return
    if not np.isfinite(squares):  # beyond the largest double
        out[VALUE] = out[HIGH] = np.inf
        out[LOW] = 0.0
        return
    largest = max(abs(least), abs(most))
    rounding = 16.0 * _ROUNDING * largest
    slack = 1e-9 * squares + rounding * np.sqrt(squares * (sure + cut)) + rounding * rounding
    lower = max(squares - slack, 0.0) / (sure + cut - less)
    width = most - least
    upper = 0.25 * width * width * (1.0 if less == 0 else 2.0)
    if sure > less:
        mean = total / sure
        distance = max(abs(high - mean), abs(mean - low)) + rounding
        alone = (squares + slack) / (sure - less)
        together = (squares + slack + cut * distance * distance) / (sure + cut - less)
        upper = min(upper * (1.0 + 1e-9) + slack, max(alone, together))
    else:
        upper = upper * (1.0 + 1e-9) + slack
    if width > 0.0:
        upper = max(upper, _SMALLEST_SQUARE)
    if np.isnan(upper):
        upper = np.inf
    out[LOW] = lower if np.isfinite(lower) else 0.0
    out[HIGH] = upper
    if np.isnan(out[VALUE]):
        out[VALUE] = out[LOW]  # too few sure rows to have a variance
    keep_between(out)
