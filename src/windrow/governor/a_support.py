"""Level A: every query is exact at all times, and what memory is left widens all windows.

Time: O(d). Queries to come are likelier to be wide where those of today are, so that the rest is
shared in proportion to the widest ranges.
"""

from __future__ import annotations

from collections.abc import Sequence

from windrow.governor.figures import WindowFigures
from windrow.governor.memory_taken import static_sum, trimmed

__all__ = ["WIDTH_LIMIT_US", "a_support"]

# No window is made wider, however few rows come: 142 years, and exact in floating point.
WIDTH_LIMIT_US = 1 << 52


def a_support(figures: Sequence[WindowFigures], available_bytes: float) -> tuple[int, ...]:
    """The width of each window, if the widest ranges fit.

    >>> figures = [WindowFigures("a", 1.0, range_us=30), WindowFigures("b", 2.0, range_us=10)]
    >>> a_support(figures, available_bytes=90)
    (60, 15)
    """
    ranges_us = [each.range_us for each in figures]
    rest = available_bytes - static_sum(ranges_us, figures)
    assert rest >= 0, "the widest ranges do not fit"
    total_us = sum(each.range_us for each in figures if each.bytes_per_us > 0)
    widths = [_widened(each, rest, total_us) for each in figures]
    return tuple(trimmed(widths, ranges_us, figures, available_bytes))


def _widened(figures: WindowFigures, rest_bytes: float, total_us: int) -> int:
    if figures.bytes_per_us <= 0 or figures.range_us <= 0:
        return figures.range_us
    more_us = rest_bytes * (figures.range_us / total_us) / figures.bytes_per_us
    return max(figures.range_us, int(min(figures.range_us + more_us, WIDTH_LIMIT_US)))
