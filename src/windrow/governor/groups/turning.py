"""Windows that need turns, as arrays that the solvers take, and partitions of them into groups."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from windrow.governor.figures import WindowFigures

__all__ = [
    "Bytes", "Grouping", "Longs", "TurningWindows", "is_group", "is_partition", "members_of",
    "shared_bytes", "shares_of", "turning_windows",
]  # fmt: skip

Longs: TypeAlias = NDArray[np.int64]
Bytes: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class TurningWindows:
    """Growth, period and exchange of windows, in the order of falling exchange."""

    windows: tuple[str, ...]
    growth_us: Longs
    period_us: Longs
    exchange: Bytes

    @property
    def size(self) -> int:
        """How many windows there are."""
        return len(self.windows)


@dataclass(frozen=True)
class Grouping:
    """A partition: the group of each window, from 0 without gaps, in the order of the windows.

    shared_bytes: what the groups cost. bound_bytes: what every partition costs at the least.
    solver: what found it.
    """

    groups: Longs
    shared_bytes: float
    bound_bytes: float
    solver: str


def turning_windows(figures: Iterable[WindowFigures]) -> TurningWindows:
    """Those of the windows that need turns."""
    turning = [each for each in figures if each.needs_turn]
    turning.sort(key=lambda each: (-each.exchange_bytes, each.window))
    return TurningWindows(
        tuple(each.window for each in turning),
        np.array([each.growth_us for each in turning], np.int64),
        np.array([each.period_us for each in turning], np.int64),
        np.array([each.exchange_bytes for each in turning], np.float64),
    )


def is_group(figures: Iterable[WindowFigures]) -> bool:
    """Whether windows can take turns: their growths fit into the shortest of their periods.

    >>> one = WindowFigures("a", 1.0, growth_us=3, period_us=8, least_us=10)
    >>> two = WindowFigures("b", 1.0, growth_us=5, period_us=9, least_us=10)
    >>> is_group([one, two]), is_group([one, two, two])
    (True, False)
    """
    turning = [each for each in figures if each.needs_turn]
    used_us = sum(each.growth_us for each in turning)
    return used_us <= min((each.period_us for each in turning), default=0)


def is_partition(turning: TurningWindows, groups: Longs) -> bool:
    """Whether all windows are in groups, all of which are valid and none of which is empty."""
    if groups.shape != (turning.size,) or not turning.size:
        return not turning.size
    numbers = np.unique(groups)
    if numbers[0] != 0 or numbers[-1] != numbers.size - 1:
        return False
    return all(
        int(turning.growth_us[members].sum()) <= int(turning.period_us[members].min())
        for members in members_of(groups)
    )


def members_of(groups: Longs) -> list[Longs]:
    """The places of the windows of each group."""
    count = int(groups.max(initial=-1)) + 1
    return [np.flatnonzero(groups == number) for number in range(count)]


def shares_of(turning: TurningWindows, groups: Longs) -> list[float]:
    """What each group costs: the dearest exchange of its windows, which is that of the first."""
    return [float(turning.exchange[members[0]]) for members in members_of(groups)]


def shared_bytes(turning: TurningWindows, groups: Longs) -> float:
    """What all groups cost."""
    return math.fsum(shares_of(turning, groups))
