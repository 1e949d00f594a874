"""What B-Support makes least, by which the paper compares widths."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.governor.figures import WindowFigures

__all__ = ["accumulated_error_us"]


def accumulated_error_us(widths_us: Sequence[int], figures: Sequence[WindowFigures]) -> int:
    """By how much the windows are narrower than the ranges of the queries, over all queries."""
    return sum(
        max(0, range_us - width_us)
        for width_us, each in zip(widths_us, figures, strict=True)
        for range_us in each.ranges_us
    )
