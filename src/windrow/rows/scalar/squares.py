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
        spread = values * _SPLITTER
        high = spread - (spread - values)
        low = values - high
        error = ((high * high - square) + 2.0 * high * low) + low * low
    return np.where(np.isfinite(square), error, 0.0)


SQUARES: dict[str, Function] = {"square": _square, "square_error": _square_error}
