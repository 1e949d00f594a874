"""Squares of doubles in two parts, the rounded square and what was rounded off: for variances.

The parts add up to the exact square (Dekker 1971) unless the square is not finite, or so small
(below about 1e-290) that its last digits are no doubles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from windrow.rows.scalar.values import Function, from_numpy, numbers, over_arrays
from windrow.schema import ColumnType

__all__ = ["SQUARES"]

# 2**27 + 1 splits the 53 bits of a double into halves whose products are exact.
_SPLITTER = 134217729.0
_LARGEST_WHOLE = 2.0**53


@over_arrays
def _square(arguments: list[Any], kind: ColumnType) -> Any:
    values = numbers(arguments[0])
    with np.errstate(all="ignore"):
        return from_numpy(values * values, kind, arguments)


@over_arrays
def _square_error(arguments: list[Any], kind: ColumnType) -> Any:
    return from_numpy(_errors(numbers(arguments[0])), kind, arguments)


def _errors(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    with np.errstate(all="ignore"):
        square = values * values
        if square.max(initial=0.0) <= _LARGEST_WHOLE and (np.trunc(values) == values).all():
            return np.zeros(values.size)  # squares of small whole numbers are never rounded
        spread = values * _SPLITTER
        high = spread - (spread - values)
        low = values - high
        error = ((high * high - square) + 2.0 * high * low) + low * low
    return np.where(np.isfinite(square), error, 0.0)


@over_arrays
def _product(arguments: list[Any], kind: ColumnType) -> Any:
    one, other = map(numbers, arguments)
    with np.errstate(all="ignore"):
        return from_numpy(one * other, kind, arguments)


@over_arrays
def _product_error(arguments: list[Any], kind: ColumnType) -> Any:
    return from_numpy(_product_errors(*map(numbers, arguments)), kind, arguments)


@over_arrays
def _first_of_pair(arguments: list[Any], kind: ColumnType) -> Any:
    return from_numpy(numbers(arguments[0]), kind, arguments)


def _product_errors(
    one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """What products were rounded by, of the fractions of the factors: these split without fail."""
    with np.errstate(all="ignore"):
        (left, left_power), (right, right_power) = np.frexp(one), np.frexp(other)
        product = left * right
        (left_high, left_low), (right_high, right_low) = _halves(left), _halves(right)
        error = left_high * right_high - product
        error = ((error + left_high * right_low) + left_low * right_high) + left_low * right_low
        error = np.ldexp(error, left_power + right_power)
        is_finite = np.isfinite(one * other)
    return np.where(is_finite, error, 0.0)


def _halves(
    values: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    spread = values * _SPLITTER
    high = spread - (spread - values)
    return high, values - high


SQUARES: dict[str, Function] = {
    "square": _square,
    "square_error": _square_error,
    "product": _product,
    "product_error": _product_error,
    "first_of_pair": _first_of_pair,
}
