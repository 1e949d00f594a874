"""How far a stream is complete: the instant through which no further row will count.

A row at time t completes its stream through t - lateness - 1 microsecond (rows of equal time may
still follow); a heartbeat completes it through its instant, inclusive; the end of a stream
completes it for ever. Rows are judged by what was complete before their push: those of one push
never make each other late.

Where the clock moves by arrival, a row at time t moves it to t itself. Rows of equal time may
still follow, and count from then on; older ones are late.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.windows import kernels
from windrow.windows.column_words import read_only

__all__ = ["Completeness", "TimeBounds", "clock_of"]


class TimeBounds(NamedTuple):
    """The first and the last of some times, and whether they are in order; found in one pass.

    >>> TimeBounds.of(np.array([3, 1, 2]))
    TimeBounds(first_us=1, last_us=3, is_sorted=False)
    """

    first_us: int
    last_us: int
    is_sorted: bool

    @classmethod
    def of(cls, times_us: NDArray[np.int64]) -> TimeBounds:
        """The bounds of times; of none, such that nothing is before or after them."""
        if not times_us.size:
            return cls(END_OF_TIME, START_OF_TIME, True)
        if times_us.size == 1 or kernels.is_sorted(read_only(times_us)):
            return cls(int(times_us[0]), int(times_us[-1]), True)
        return cls(int(times_us.min()), int(times_us.max()), False)


class Completeness:
    """The completeness of one stream.

    >>> stream = Completeness(lateness_us=10)
    >>> stream.judge(np.array([100, 95, 85])).tolist()
    [False, False, False]
    >>> stream.through
    89
    >>> stream.judge(np.array([89, 90])).tolist()
    [True, False]
    """

    def __init__(self, lateness_us: int, *, is_by_arrival: bool = False) -> None:
        # By how much the newest row is ahead of what is complete, and the last late time likewise.
        self._ahead_us = 0 if is_by_arrival else lateness_us + 1
        self._ties_us = 1 if is_by_arrival else 0
        self.through = START_OF_TIME
        self.newest = START_OF_TIME  # the latest event time or heartbeat

    def judge(
        self, times_us: NDArray[np.int64], pushes: NDArray[np.int64] | None = None
    ) -> NDArray[np.bool_]:
        """Which rows are late, in order of arrival; the others complete the stream further.

        pushes: the number of the push of each row, rising; None: all are of one push.
        """
        late = self.late_among(times_us, TimeBounds.of(times_us), pushes)
        return np.zeros(times_us.size, np.bool_) if late is None else late

    def late_among(
        self,
        times_us: NDArray[np.int64],
        bounds: TimeBounds,
        pushes: NDArray[np.int64] | None = None,
    ) -> NDArray[np.bool_] | None:
        """The same, of times whose bounds are known; None: no row is late."""
        late, newest = None, bounds.last_us
        is_in_order = bounds.is_sorted or pushes is None or pushes[0] == pushes[-1]
        if not is_in_order or bounds.first_us <= self.through - self._ties_us:
            late = times_us <= self._complete_before(times_us, pushes) - self._ties_us
            # A late row is not an event of the stream: after its end it must not move the clock.
            newest = int(times_us[~late].max(initial=START_OF_TIME))
        self.through = max(self.through, newest - self._ahead_us)
        self.newest = max(self.newest, newest)
        return late if late is not None and late.any() else None

    def _complete_before(
        self, times_us: NDArray[np.int64], pushes: NDArray[np.int64] | None
    ) -> NDArray[np.int64] | int:
        """Through where the stream was complete before the push of each row."""
        if pushes is None or pushes[0] == pushes[-1] or self.is_finished:
            return self.through
        starts = np.flatnonzero(np.diff(pushes, prepend=pushes[0] - 1))
        # Late rows are older than what is complete, so they may be among those that complete it.
        newest = np.maximum.accumulate(np.maximum.reduceat(times_us, starts)) - self._ahead_us
        before = np.maximum(np.concatenate([[self.through], newest[:-1]]), self.through)
        return np.repeat(before, np.diff(starts, append=times_us.size))

    def advance(self, to_us: int) -> None:
        """Every row up to and including this instant has come; nothing comes after the end."""
        if self.is_finished:
            return
        self.through = max(self.through, to_us)
        self.newest = max(self.newest, to_us)

    def finish(self) -> None:
        """No further row will come."""
        self.through = END_OF_TIME

    @property
    def margins(self) -> tuple[int, int]:
        """By how much a row is ahead of what it completes, and the last late time likewise."""
        return self._ahead_us, self._ties_us

    @property
    def final(self) -> int:
        """The instant through which no row can come any more: not that of rows of equal time."""
        return self.through if self.is_finished else self.through - self._ties_us

    @property
    def is_finished(self) -> bool:
        """Whether the stream has ended."""
        return self.through >= END_OF_TIME


def clock_of(streams: Iterable[Completeness]) -> int:
    """The instant through which all streams are complete; their last one when all have ended."""
    clock, newest = END_OF_TIME, START_OF_TIME
    for stream in streams:
        clock = min(clock, stream.through)
        newest = max(newest, stream.newest)
    return newest if clock >= END_OF_TIME else clock
