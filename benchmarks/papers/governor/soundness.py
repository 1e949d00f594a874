"""What every figure is checked by before it is shown."""

from __future__ import annotations

from windrow.governor.groups.turning import Longs, TurningWindows, is_partition, shared_bytes

__all__ = ["NotSoundError", "checked_cost"]

# Costs are sums in floating point.
TOLERANCE = 1e-7


class NotSoundError(Exception):
    """A solver gave what is no solution, or is better than what is proven to be best."""


def checked_cost(
    name: str, turning: TurningWindows, groups: Longs, bound_bytes: float = 0.0
) -> float:
    """What the groups cost, if they are a partition and cost no less than any can."""
    if not is_partition(turning, groups):
        raise NotSoundError(f"{name} gives groups that are not valid")
    cost = shared_bytes(turning, groups)
    if cost < bound_bytes * (1 - TOLERANCE):
        raise NotSoundError(f"{name} costs {cost}, the bound is {bound_bytes}")
    return cost
