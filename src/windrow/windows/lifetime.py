"""When a row enters a timed window and when it leaves it.

    A [T]                 enters at its time, leaves one microsecond after time + T
    A [RANGE T SLIDE S]   enters at the next multiple of S, leaves T later
    A [UNBOUNDED]         enters at its time, never leaves

The first holds t-T <= time <= t: both ends belong to it.

Both come down to two numbers: enter = time rounded up to `slide_us`, leave = enter + `hold_us`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME

__all__ = ["Lifetime"]

Instants = NDArray[np.int64]

# Added to any plausible time it is beyond the end of time, and added to that it does not overflow.
FOREVER_US = END_OF_TIME + END_OF_TIME // 2


@dataclass(frozen=True)
class Lifetime:
    """A timed window as two numbers."""

    slide_us: int
    hold_us: int

    @classmethod
    def closed(cls, length_us: int) -> Lifetime:
        """A [T]: both ends belong to the window."""
        return cls(1, length_us + 1)

    @classmethod
    def sliding(cls, length_us: int, slide_us: int) -> Lifetime:
        """A [RANGE T SLIDE S]."""
        return cls(slide_us, length_us)

    @classmethod
    def unbounded(cls) -> Lifetime:
        """A [UNBOUNDED], and windows whose rows leave for other reasons than time."""
        return cls(1, FOREVER_US)

    def enter(self, times_us: Instants) -> Instants:
        """The instants at which rows of these times enter.

        >>> Lifetime.sliding(60, 5).enter(np.array([0, 1, 5, 6])).tolist()
        [0, 5, 5, 10]
        """
        if self.slide_us == 1:
            return times_us
        return -(-times_us // self.slide_us) * self.slide_us

    def leave(self, times_us: Instants) -> Instants:
        """The first instants at which rows of these times are no longer held.

        >>> Lifetime.closed(60).leave(np.array([0])).tolist()
        [61]
        """
        return self.enter(times_us) + self.hold_us

    @property
    def is_endless(self) -> bool:
        """Whether rows never leave by time."""
        return self.hold_us >= FOREVER_US
