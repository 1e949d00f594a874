"""Loops over exact sums of values and squares: variances in pairs of doubles."""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit
from windrow.exact.kernels import LIMB_BITS, LOWEST_BIT, carry_over, scale_by_power

# This many limbs, squared, stay far inside the doubles, and so does a shift by this many bits.
MOST_LIMBS = 12
MOST_SHIFT = 320
# A difference that kept so much of what it was taken from is good to the last digit.
LEAST_SHARE = 2.0**-40
_SPLITTER = 134217729.0


@njit(cache=True)
def quick_variances(values, squares, errors, low_limb, count, divisor, out, unsure):
    """(count * squares - values**2) / count / divisor in pairs of doubles; squares plus errors.

    A pair holds 106 bits. Where more than 40 of them cancel, or numbers are out of range, the row
    is flagged in `unsure` and nothing is written.
    """
    width = values.shape[1]
    exponent = LIMB_BITS * low_limb + LOWEST_BIT
    in_range = width <= MOST_LIMBS and -MOST_SHIFT <= exponent <= MOST_SHIFT
    work = np.empty(width, np.int64)
    shift = scale_by_power(1.0, -exponent) if in_range else 1.0
    for row in range(values.shape[0]):
        unsure[row] = not in_range
        if not in_range or count[row] == 0:
            out[row] = 0.0
            continue
        for limb in range(width):
            work[limb] = values[row, limb]
        total_high, total_low = pair_of_limbs(work)
        for limb in range(width):
            work[limb] = squares[row, limb] + errors[row, limb]
        square_high, square_low = pair_of_limbs(work)
        quotient, unsure[row] = variance_of_pairs(
            total_high, total_low, square_high * shift, square_low * shift, count[row], divisor[row]
        )
        out[row] = scale_by_power(quotient, 2 * exponent)


@njit(cache=True)
def quick_variances_of_digits(values, value_bit, squares, square_bit, count, divisor, out, unsure):
    """The same where a sum of values, and one of squares that were not rounded, are one digit.

    A number of 63 bits is a pair of doubles; the powers of two that digits count change no bit.
    """
    shift = scale_by_power(1.0, square_bit - 2 * value_bit)
    scale = scale_by_power(1.0, 2 * value_bit)
    for row in range(values.size):
        total_high = np.float64(values[row])
        total_low = np.float64(values[row] - np.int64(total_high))
        square_high = np.float64(squares[row])
        square_low = np.float64(squares[row] - np.int64(square_high))
        quotient, unsure[row] = variance_of_pairs(
            total_high, total_low, square_high * shift, square_low * shift, count[row], divisor[row]
        )
        out[row] = quotient * scale


@njit(cache=True)
def variance_of_pairs(total_high, total_low, square_high, square_low, count, divisor):
    """(count * square - total**2) / count / divisor, and whether too much of it cancels."""
    if count == 0:
        return 0.0, False
    number = np.float64(count)
    left_high, left_low = times(square_high, square_low, number, 0.0)
    right_high, right_low = times(total_high, total_low, total_high, total_low)
    difference, rest = plus(left_high, left_low, -right_high, -right_low)
    is_unsure = abs(difference) < LEAST_SHARE * left_high or count >= 1 << 53
    return (difference + rest) / number / np.float64(max(divisor, 1)), is_unsure


@njit(cache=True)
def pair_of_limbs(limbs):
    """Limbs as the sum of two doubles, in units of the lowest; the limbs are used up."""
    sign = carry_over(limbs, LIMB_BITS)
    if sign < 0:
        for limb in range(limbs.size):
            limbs[limb] = -limbs[limb]
        carry_over(limbs, LIMB_BITS)
    high = 0.0
    low = 0.0
    weight = 1.0
    for limb in range(limbs.size):
        high, low = plus(np.float64(limbs[limb]) * weight, 0.0, high, low)
        weight *= 4294967296.0
    return sign * high, sign * low


@njit(cache=True)
def plus(left_high, left_low, right_high, right_low):
    """The sum of two pairs of doubles."""
    total = left_high + right_high
    part = total - left_high
    error = (left_high - (total - part)) + (right_high - part)
    error += left_low + right_low
    high = total + error
    return high, error - (high - total)


@njit(cache=True)
def times(left_high, left_low, right_high, right_low):
    """The product of two pairs of doubles."""
    product = left_high * right_high
    split = _SPLITTER * left_high
    left_top = split - (split - left_high)
    left_rest = left_high - left_top
    split = _SPLITTER * right_high
    right_top = split - (split - right_high)
    right_rest = right_high - right_top
    error = left_top * right_top - product
    error += left_top * right_rest + left_rest * right_top
    error += left_rest * right_rest
    error += left_high * right_low + left_low * right_high
    high = product + error
    return high, error - (high - product)
