"""How far a stream is complete: the instant through which no further row will count.

A row at time t completes its stream through t - lateness - 1 microsecond (rows of equal time may
still follow); a heartbeat completes it through its instant, inclusive; the end of a stream
completes it for ever.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.windows import kernels

__all__ = ["Completeness", "clock_of"]


class Completeness:
    """The completeness of one stream.

    >>> stream = Completeness(lateness_us=10)
    >>> stream.judge(np.array([100, 95, 85])).tolist()
    [False, False, True]
    >>> stream.through
    89
    """

    def __init__(self, lateness_us: int) -> None:
        self._lateness_us = lateness_us
        self.through = START_OF_TIME
        self.newest = START_OF_TIME  # the latest event time or heartbeat

    def judge(self, times_us: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows are late, in order of arrival; the others complete the stream further."""
        if times_us.size == 0:
            return np.empty(0, np.bool_)
        is_sorted = times_us.size == 1 or kernels.is_sorted(times_us)
        if is_sorted and times_us[0] > self.through:
            late = np.zeros(times_us.size, np.bool_)
            newest = int(times_us[-1])
            self.through = max(self.through, newest - self._lateness_us - 1)
        else:
            late = np.empty(times_us.size, np.bool_)
            self.through = int(
                kernels.judge_lateness(times_us, self._lateness_us, self.through, late)
            )
            # A late row is not an event of the stream: after its end it must not move the clock.
            newest = int(times_us[~late].max(initial=START_OF_TIME))
        self.newest = max(self.newest, newest)
        return late

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
