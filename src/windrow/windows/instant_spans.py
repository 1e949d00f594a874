"""Spans of instants for which something holds: few, in order, and never apart by less than needed.

When there are too many, the two that are nearest to each other become one: what is said of the
spans then holds for some instants more, never for fewer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

__all__ = ["SPANS_LIMIT", "InstantSpans"]

# At most this many spans are distinguished.
SPANS_LIMIT = 256

Instants = NDArray[np.int64]


class InstantSpans:
    """Disjoint spans; both ends belong to them.

    >>> spans = InstantSpans()
    >>> spans.add(10, 20)
    >>> spans.add(21, 30)
    >>> spans.covers(np.array([9, 10, 30, 31])).tolist()
    [False, True, True, False]
    >>> spans.first_end(5), spans.first_end(31)
    (30, None)
    """

    def __init__(self) -> None:
        self._first: list[int] = []
        self._last: list[int] = []

    @property
    def is_empty(self) -> bool:
        """Whether there is none."""
        return not self._first

    def listed(self) -> list[tuple[int, int]]:
        """The spans in order."""
        return list(zip(self._first, self._last, strict=True))

    def add(self, first: int, last: int) -> None:
        """Take a span in; it becomes one with those that it touches."""
        begin, end = bisect_left(self._last, first - 1), bisect_right(self._first, last + 1)
        if begin < end:
            first, last = min(first, self._first[begin]), max(last, self._last[end - 1])
        self._first[begin:end], self._last[begin:end] = [first], [last]
        if len(self._first) > SPANS_LIMIT:
            self._join_nearest()

    def covers(self, instants: Instants) -> NDArray[np.bool_]:
        """Which of the instants are in a span."""
        if self.is_empty:
            return np.zeros(instants.size, np.bool_)
        place = np.searchsorted(np.array(self._last, np.int64), instants)
        first = np.append(np.array(self._first, np.int64), np.iinfo(np.int64).max)
        covered: NDArray[np.bool_] = first[place] <= instants
        return covered

    def has(self, instant: int) -> bool:
        """Whether an instant is in a span."""
        return self.meets(instant, instant)

    def meets(self, first: int, last: int) -> bool:
        """Whether any instant from the first to the last is in a span."""
        place = bisect_left(self._last, first)
        return first <= last and place < len(self._first) and self._first[place] <= last

    def first_end(self, instant: int) -> int | None:
        """The last instant of the first span that does not lie before the instant; None: none."""
        place = bisect_left(self._last, instant)
        return self._last[place] if place < len(self._last) else None

    def forget_before(self, instant: int) -> None:
        """Spans that end before the instant are no longer needed."""
        gone = bisect_left(self._last, instant)
        del self._first[:gone], self._last[:gone]

    def _join_nearest(self) -> None:
        gaps = np.array(self._first[1:], np.int64) - np.array(self._last[:-1], np.int64)
        place = int(np.argmin(gaps))
        del self._first[place + 1], self._last[place]
