"""Rates by which memory is foreseen: of rows that came within a span, for a window of a range.

A rate needs time to be measured. Until then what has come is taken for all that comes within a
range: so a query is not refused, nor a window narrowed, for what a few rows of one moment would
amount to in an hour. What is held bounds memory in any case.
"""

from __future__ import annotations

from windrow.governor.tables import SECOND_US

__all__ = ["is_measured", "measured_rate"]

# A span is long enough to represent a range that is this many times as long,
RANGE_PARTS = 64
# and has at least this length, or is the range itself.
SHORTEST_SPAN_US = SECOND_US


def is_measured(span_us: int, range_us: int) -> bool:
    """Whether rows that came within a span tell how many come within a range.

    >>> is_measured(1_000, 60_000_000), is_measured(1_000_000, 60_000_000)
    (False, True)
    >>> is_measured(1_000_000, 3_600_000_000), is_measured(500, 500)
    (False, True)
    """
    return span_us >= max(min(range_us, SHORTEST_SPAN_US), range_us // RANGE_PARTS)


def measured_rate(rows: float, span_us: int, range_us: int) -> float:
    """Rows a second that came within a span, as far as they tell something of the range.

    >>> measured_rate(100, 1_000_000, 10_000_000), measured_rate(100, 1, 10_000_000)
    (100.0, 10.0)
    """
    counted_us = span_us if is_measured(span_us, range_us) else range_us
    return rows * SECOND_US / max(1, counted_us)
