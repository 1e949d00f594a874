"""Functions of doubles that NumPy has, with NULL where Spark has no value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.scalar.values import Function, from_numpy, numbers, over_arrays
from windrow.schema import BIGINT, DOUBLE, ColumnType

__all__ = ["MATHS"]

_MAX = 2**63 - 1
_FACTORIALS = np.array([math.factorial(number) for number in range(21)], np.int64)


def _doubles(function: Callable[..., Any]) -> Function:
    """A function of doubles that has a value, NaN at worst, for all of them."""

    def apply(arguments: list[Any], _kind: ColumnType) -> Any:
        with np.errstate(all="ignore"):
            return from_numpy(function(*map(numbers, arguments)), DOUBLE, arguments)

    return over_arrays(apply)


def _above(least: float, function: Callable[[Any], Any]) -> Function:
    """A logarithm: NULL at the least value and below."""

    def apply(arguments: list[Any], _kind: ColumnType) -> Any:
        values = numbers(arguments[0])
        with np.errstate(all="ignore"):
            found = function(values)
        return from_numpy(found, DOUBLE, arguments, ~(values <= least))

    return over_arrays(apply)


@over_arrays
def _logarithm(arguments: list[Any], _kind: ColumnType) -> Any:
    """To base e, or to the base that comes first."""
    values = [numbers(column) for column in arguments]
    valid = np.ones(len(values[0]), np.bool_)
    for each in values:
        valid &= ~(each <= 0)
    with np.errstate(all="ignore"):
        logarithms = [np.log(each) for each in values]
        found = logarithms[0] if len(values) == 1 else logarithms[1] / logarithms[0]
    return from_numpy(found, DOUBLE, arguments, valid)


@over_arrays
def _factorial(arguments: list[Any], kind: ColumnType) -> Any:
    values = numbers(arguments[0])
    valid = (values >= 0) & (values <= 20)
    return from_numpy(_FACTORIALS[np.where(valid, values, 0)], kind, arguments, valid)


@over_arrays
def _width_bucket(arguments: list[Any], _kind: ColumnType) -> Any:
    value, low, high, count = (numbers(column) for column in arguments)
    valid = (count > 0) & (count != _MAX) & ~np.isnan(value) & np.isfinite(low) & np.isfinite(high)
    valid &= low != high
    with np.errstate(all="ignore"):
        turned = low > high
        behind = np.where(turned, low - value, value - low)
        place = count * behind / np.abs(high - low)
        inside = np.clip(np.nan_to_num(place), -1.0, 2.0**62).astype(np.int64) + 1
    before = np.where(turned, value > low, value < low)
    after = np.where(turned, value <= high, value >= high)
    found = np.where(before, 0, np.where(after, np.where(valid, count, 0) + 1, inside))
    return from_numpy(found, BIGINT, arguments, valid)


def _constant(value: float) -> Function:
    return lambda _arguments, _kind: pa.scalar(value, pa.float64())


MATHS: dict[str, Function] = {
    "rint": _doubles(np.rint),
    "cbrt": _doubles(np.cbrt),
    "expm1": _doubles(np.expm1),
    "log": _logarithm,
    "log10": _above(0.0, np.log10),
    "log2": _above(0.0, lambda values: np.log(values) / np.log(2.0)),
    "log1p": _above(-1.0, np.log1p),
    "sin": _doubles(np.sin),
    "cos": _doubles(np.cos),
    "tan": _doubles(np.tan),
    "cot": _doubles(lambda values: 1.0 / np.tan(values)),
    "sec": _doubles(lambda values: 1.0 / np.cos(values)),
    "csc": _doubles(lambda values: 1.0 / np.sin(values)),
    "asin": _doubles(np.arcsin),
    "acos": _doubles(np.arccos),
    "atan": _doubles(np.arctan),
    # Spark adds 0.0 so that the sign of a zero does not choose between pi and -pi.
    "atan2": _doubles(lambda one, other: np.arctan2(one + 0.0, other + 0.0)),
    "sinh": _doubles(np.sinh),
    "cosh": _doubles(np.cosh),
    "tanh": _doubles(np.tanh),
    "asinh": _doubles(np.arcsinh),
    "acosh": _doubles(np.arccosh),
    "atanh": _doubles(np.arctanh),
    "degrees": _doubles(np.degrees),
    "radians": _doubles(np.radians),
    "hypot": _doubles(np.hypot),
    "pi": _constant(math.pi),
    "e": _constant(math.e),
    "factorial": _factorial,
    "width_bucket": _width_bucket,
}
