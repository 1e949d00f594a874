"""Exact sums over frames, as differences of sums of all rows before: nothing is rounded but once.

Integers, and doubles as integers times a power of two, are added in two halves of 32 bits, which no
number of rows overflows; doubles of very different sizes as Python's integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from windrow.operators.relations.changes import Vector

__all__ = ["FrameSums", "double_sums", "integer_sums", "prefix_differences", "scaled_integers"]

Doubles = NDArray[np.float64]
_HALF_BITS = 32
_LOW_HALF = (1 << _HALF_BITS) - 1
_FRACTION_BITS = 53
# A fraction that is moved up by so many bits still has room in 64.
_MOST_SHIFT = 9


@dataclass(frozen=True)
class FrameSums:
    """high * 2**32 + low, where 0 <= low < 2**32."""

    high: Vector
    low: Vector

    @property
    def is_narrow(self) -> NDArray[np.bool_]:
        """Which have room in 64 bits."""
        limit = 1 << (_HALF_BITS - 1)
        return (self.high >= -limit) & (self.high < limit)

    def narrow(self) -> Vector:
        """The sums; those without room are wrong."""
        return (self.high << _HALF_BITS) + self.low

    def whole(self, place: int) -> int:
        """One sum, whatever its size."""
        return (int(self.high[place]) << _HALF_BITS) + int(self.low[place])

    def doubles(self) -> Doubles:
        """The nearest doubles."""
        out = self.narrow().astype(np.float64)
        for place in np.flatnonzero(~self.is_narrow).tolist():
            out[place] = float(self.whole(place))
        return out


def prefix_differences(values: Vector, low: Vector, high: Vector) -> Vector:
    """Sums over [low, high) of numbers whose sums have room."""
    sums = np.zeros(values.size + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    found: Vector = sums[high] - sums[low]
    return found


def integer_sums(values: Vector, low: Vector, high: Vector) -> FrameSums:
    """Exact sums of integers over [low, high)."""
    upper = prefix_differences(values >> _HALF_BITS, low, high)
    lower = prefix_differences(values & _LOW_HALF, low, high)
    return FrameSums(upper + (lower >> _HALF_BITS), lower & _LOW_HALF)


def double_sums(values: Doubles, low: Vector, high: Vector) -> Doubles:
    """The nearest doubles to the sums of finite doubles over [low, high)."""
    fractions, exponents, least = _parts(values)
    if values.size == 0 or int(exponents.max()) - least <= _MOST_SHIFT:
        words = fractions << (exponents - least)
        with np.errstate(over="ignore"):
            return np.ldexp(integer_sums(words, low, high).doubles(), least)
    sums = list(accumulate(scaled_integers(values)[0], initial=0))
    pairs = zip(low.tolist(), high.tolist(), strict=True)
    return np.array([_scaled(sums[end] - sums[begin], least) for begin, end in pairs], np.float64)


def scaled_integers(values: Doubles) -> tuple[list[int], int]:
    """Finite doubles as integers times a power of two, and its exponent."""
    fractions, exponents, least = _parts(values)
    shifts = (exponents - least).tolist()
    parts = zip(fractions.tolist(), shifts, strict=True)
    return [fraction << shift for fraction, shift in parts], least


def _parts(values: Doubles) -> tuple[Vector, Vector, int]:
    fractions, exponents = np.frexp(values)
    whole = np.ldexp(fractions, _FRACTION_BITS).astype(np.int64)
    powers = exponents.astype(np.int64) - _FRACTION_BITS
    is_zero = whole == 0
    least = int(powers[~is_zero].min()) if not is_zero.all() else 0
    return whole, np.where(is_zero, least, powers), least


def _scaled(number: int, exponent: int) -> float:
    """The double that is nearest to number * 2**exponent."""
    try:
        return float(number << exponent) if exponent >= 0 else number / (1 << -exponent)
    except OverflowError:
        return np.inf if number > 0 else -np.inf
