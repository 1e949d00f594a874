"""Query 2: distinct pairs of source and destination, prolonged by duplicates when they come up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from papers.live_results.result_stream import ResultStream, Span, Timing, stamped

__all__ = ["distinct_results"]

Longs = NDArray[np.int64]


def distinct_results(pairs: Longs, timing: Timing, span: Span) -> ResultStream:
    """A pair is queued when it comes; a duplicate only notes a later expiry.

    When the pair comes up before that, it is queued again, which counts as an access too.
    """
    stamps = stamped(pairs.size, timing.rows_per_s, timing.slide_us)
    queue = _Representatives(timing.window_us)
    wanted = -1
    until = round(timing.window_us * (1 + span.windows))
    begin = 0
    for instant in range(timing.slide_us, int(stamps[-1]) + 1, timing.slide_us):
        end = int(np.searchsorted(stamps, instant, side="right"))
        queue.slide(instant, pairs[begin:end].tolist())
        begin = end
        if wanted < 0 and instant > timing.window_us:
            wanted = len(queue.births) + span.results
        if instant >= until and len(queue.births) >= wanted >= 0:
            break
    births, expiries = np.array(queue.births, np.int64), np.array(queue.expiries, np.int64)
    return ResultStream.of(births, expiries, timing.window_us)


class _Representatives:
    """Live pairs with their latest expiry, and all that was ever queued."""

    def __init__(self, window_us: int) -> None:
        self.births: list[int] = []
        self.expiries: list[int] = []
        self._window_us = window_us
        self._latest: dict[int, int] = {}
        self._queued: defaultdict[int, list[int]] = defaultdict(list)

    def slide(self, instant: int, arrived: Iterable[int]) -> None:
        """Pairs that are due leave or are queued again; then new ones come in."""
        for pair in self._queued.pop(instant, ()):
            if self._latest[pair] > instant:
                self._enqueue(instant, pair)
            else:
                del self._latest[pair]
        for pair in arrived:
            is_new = pair not in self._latest
            self._latest[pair] = instant + self._window_us
            if is_new:
                self._enqueue(instant, pair)

    def _enqueue(self, instant: int, pair: int) -> None:
        expiry = self._latest[pair]
        self.births.append(instant)
        self.expiries.append(expiry)
        self._queued[expiry].append(pair)
