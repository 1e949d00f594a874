"""The smallest and largest of values that come and go, as many copies as there are."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from heapq import heapify, heappop, heappush
from typing import Any

from windrow.events.giving_up import gives_up

__all__ = ["HeldValues", "LeastNumbers", "SortedValues"]

# Values that have gone stay in the heap until they are the least, or more than half of so many.
GONE_LET_BE = 64


class LeastNumbers:
    """The least of numbers; sign -1: the greatest. first: that one; None where there is none.

    counts: how many there are of each number; it may be 0 of those that are not the first.

    >>> values = LeastNumbers(-1)
    >>> for number in (3, 7, 7):
    ...     values.add(number)
    >>> values.remove(7), values.first, values.remove(7), values.first
    (None, 7, None, 3)
    """

    __slots__ = ("_gone", "_heap", "_sign", "counts", "first")

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self.first: Any = None
        self.counts: dict[Any, int] = {}
        self._heap: list[Any] = []
        self._gone = 0

    def add(self, number: Any) -> None:
        """One more."""
        if number != number or (number == 0.0 and math.copysign(1.0, number) < 0.0):
            gives_up("NaN or a negative zero")
        count = self.counts.get(number)
        if count is None:
            heappush(self._heap, number * self._sign)
            self.counts[number] = 1
            self.first = self._heap[0] * self._sign
        else:
            self._gone -= not count
            self.counts[number] = count + 1

    def remove(self, number: Any) -> None:
        """One of those that were added."""
        count = self.counts[number] - 1
        self.counts[number] = count
        if not count:
            self._gone += 1
            if number == self.first:
                self._forget_first()
            elif self._gone > GONE_LET_BE and 2 * self._gone > len(self._heap):
                self.counts = {each: many for each, many in self.counts.items() if many}
                self._heap = [each * self._sign for each in self.counts]
                heapify(self._heap)
                self._gone = 0

    def _forget_first(self) -> None:
        """The first has gone: here, and not when somebody looks, which changes nothing."""
        heap, counts, sign = self._heap, self.counts, self._sign
        while heap and not counts[heap[0] * sign]:
            del counts[heappop(heap) * sign]
            self._gone -= 1
        self.first = heap[0] * sign if heap else None

    def __len__(self) -> int:
        return len(self._heap)


class SortedValues:
    """The same for texts and others that have no sign."""

    __slots__ = ("_counts", "_place", "_values")

    def __init__(self, sign: int) -> None:
        self._place = 0 if sign > 0 else -1
        self._counts: dict[Any, int] = {}
        self._values: list[Any] = []

    def add(self, value: Any) -> None:
        """One more."""
        count = self._counts.get(value, 0)
        if not count:
            insort(self._values, value)
        self._counts[value] = count + 1

    def remove(self, value: Any) -> None:
        """One of those that were added."""
        count = self._counts[value] - 1
        if count:
            self._counts[value] = count
            return
        del self._counts[value]
        del self._values[bisect_left(self._values, value)]

    @property
    def first(self) -> Any:
        """The first of them; None where there is none."""
        return self._values[self._place] if self._values else None

    def __len__(self) -> int:
        return len(self._values)


class HeldValues:
    """How many different values there are."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[Any, int] = {}

    def add(self, value: Any) -> None:
        """One more."""
        self._counts[value] = self._counts.get(value, 0) + 1

    def remove(self, value: Any) -> None:
        """One of those that were added."""
        count = self._counts[value] - 1
        if count:
            self._counts[value] = count
        else:
            del self._counts[value]

    def __len__(self) -> int:
        return len(self._counts)
