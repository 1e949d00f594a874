"""An aggregate that lies in an interval, as it is shown in its type, with its bound."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.governor.bounded.counted_arrivals import doubles_of
from windrow.governor.error_bounds.bounds import completed_bounds, relative_bounds
from windrow.governor.error_bounds.intervals import Flags, Floats, Interval

__all__ = ["shown_value"]

# From here on doubles are not all whole numbers that lie beside each other.
WHOLE_DOUBLES = 2.0**53


def shown_value(truth: Interval, kind: pa.DataType) -> tuple[pa.Array, Floats, Flags]:
    """The number that can be farthest off the least, NULL where nothing is known.

    Its bound, and whether there is one in this type.

    >>> truth = Interval(np.array([3.0, 2.2]), np.array([6.0, 3.8]))
    >>> value, bound, _ = shown_value(truth, pa.int64())
    >>> value.to_pylist(), bound.round(12).tolist()
    ([4, 3], [0.333333333333, 0.0])
    """
    is_integer = pa.types.is_integer(kind)
    if is_integer:
        truth = _whole(truth)
    value, bound = completed_bounds(truth)
    known = np.isfinite(value)
    numbers = np.where(known, np.rint(value) if is_integer else value, 0.0)
    bound = np.where(known, bound, np.inf)
    try:
        found = pa.array(numbers, mask=~known).cast(kind, safe=is_integer)
    except pa.ArrowInvalid:  # some value is beyond the type
        return pa.nulls(numbers.size, kind), np.full(numbers.size, np.inf), ~known
    told = relative_bounds(doubles_of(found), truth)
    return found, np.where(known, told, np.inf), known


def _whole(truth: Interval) -> Interval:
    """The whole numbers of the intervals that are not beyond those that doubles tell apart."""
    is_small: NDArray[np.bool_] = np.abs(truth.low) < WHOLE_DOUBLES
    is_small = is_small & (np.abs(truth.high) < WHOLE_DOUBLES)
    low = np.where(is_small, np.ceil(truth.low), truth.low)
    high = np.where(is_small, np.floor(truth.high), truth.high)
    return Interval(np.minimum(low, high), np.maximum(low, high))
