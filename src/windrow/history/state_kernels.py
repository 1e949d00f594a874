"""States of aggregates in columns: count, sum, extremes and second moment of each measure.

Form: a state is one column of two matrices. `whole` (int64) has the start of its interval, its rows
    and, for each measure, the valid rows and the smallest and largest value as order words; `real`
    (double) has for each measure the sum as a pair of doubles, the sum of the positive values and
    the sum of squares about the mean.
Order words: integers as they are; of a double the bits, those of negative ones turned over, so that
    words compare as Spark compares values: NaN is larger than all others.
Laws: adding is associative and commutative up to rounding; the empty state is neutral. Infinities
    and NaN are valid rows but no part of the sums: that they are there is seen from the extremes.
Source: pairs of doubles by Dekker (1971), second moments by Chan, Golub and LeVeque (1979).
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit

START = 0
ROWS = 1
VALID = 2
LOWEST = 3
HIGHEST = 4
WHOLE_STEP = 3

SUM = 0
REST = 1
POSITIVE = 2
SQUARES = 3
REAL_STEP = 4

INTEGER = 0
DOUBLE = 1

LARGEST_WORD = np.iinfo(np.int64).max
SMALLEST_WORD = np.iinfo(np.int64).min
NAN_WORD = 0x7FF8000000000000
INFINITY_WORD = 0x7FF0000000000000
MINUS_INFINITY_WORD = -0x7FF0000000000001

_EXPONENT = 0x7FF0000000000000
_LOW_BITS = 0xFFFFFFFF
_HALF = 4294967296.0


@njit(cache=True)
def clear_states(whole, real, first, end):
    """Make states empty."""
    for at in range(first, end):
        for column in range(whole.shape[0]):
            whole[column, at] = 0
        for column in range(LOWEST, whole.shape[0], WHOLE_STEP):
            whole[column, at] = LARGEST_WORD
            whole[column + 1, at] = SMALLEST_WORD
        for column in range(real.shape[0]):
            real[column, at] = 0.0


@njit(cache=True)
def copy_state(whole, real, at, from_whole, from_real, source):
    """Write one state over another, its start too."""
    for column in range(whole.shape[0]):
        whole[column, at] = from_whole[column, source]
    for column in range(real.shape[0]):
        real[column, at] = from_real[column, source]


@njit(cache=True, inline="always")
def add_pairs(high, low, other_high, other_low):
    """The sum of two pairs of doubles."""
    total = high + other_high
    part = total - high
    error = (high - (total - part)) + (other_high - part)
    error += low + other_low
    out = total + error
    if not np.isfinite(out):
        return total, 0.0  # beyond the largest double
    return out, error - (out - total)


@njit(cache=True, inline="always")
def between_squares(count, mean, other_count, other_mean):
    """What the second moment of two parts gains by the distance of their means."""
    distance = other_mean - mean
    gained = distance * distance * (count * other_count / (count + other_count))
    # The means of values near the largest double may have no distance.
    return np.inf if np.isnan(gained) else gained


@njit(cache=True)
def add_part(whole, real, at, measure, valid, lowest, highest, high, low, positive, squares):
    """Add what is known of some rows to one measure of a state."""
    w = VALID + WHOLE_STEP * measure
    r = REAL_STEP * measure
    before = whole[w, at]
    if before > 0:
        mean = real[r + SUM, at] / before
        squares += real[r + SQUARES, at] + between_squares(
            np.float64(before), mean, np.float64(valid), high / valid
        )
    whole[w, at] = before + valid
    whole[w + 1, at] = min(whole[w + 1, at], lowest)
    whole[w + 2, at] = max(whole[w + 2, at], highest)
    total, rest = add_pairs(real[r + SUM, at], real[r + REST, at], high, low)
    real[r + SUM, at] = total
    real[r + REST, at] = rest
    real[r + POSITIVE, at] += positive
    real[r + SQUARES, at] = squares


@njit(cache=True)
def add_state(whole, real, at, from_whole, from_real, source):
    """Add one state to another, which keeps its start."""
    whole[ROWS, at] += from_whole[ROWS, source]
    for measure in range(real.shape[0] // REAL_STEP):
        w = VALID + WHOLE_STEP * measure
        r = REAL_STEP * measure
        valid = from_whole[w, source]
        if valid > 0:
            add_part(
                whole, real, at, measure, valid, from_whole[w + 1, source],
                from_whole[w + 2, source], from_real[r + SUM, source], from_real[r + REST, source],
                from_real[r + POSITIVE, source], from_real[r + SQUARES, source],
            )  # fmt: skip


@njit(cache=True)
def add_rows(whole, real, at, kinds, words, values, valid, first, end):
    """Add rows first to end to a state; `values` are the words seen as doubles."""
    whole[ROWS, at] += end - first
    for measure in range(kinds.size):
        if kinds[measure] == INTEGER:
            add_integers(whole, real, at, measure, words[measure], valid, first, end)
        else:
            add_doubles(
                whole, real, at, measure, words[measure], values[measure], valid, first, end
            )


@njit(cache=True)
def add_integers(whole, real, at, measure, words, valid, first, end):
    """Add integers: the halves of their sum cannot run over within 2**31 rows."""
    checked = valid.shape[1] > 0
    count = upper = lower = 0
    lowest, highest = LARGEST_WORD, SMALLEST_WORD
    positive = 0.0
    for row in range(first, end):
        if checked and valid[measure, row] == 0:
            continue
        word = words[row]
        count += 1
        upper += word >> 32
        lower += word & _LOW_BITS
        lowest = min(lowest, word)
        highest = max(highest, word)
        positive += np.float64(max(word, 0))
    if count == 0:
        return
    high, low = pair_of_halves(upper, lower)
    mean = high / count
    squares = drift = 0.0
    for row in range(first, end):
        if checked and valid[measure, row] == 0:
            continue
        distance = np.float64(words[row]) - mean
        squares += distance * distance
        drift += distance
    squares -= drift * (drift / count)  # integers are too small to overflow
    add_part(
        whole, real, at, measure, count, lowest, highest, high, low, positive, max(squares, 0.0)
    )


@njit(cache=True)
def pair_of_halves(upper, lower):
    """Upper * 2**32 + lower as a pair of doubles, exactly."""
    high, low = np.float64(upper >> 32) * (_HALF * _HALF), np.float64(upper & _LOW_BITS) * _HALF
    high, low = add_pairs(high, 0.0, low, 0.0)
    high, low = add_pairs(high, low, np.float64(lower >> 32) * _HALF, 0.0)
    return add_pairs(high, low, np.float64(lower & _LOW_BITS), 0.0)


@njit(cache=True)
def add_doubles(whole, real, at, measure, words, values, valid, first, end):
    """Add doubles; what rounding drops from the sum is summed separately."""
    checked = valid.shape[1] > 0
    count = finite = 0
    lowest, highest = LARGEST_WORD, SMALLEST_WORD
    total = rest = positive = 0.0
    for row in range(first, end):
        if checked and valid[measure, row] == 0:
            continue
        word = words[row]
        count += 1
        order = word ^ ((word >> 63) & LARGEST_WORD)
        lowest = min(lowest, order)
        highest = max(highest, order)
        if word & _EXPONENT == _EXPONENT:
            continue
        value = values[row]
        finite += 1
        new = total + value
        part = new - total
        rest += (total - (new - part)) + (value - part)
        total = new
        positive += max(value, 0.0)
    if count == 0:
        return
    if np.isfinite(total):
        total, rest = add_pairs(total, 0.0, rest, 0.0)
    else:
        rest = 0.0
    squares = 0.0
    if finite == count:
        squares = squares_about(total / count, measure, values, valid, first, end, count)
    add_part(whole, real, at, measure, count, lowest, highest, total, rest, positive, squares)


@njit(cache=True)
def squares_about(mean, measure, values, valid, first, end, count):
    """The sum of squares about the mean of finite values."""
    checked = valid.shape[1] > 0
    squares = drift = 0.0
    for row in range(first, end):
        if checked and valid[measure, row] == 0:
            continue
        distance = values[row] - mean
        squares += distance * distance
        drift += distance
    if not np.isfinite(squares):
        return np.inf
    return max(squares - drift * (drift / count), 0.0)
