"""A lower bound of what groups cost, at once and without a linear program."""

from __future__ import annotations

import math

import numpy as np

from windrow.governor.groups.turning import TurningWindows

__all__ = ["volume_bound"]

# Shares of a cycle are sums of fractions: a little above a whole number is that number.
ROUNDING = 1e-9


def volume_bound(turning: TurningWindows) -> float:
    """What every partition costs at the least.

    A window takes growth / period of a cycle at the least, as no cycle of its group is longer than
    its period, and the shares of a group add up to at most 1. So windows that are as dear as e or
    dearer, whose shares add up to u, are in ceil(u) groups at the least, each of which costs e or
    more; the sum over all e, from the dearest down, is the bound.

    >>> windows = TurningWindows(("a", "b", "c"), np.array([4, 3, 2]), np.array([6, 9, 7]),
    ...     np.array([9.0, 8.0, 7.0]))
    >>> volume_bound(windows)
    16.0
    """
    shares = np.cumsum(turning.growth_us / turning.period_us)
    groups = np.maximum(np.ceil(shares - ROUNDING * (1 + shares)), 1.0)
    cheaper = np.append(turning.exchange[1:], 0.0)
    return math.fsum((groups * (turning.exchange - cheaper)).tolist())
