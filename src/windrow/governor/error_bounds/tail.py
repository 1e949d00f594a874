"""What is known of the rows that a narrowed window lacks, and of the answer from those it holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.governor.error_bounds import kernels
from windrow.governor.error_bounds.intervals import Floats, Interval

__all__ = ["HeldValues", "Tail", "tail_of_lanes"]


@dataclass(frozen=True)
class HeldValues:
    """Answers from the rows held: how many values each is made of, and what it says.

    count: rows for COUNT(*), else values that are not NULL. value: the answer as it is given out,
    right to within bounds.HELD_ERROR of itself; where it is NULL, anything.
    """

    count: Floats
    value: Floats


@dataclass(frozen=True)
class Tail:
    """Bounds on the rows that are lacking, for each instant and group; of one measure.

    count: rows for COUNT(*), else values that are not NULL. sum: of the values. deviation, squares:
    the sum of value - center and of its squares; any part of a pane that is cut may be meant.
    lowest, highest: the smallest and the largest value; infinite where there may be none.
    """

    count: Interval
    sum: Interval
    deviation: Interval
    squares: Interval
    lowest: Interval
    highest: Interval
    center: Floats


def tail_of_lanes(lanes: Floats, center: Floats) -> Tail:
    """The tail as a kernel has written it, a row for each instant and group."""
    count, total, deviation, squares, lowest, highest = (
        Interval(np.ascontiguousarray(lanes[:, first]), np.ascontiguousarray(lanes[:, first + 1]))
        for first in (
            *(kernels.COUNT, kernels.SUM, kernels.DEVIATIONS, kernels.ALL_SQUARES),
            *(kernels.MINIMUM, kernels.MAXIMUM),
        )
    )
    return Tail(count, total, deviation, squares, lowest, highest, center)
