"""Instants that wait for the clock, sorted, and counted as it passes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.windows import kernels

__all__ = ["WaitingInstants", "merged"]

Instants = NDArray[np.int64]
NONE: Instants = np.empty(0, np.int64)


class WaitingInstants:
    """A bag of instants, all later than the clock.

    >>> waiting = WaitingInstants()
    >>> waiting.add(np.array([3, 1, 3]))
    >>> waiting.release(2).tolist(), waiting.count
    ([1], 2)
    """

    def __init__(self) -> None:
        self._runs: list[Instants] = []

    def add(self, instants: Instants) -> None:
        """Take instants in any order."""
        if instants.size:
            in_order = kernels.is_sorted(instants)
            self._runs.append(instants if in_order else np.sort(instants))

    def release(self, until: int) -> Instants:
        """Take out those up to and including `until`; sorted, equal ones together."""
        passed = []
        kept = []
        for run in self._runs:
            place = int(np.searchsorted(run, until, side="right"))
            if place:
                passed.append(run[:place])
            if place < run.size:
                kept.append(run[place:])
        # A run that leaves little behind should not hold on to all of its memory.
        self._runs = kept if len(kept) < 16 else [np.sort(np.concatenate(kept))]
        if len(passed) < 2:
            return passed[0] if passed else NONE
        return np.sort(np.concatenate(passed), kind="stable")

    @property
    def count(self) -> int:
        """How many wait."""
        return sum(run.size for run in self._runs)


def merged(left: Instants, right: Instants) -> Instants:
    """Two sorted arrays as one, without repeats."""
    out = np.empty(left.size + right.size, np.int64)
    return out[: kernels.merge_distinct(left, right, out)]
