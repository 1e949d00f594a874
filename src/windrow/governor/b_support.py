"""Level B: every query is within its error at all times, and the errors together are least.

The error of a query is how much narrower its window is than its range. A byte that widens a window
makes smaller by 1 / bytes_per_us the error of each query whose range is wider still: a staircase
that falls from range to range. So the dearest step is always taken first, and since no window's
next step is worth more than its last, nothing else could be better (in whole microseconds: but for
the last one). Time: O(q log q) for q queries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from windrow.governor.figures import WindowFigures
from windrow.governor.memory_taken import static_sum, trimmed

__all__ = ["b_support", "widened"]


def b_support(figures: Sequence[WindowFigures], available_bytes: float) -> tuple[int, ...]:
    """The width of each window, if what the queries need at the least fits.

    >>> few = WindowFigures("few", 1.0, least_us=10, ranges_us=(40,))
    >>> many = WindowFigures("many", 1.0, least_us=10, ranges_us=(15, 30, 30))
    >>> b_support([few, many], available_bytes=45)
    (15, 30)
    """
    least_us = [each.least_us for each in figures]
    assert static_sum(least_us, figures) <= available_bytes, "the least widths do not fit"
    return widened(least_us, figures, available_bytes)


def widened(
    starts_us: Sequence[int], figures: Sequence[WindowFigures], available_bytes: float
) -> tuple[int, ...]:
    """Constant widths, which take no more than there is, grown where that helps queries most."""
    widths_us = list(starts_us)
    left = max(0.0, available_bytes - static_sum(starts_us, figures))
    for _, place, length_us in sorted(_steps(starts_us, figures)):
        per_us = figures[place].bytes_per_us
        if length_us * per_us <= left:
            widths_us[place] += length_us
            left -= length_us * per_us
        else:
            widths_us[place] += math.floor(left / per_us)
            break
    return tuple(trimmed(widths_us, starts_us, figures, available_bytes))


def _steps(
    starts_us: Sequence[int], figures: Sequence[WindowFigures]
) -> Iterator[tuple[float, int, int]]:
    """Steps of the staircases: what a byte gains, negative; the place of the window; the length."""
    for place, (width_us, each) in enumerate(zip(starts_us, figures, strict=True)):
        wider = len(each.ranges_us)
        for range_us in each.ranges_us:
            if range_us > width_us:
                gain = wider / each.bytes_per_us if each.bytes_per_us > 0 else math.inf
                yield -gain, place, range_us - width_us
                width_us = range_us
            wider -= 1
