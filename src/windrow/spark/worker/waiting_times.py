"""Times of rows above the clock: how many wait, and at which instants answers are due.

A bucket has those of the packing tasks that it counts for; two may report the same instant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.rows.life import ALWAYS, in_life

__all__ = ["WaitingTimes"]

Instants = NDArray[np.int64]

_NONE = np.empty(0, dtype=np.int64)


class WaitingTimes:
    """Sorted times per stream and the instants they lead to, each until the clock reaches it."""

    def __init__(self, instants_of: Mapping[str, Callable[[Instants], Instants]]) -> None:
        self._instants_of = instants_of
        self._times: dict[str, Instants] = dict.fromkeys(instants_of, _NONE)
        self._instants = _NONE

    def add(self, stream: str, times_us: Instants, life: tuple[int, int] = ALWAYS) -> None:
        """Adds times of rows that are not late; only those of the life ask for answers."""
        if times_us.size == 0:
            return
        self._times[stream] = _merged(self._times[stream], times_us)
        lived = times_us if life == ALWAYS else times_us[in_life(times_us, life)]
        instants = self._instants_of[stream](lived)
        if instants.size:
            self._instants = _union(self._instants, instants)

    def release(self, until_us: int, reached_us: int) -> tuple[dict[str, int], Instants]:
        """How many rows per stream have been reached, and which instants the clock has.

        The clock stays where the lifetime of a query ends; its streams continue.
        """
        counts = {}
        for stream, times in self._times.items():
            reached = int(np.searchsorted(times, reached_us, side="right"))
            counts[stream] = reached
            self._times[stream] = times[reached:]
        reached = int(np.searchsorted(self._instants, until_us, side="right"))
        due, self._instants = self._instants[:reached], self._instants[reached:]
        return counts, due

    def held(self) -> tuple[dict[str, Instants], Instants]:
        """The times that wait, per stream, and the instants that are due later."""
        return dict(self._times), self._instants

    def add_instants(self, instants_us: Instants) -> None:
        """Adds instants whose rows no longer wait."""
        self._instants = _union(self._instants, instants_us)

    @property
    def newest_instant_us(self) -> int:
        """The last instant that is still to come."""
        return int(self._instants[-1]) if self._instants.size else START_OF_TIME

    def waiting(self, stream: str) -> int:
        """How many rows of the stream are above the clock."""
        return int(self._times[stream].size)


def _union(held: Instants, added: Instants) -> Instants:
    """Sorted instants without repeats; those held are so already.

    What is added is sorted or nearly so, which a stable sort sees; np.unique would hash it.
    """
    first = int(np.searchsorted(held, added.min(initial=held[-1]))) if held.size else 0
    merged = np.sort(np.concatenate([held[first:], added]), kind="stable")
    is_new = np.ones(merged.size, np.bool_)
    np.not_equal(merged[1:], merged[:-1], out=is_new[1:])
    merged = merged[is_new]
    return np.concatenate([held[:first], merged]) if first else merged


def _merged(held: Instants, added: Instants) -> Instants:
    if held.size == 0:
        return np.sort(added)
    if added[0] >= held[-1] and bool((np.diff(added) >= 0).all()):
        return np.concatenate([held, added])
    return np.sort(np.concatenate([held, added]), kind="stable")
