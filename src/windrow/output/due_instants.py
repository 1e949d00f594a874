"""The instants at which answers are due and that nobody has asked about yet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.backlog import Backlog
from windrow.output.kernels import is_increasing

__all__ = ["INSTANTS_LIMIT", "DueInstants", "distinct_instants"]

# This many of the newest are kept for an absent reader; the others are counted.
INSTANTS_LIMIT = 1_000_000

Instants = NDArray[np.int64]
NONE: Instants = np.empty(0, np.int64)


class DueInstants:
    """Instants in rising order.

    >>> due = DueInstants()
    >>> due.add(np.array([1, 5]))
    >>> due.take().tolist(), due.take().tolist()
    ([1, 5], [])
    """

    def __init__(self) -> None:
        self.instants: Backlog[Instants] = Backlog(np.concatenate)
        self.next = 0  # the number of the first that is due
        self._last: int | None = None
        self.lost = 0

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, self.instants)

    def add(self, instants: Instants) -> None:
        """Take instants that are later than all before, or begin with the last of them again.

        Where nobody has asked about that one yet, it is due once.
        """
        if not instants.size:
            return
        if int(instants[0]) == self._last and self.next < self.instants.end:
            instants = instants[1:]
        self._last = int(instants[-1]) if instants.size else self._last
        self.instants.append(instants)
        excess = self.instants.end - self.next - INSTANTS_LIMIT
        if excess > 0:
            self._lose(excess)

    def all(self) -> Instants:
        """All of them."""
        parts = self.instants.since(self.next)
        return np.concatenate([*parts, NONE]) if len(parts) != 1 else parts[0]

    def take(self) -> Instants:
        """All of them, which are then no longer due."""
        instants = self.all()
        self.drop()
        return instants

    def after_all(self) -> DueInstants:
        """How it is when all of them were answered."""
        rest = DueInstants()
        rest.lost = self.lost
        return rest

    def drop(self) -> None:
        """Let go of them uncounted: nobody will read."""
        self._let_go(self.instants.end)

    def lose(self) -> None:
        """Let go of them, counted."""
        self._lose(self.instants.end - self.next)

    def lose_before(self, instant: int) -> None:
        """Let go of those before an instant, counted."""
        self._lose(sum(int(np.searchsorted(part, instant)) for part in self._due))

    def lose_half(self) -> None:
        """Let go of the older half of them, counted."""
        self._lose((self.instants.end - self.next + 1) // 2)

    @property
    def nbytes(self) -> int:
        """Bytes of those that are due."""
        return 8 * (self.instants.end - self.next)

    @property
    def _due(self) -> list[Instants]:
        return self.instants.since(self.next)

    def _lose(self, count: int) -> None:
        self.lost += count
        self._let_go(self.next + count)

    def _let_go(self, number: int) -> None:
        self.next = number
        self.instants.drop_before(number)


def distinct_instants(instants: Instants) -> Instants:
    """Each instant once, in order; mostly they are in order, and only some are equal."""
    is_later = np.ones(instants.size, np.bool_)
    np.not_equal(instants[1:], instants[:-1], out=is_later[1:])
    found = instants[is_later]
    return found if is_increasing(found) else np.unique(found)
