"""How many a second, lately, by a clock on the wall."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

__all__ = ["Meter"]

# What is older than this does not count.
LATELY_S = 5.0


class Meter:
    """Counts what comes.

    >>> now = [0.0]
    >>> meter = Meter(lambda: now[0])
    >>> for now[0] in (0.0, 1.0, 2.0):
    ...     meter.add(10)
    >>> meter.per_second
    10.0
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: deque[tuple[float, int]] = deque()

    def add(self, count: int) -> None:
        """So many came now, since the last call."""
        now = self._clock()
        self._counts.append((now, count))
        while now - self._counts[0][0] > LATELY_S:
            self._counts.popleft()

    @property
    def per_second(self) -> float:
        """0 before the second call."""
        counts = list(self._counts)
        if len(counts) < 2:
            return 0.0
        # The first count was gathered before its moment, and so outside of the span.
        span_s = max(counts[-1][0] - counts[0][0], 1e-3)
        return round(sum(count for _, count in counts[1:]) / span_s, 3)
