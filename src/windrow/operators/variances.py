"""VARIANCE and STDDEV from exact sums of values and squares: nothing cancels but what must.

n * (sum of squares) - (sum)**2 is made in pairs of doubles and, where much of it cancels, in exact
digits, so that the variance of values that are large compared with their differences is as good as
that of small ones. A square is kept as two doubles, itself and what it was rounded by.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.aggregate_functions import AggregateFunction
from windrow.exact.kernels import LOWEST_BIT, to_doubles
from windrow.operators.kernels import quick_variances
from windrow.operators.lanes import Matrix, ValueLanes, Vector

__all__ = ["doubles_of", "variances"]

DIGIT_BITS = 16
DIGIT_MASK = (1 << DIGIT_BITS) - 1
COUNT_DIGITS = 4
# A result beyond the doubles before it is divided is made again, this many limbs lower.
LOWER_LIMBS = 20


def doubles_of(read: ValueLanes) -> NDArray[np.float64]:
    """The nearest doubles to the sums; infinities and NaN among the values tell."""
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


def variances(
    function: AggregateFunction, values: ValueLanes, squares: ValueLanes, errors: ValueLanes
) -> pa.Array:
    """The spread of each state: a variance or its root, of the sample or of the population."""
    count = values.valid
    # Squares too small for a double may be rounded up: their sum can be a little too small.
    out = np.maximum(_divided(values, squares, errors, count - function.rows_less), 0.0)
    out[_has_special(squares)] = np.inf
    out[_has_special(values)] = np.nan
    if function.is_root:
        out = np.sqrt(out)
    missing = count < function.fewest_values
    return pa.array(out, mask=missing if missing.any() else None)


def _divided(
    values: ValueLanes, squares: ValueLanes, errors: ValueLanes, divisor: Vector
) -> NDArray[np.float64]:
    """(n * squares - values**2) / n / divisor."""
    out, unsure = np.empty(divisor.size, np.float64), np.empty(divisor.size, np.bool_)
    parts = [np.ascontiguousarray(read.limbs) for read in (values, squares, errors)]
    quick_variances(*parts, values.low_limb, values.valid, divisor, out, unsure)
    if unsure.any():
        hard = np.flatnonzero(unsure)
        out[hard] = _exactly_divided(
            _taken(values, hard), _taken(squares, hard), _taken(errors, hard), divisor[hard]
        )
    return out


def _taken(read: ValueLanes, rows: Vector) -> ValueLanes:
    return replace(read, valid=read.valid[rows], limbs=read.limbs[rows])


def _exactly_divided(
    values: ValueLanes, squares: ValueLanes, errors: ValueLanes, divisor: Vector
) -> NDArray[np.float64]:
    limbs, low_limb = _difference(values, squares, errors)
    below = np.maximum(values.valid, 1).astype(np.float64) * np.maximum(divisor, 1)
    out = np.empty(values.valid.size, np.float64)
    to_doubles(limbs, low_limb, out)
    large = np.isinf(out)
    out /= below
    if large.any():
        lower = np.empty(int(large.sum()), np.float64)
        to_doubles(np.ascontiguousarray(limbs[large]), low_limb - LOWER_LIMBS, lower)
        with np.errstate(over="ignore"):
            out[large] = np.ldexp(lower / below[large], 32 * LOWER_LIMBS)
    return out


def _difference(values: ValueLanes, squares: ValueLanes, errors: ValueLanes) -> tuple[Matrix, int]:
    """Count * squares - values**2 as limbs, and the number of the lowest limb."""
    low = values.low_limb
    total, all_squares = _digits(values.limbs), _digits(squares.limbs + errors.limbs)
    count = _digits(np.stack([values.valid, np.zeros_like(values.valid)], axis=1))
    left = _product(all_squares, count[:, : COUNT_DIGITS + 1])
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


def _has_special(read: ValueLanes) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = np.any(read.special > 0, axis=1)
    return flags
