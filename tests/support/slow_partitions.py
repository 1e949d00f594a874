"""Partitions into groups by looking at all of them, with no thought of speed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from windrow.governor.groups.turning import Longs, TurningWindows

__all__ = ["all_groups", "all_partitions", "cost_of", "is_valid", "least_cost"]


def is_valid(turning: TurningWindows, members: list[int]) -> bool:
    """A group's growths fit into its shortest period."""
    growths = [int(turning.growth_us[each]) for each in members]
    return sum(growths) <= min(int(turning.period_us[each]) for each in members)


def all_groups(turning: TurningWindows) -> Iterator[list[int]]:
    """All valid groups."""
    for subset in range(1, 1 << turning.size):
        members = [each for each in range(turning.size) if subset >> each & 1]
        if is_valid(turning, members):
            yield members


def all_partitions(size: int) -> Iterator[list[list[int]]]:
    """All partitions of the numbers below a size."""
    if size == 0:
        yield []
        return
    for parts in all_partitions(size - 1):
        yield [*parts, [size - 1]]
        for place, part in enumerate(parts):
            yield [*parts[:place], [*part, size - 1], *parts[place + 1 :]]


def least_cost(turning: TurningWindows) -> float:
    """The cost of the best partition."""
    return min(
        sum(max(float(turning.exchange[each]) for each in part) for part in parts)
        for parts in all_partitions(turning.size)
        if all(is_valid(turning, part) for part in parts)
    )


def cost_of(turning: TurningWindows, groups: Longs) -> float:
    """The cost of a partition, all groups of which must be valid."""
    cost = 0.0
    for number in range(int(groups.max()) + 1):
        members = np.flatnonzero(groups == number).tolist()
        assert members, f"no window is in group {number}"
        assert is_valid(turning, members)
        cost += max(float(turning.exchange[each]) for each in members)
    assert groups.min() == 0
    return cost
