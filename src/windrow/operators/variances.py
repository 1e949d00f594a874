"""VARIANCE and STDDEV from exact sums of values and squares: nothing cancels but what must.

n * (sum of squares) - (sum)**2 is made in pairs of doubles and, where much of it cancels, in exact
digits, so that the variance of values that are large compared with their differences is as good as
that of small ones. A square is kept as two doubles, itself and what it was rounded by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.aggregate_functions import AggregateFunction
from windrow.exact.kernels import INTEGER_LIMB, LOWEST_BIT, to_doubles
from windrow.operators.digits import DigitLanes
from windrow.operators.kernels import quick_variances, quick_variances_of_digits
from windrow.operators.lanes import Matrix, ValueLanes, Vector

__all__ = ["doubles_of", "variances"]

DIGIT_BITS = 16
DIGIT_MASK = (1 << DIGIT_BITS) - 1
COUNT_DIGITS = 4
# A result beyond the doubles before it is divided is made again, this many limbs lower.
LOWER_LIMBS = 20
# Digits that count such powers of two stay far inside the doubles, and so do their squares.
MOST_DIGIT_SHIFT = 100


Read = ValueLanes | DigitLanes


def doubles_of(read: Read) -> NDArray[np.float64]:
    """The nearest doubles to the sums; infinities and NaN among the values tell."""
    if isinstance(read, DigitLanes):
        return read.doubles()
    if read.narrow is not None:
        return read.narrow.astype(np.float64)
    out = np.empty(read.valid.size, np.float64)
    to_doubles(np.ascontiguousarray(read.limbs), read.low_limb, out)
    if read.special.shape[1] == 0:
        return out
    nan, plus, minus = (read.special[:, i] > 0 for i in range(3))
    out[plus] = np.inf
    out[minus] = -np.inf
    out[nan | (plus & minus)] = np.nan
    return out


def variances(function: AggregateFunction, values: Read, squares: Read, errors: Read) -> pa.Array:
    """The spread of each state: a variance or its root, of the sample or of the population."""
    count = values.valid
    # Squares too small for a double may be rounded up: their sum can be a little too small.
    out = np.maximum(_divided(values, squares, errors, count - function.rows_less), 0.0)
    if values.special.shape[1]:
        out[_has_special(squares)] = np.inf
        out[_has_special(values)] = np.nan
    if function.is_root:
        out = np.sqrt(out)
    missing = count < function.fewest_values
    return pa.array(out, mask=missing if missing.any() else None)


def _divided(values: Read, squares: Read, errors: Read, divisor: Vector) -> NDArray[np.float64]:
    """(n * squares - values**2) / n / divisor."""
    out, unsure = np.empty(divisor.size, np.float64), np.empty(divisor.size, np.bool_)
    count = np.ascontiguousarray(values.valid)
    singles = _single_digits(values, squares, errors)
    if singles is not None:
        quick_variances_of_digits(*singles, count, divisor, out, unsure)
    else:
        parts, low_limb = _common_limbs(values, squares, errors)
        quick_variances(*parts, low_limb, count, divisor, out, unsure)
    if unsure.any():
        hard = np.flatnonzero(unsure)
        parts, low_limb = _common_limbs(*(each.taken(hard) for each in (values, squares, errors)))
        out[hard] = _exactly_divided(parts, low_limb, count[hard], divisor[hard])
    return out


def _single_digits(values: Read, squares: Read, errors: Read) -> tuple[Any, ...] | None:
    """Values and squares of one digit each, with what these count; None where there are others."""
    if not isinstance(values, DigitLanes) or not isinstance(squares, DigitLanes):
        return None
    if not isinstance(errors, DigitLanes) or errors.digits.shape[1]:
        return None
    if values.digits.shape[1] != 1 or squares.digits.shape[1] != 1:
        return None
    if max(abs(values.low_bit), abs(squares.low_bit)) > MOST_DIGIT_SHIFT:
        return None
    return values.digits[:, 0], values.low_bit, squares.digits[:, 0], squares.low_bit


def _common_limbs(*reads: Read) -> tuple[list[Matrix], int]:
    """The limbs of all, from the same limb on and equally many; and the number of the lowest."""
    digits = [read for read in reads if isinstance(read, DigitLanes)]
    if len(digits) < len(reads):
        return [np.ascontiguousarray(read.limbs) for read in reads], reads[0].low_limb
    spans = [read.span for read in digits if read.digits.shape[1]]
    low = min((span[0] for span in spans), default=INTEGER_LIMB)
    high = max((span[1] for span in spans), default=INTEGER_LIMB)
    return [read.limbs_between(low, high) for read in digits], low


def _exactly_divided(
    sums: list[Matrix], low: int, count: Vector, divisor: Vector
) -> NDArray[np.float64]:
    limbs, low_limb = _difference(sums, low, count)
    below = np.maximum(count, 1).astype(np.float64) * np.maximum(divisor, 1)
    out = np.empty(count.size, np.float64)
    to_doubles(limbs, low_limb, out)
    large = np.isinf(out)
    out /= below
    if large.any():
        lower = np.empty(int(large.sum()), np.float64)
        to_doubles(np.ascontiguousarray(limbs[large]), low_limb - LOWER_LIMBS, lower)
        with np.errstate(over="ignore"):
            out[large] = np.ldexp(lower / below[large], 32 * LOWER_LIMBS)
    return out


def _difference(sums: list[Matrix], low: int, count: Vector) -> tuple[Matrix, int]:
    """Count * squares - values**2 as limbs, and the number of the lowest limb."""
    values, squares, errors = sums
    total, all_squares = _digits(values), _digits(squares + errors)
    number = _digits(np.stack([count, np.zeros_like(count)], axis=1))
    left = _product(all_squares, number[:, : COUNT_DIGITS + 1])
    right = _product(total, total)
    # The weights of the two differ by this many digits: move one up to the other.
    shift = -(32 * low + LOWEST_BIT) // DIGIT_BITS
    left, right = (_moved(left, shift), right) if shift >= 0 else (left, _moved(right, -shift))
    width = max(left.shape[1], right.shape[1]) + 2
    digits = _widened(left, width + width % 2) - _widened(right, width + width % 2)
    limbs = _carried(digits)
    lowest = 2 * low - 34 if shift >= 0 else low
    return np.ascontiguousarray(limbs[:, 0::2] + (limbs[:, 1::2] << DIGIT_BITS)), lowest


def _digits(limbs: Matrix) -> Matrix:
    """Limbs of 32 bits, which may run over, as carried digits; the last has the sign."""
    parts = np.zeros((limbs.shape[0], 2 * limbs.shape[1] + 4), np.int64)
    parts[:, 0 : 2 * limbs.shape[1] : 2] = limbs & DIGIT_MASK
    # What is above the first digit of a limb has up to 47 bits and a sign.
    parts[:, 1 : 2 * limbs.shape[1] : 2] = limbs >> DIGIT_BITS
    return _carried(parts)


def _carried(digits: Matrix) -> Matrix:
    out = digits.copy()
    for place in range(out.shape[1] - 1):
        out[:, place + 1] += out[:, place] >> DIGIT_BITS
        out[:, place] &= DIGIT_MASK
    return out


def _product(left: Matrix, right: Matrix) -> Matrix:
    """The product of carried digits; digits of the result may run over."""
    out = np.zeros((left.shape[0], left.shape[1] + right.shape[1]), np.int64)
    for place in range(right.shape[1]):
        out[:, place : place + left.shape[1]] += left * right[:, place, None]
    return out


def _moved(digits: Matrix, places: int) -> Matrix:
    return np.pad(digits, ((0, 0), (places, 0)))


def _widened(digits: Matrix, width: int) -> Matrix:
    return np.pad(digits, ((0, 0), (0, width - digits.shape[1])))


def _has_special(read: Read) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = np.any(read.special > 0, axis=1)
    return flags
