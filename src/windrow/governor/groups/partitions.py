"""Three ways to partition windows into groups: at once, exactly, and by trying again and again.

| | time | how good |
| --- | --- | --- |
| first_fit | O(d * groups) | within 20 % of the best mostly, not always (C-Support-AP) |
| best_by_subsets | O(3 ** (d - 1)) | the best of all (C-Support-DP) |
| ruin_recreate | O(d) an iteration, mostly | as good as it is given time |
"""

from __future__ import annotations

import numpy as np

from windrow.governor.groups import kernels
from windrow.governor.groups.turning import Longs, TurningWindows

__all__ = ["HEAT", "SUBSETS_LIMIT", "best_by_subsets", "first_fit", "ruin_recreate"]

# Windows whose subsets are all searched; one more takes three times as long.
SUBSETS_LIMIT = 17
# How much dearer partitions become in between, first and last, if the dearest window costs 1000.
HEAT = (150.0, 3.0)


def first_fit(turning: TurningWindows) -> Longs:
    """The dearest window first, each into the first group that stays valid, or a new one.

    >>> windows = TurningWindows(("a", "b", "c"), np.array([4, 3, 2]), np.array([6, 9, 7]),
    ...     np.array([9.0, 8.0, 7.0]))
    >>> first_fit(windows)
    array([0, 1, 0])
    """
    groups = np.full(turning.size, -1, np.int64)
    if turning.size:
        kernels.place_rest(turning.growth_us, turning.period_us, turning.exchange, groups)
    return groups


def best_by_subsets(turning: TurningWindows) -> Longs:
    """The best partition of all, of at most SUBSETS_LIMIT windows."""
    assert turning.size <= SUBSETS_LIMIT, f"{turning.size} windows, {SUBSETS_LIMIT} are possible"
    groups = np.zeros(turning.size, np.int64)
    if turning.size:
        kernels.partition_subsets(turning.growth_us, turning.period_us, turning.exchange, groups)
    return groups


def ruin_recreate(
    turning: TurningWindows,
    groups: Longs,
    iterations: int,
    seed: int,
    heat: tuple[float, float] = HEAT,
) -> Longs:
    """A partition no dearer than `groups`; the same for the same seed."""
    better = groups.copy()
    if turning.size:
        kernels.ruin_recreate(
            turning.growth_us, turning.period_us, turning.exchange, better, iterations,
            np.array(heat), np.random.default_rng(seed),
        )  # fmt: skip
    return better
