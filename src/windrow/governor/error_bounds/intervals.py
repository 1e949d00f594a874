"""Intervals of doubles that are sure to hold the number meant: every step rounds outwards.

A sum, quotient or root in doubles is the double nearest to the true one, so that the neighbours of
the result enclose it. Where nothing can be rounded, as when zero is added, the result stays as it
is: an interval that is exactly zero remains so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flags", "Floats", "Interval", "point", "raised"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Interval:
    """Numbers between low and high, one pair for each row; NaN as an end: it is not known."""

    low: Floats
    high: Floats

    def plus(self, other: Interval) -> Interval:
        """All sums of a number of each."""
        low, high = self.low + other.low, self.high + other.high
        return Interval(
            _lowered(low, (self.low == 0) | (other.low == 0)),
            raised(high, (self.high == 0) | (other.high == 0)),
        )

    def minus(self, other: Interval) -> Interval:
        """All differences of a number of each."""
        return self.plus(Interval(-other.high, -other.low))

    def times(self, factor: Floats) -> Interval:
        """All products with a number that is not negative."""
        low, high = self.low * factor, self.high * factor
        is_zero = factor == 0
        return Interval(
            _lowered(low, is_zero | (self.low == 0)), raised(high, is_zero | (self.high == 0))
        )

    def over(self, divisor: Interval) -> Interval:
        """All quotients by numbers above zero."""
        low = self.low / np.where(self.low < 0, divisor.low, divisor.high)
        high = self.high / np.where(self.high > 0, divisor.low, divisor.high)
        return Interval(_lowered(low, self.low == 0), raised(high, self.high == 0))

    def squared(self) -> Interval:
        """All squares."""
        left, right = self.low * self.low, self.high * self.high
        spans_zero = (self.low <= 0) & (self.high >= 0)
        low, high = np.where(spans_zero, 0.0, np.minimum(left, right)), np.maximum(left, right)
        is_zero = (self.low == 0) & (self.high == 0)
        return Interval(np.fmax(_lowered(low, low == 0), 0.0), raised(high, is_zero))

    def root(self) -> Interval:
        """All square roots; what is below zero counts as zero."""
        low, high = (np.sqrt(np.maximum(each, 0.0)) for each in (self.low, self.high))
        return Interval(np.fmax(_lowered(low, low == 0), 0.0), raised(high, high == 0))

    def widened(self, share: float) -> Interval:
        """With both ends out by a share of themselves."""
        low, high = self.low - share * np.abs(self.low), self.high + share * np.abs(self.high)
        return Interval(_lowered(low, self.low == 0), raised(high, self.high == 0))

    def not_below(self, least: Floats) -> Interval:
        """What of it is not below a number that is known to be none of those meant."""
        return Interval(np.fmax(self.low, least), self.high)


def point(values: Floats) -> Interval:
    """Numbers that are known.

    >>> tenth = point(np.array([1.0])).over(point(np.array([10.0])))
    >>> bool(tenth.low[0] < 0.1 < tenth.high[0])
    True
    """
    return Interval(values, values)


def raised(values: Floats, is_exact: Flags) -> Floats:
    """The next double above where something may have been rounded."""
    return np.where(is_exact, values, np.nextafter(values, np.inf))


def _lowered(values: Floats, is_exact: Flags) -> Floats:
    return np.where(is_exact, values, np.nextafter(values, -np.inf))
