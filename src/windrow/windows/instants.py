"""Instants that wait for the clock, sorted, and counted as it passes them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME
from windrow.windows import kernels
from windrow.windows.column_words import read_only

__all__ = ["NO_INSTANTS", "WaitingInstants", "merged"]

# Up to so many runs stay as they came; a short one is joined to what is not much longer.
FEW_RUNS = 16
LONG_RUN = 1 << 12

Instants = NDArray[np.int64]
NO_INSTANTS: Instants = np.empty(0, np.int64)


class WaitingInstants:
    """A bag of instants, all later than the clock.

    >>> waiting = WaitingInstants()
    >>> waiting.add(np.array([3, 1, 3]))
    >>> waiting.release(2).tolist(), waiting.count
    ([1], 2)
    """

    def __init__(self) -> None:
        self._runs: list[Instants] = []
        self.count = 0  # how many wait

    def add(self, instants: Instants) -> None:
        """Take instants in any order."""
        if not instants.size:
            return
        self.count += instants.size
        if instants.flags.writeable:
            instants = read_only(instants)
        run = instants if instants.size == 1 or kernels.is_sorted(instants) else np.sort(instants)
        # Beyond a few, runs become larger by half at least from the last to the first: so there are
        # never many, however many came.
        while self._runs and 2 * self._runs[-1].size <= 3 * run.size:
            if run.size >= LONG_RUN and len(self._runs) < FEW_RUNS:
                break
            before = self._runs.pop()
            is_behind = before[-1] <= run[0]
            run = np.concatenate([before, run])
            if not is_behind:
                run.sort(kind="stable")
        self._runs.append(read_only(run) if run.flags.writeable else run)

    def release(self, until: int) -> Instants:
        """Take out those up to and including `until`; sorted, equal ones together."""
        passed = self._passed(until)
        return passed[0] if len(passed) == 1 else np.concatenate([NO_INSTANTS, *passed])

    def release_distinct(self, until: int) -> Instants:
        """The same, each of them once."""
        passed = self._passed(until)
        out, used = np.empty(sum(run.size for run in passed), np.int64), 0
        for run in passed:
            used = kernels.append_distinct(run, out, used)
        return out[:used]

    def drop(self, until: int) -> tuple[int, int]:
        """The same, not listed: how many they were, and the first of them."""
        passed = self._passed(until)
        first = int(passed[0][0]) if passed else END_OF_TIME
        return sum(run.size for run in passed), first

    def _passed(self, until: int) -> list[Instants]:
        """Take them out: sorted runs, each of which ends before the next begins, or with it."""
        passed = []
        kept = []
        for run in self._runs:
            place = int(np.searchsorted(run, until, side="right"))
            if place:
                passed.append(run[:place])
                self.count -= place
            if place < run.size:
                kept.append(_unpinned(run[place:]) if place else run)
        self._runs = kept
        if len(passed) < 2:
            return passed
        if any(after[0] < before[-1] for before, after in pairwise(passed)):
            return [np.sort(np.concatenate(passed), kind="stable")]
        return passed

    def listed(self) -> list[int]:
        """All that wait, in any order."""
        return [instant for run in self._runs for instant in run.tolist()]

    @property
    def nbytes(self) -> int:
        """Bytes of those that wait."""
        return 8 * self.count


def _unpinned(run: Instants) -> Instants:
    """A run that leaves little behind should not hold on to all of its memory."""
    is_small = run.base is not None and 2 * run.nbytes < run.base.nbytes
    return read_only(run.copy()) if is_small else run


def merged(left: Instants, right: Instants) -> Instants:
    """Two sorted arrays as one, without repeats."""
    if not left.size or not right.size:
        return _distinct(left if left.size else right)
    out = np.empty(left.size + right.size, np.int64)
    return out[: kernels.merge_distinct(read_only(left), read_only(right), out)]


def _distinct(instants: Instants) -> Instants:
    """A sorted array without repeats."""
    is_new = instants[1:] != instants[:-1]
    return instants if is_new.all() else instants[np.concatenate([[True], is_new])]
