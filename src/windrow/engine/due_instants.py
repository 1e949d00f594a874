"""The instants at which answers are due and that nobody has asked about yet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["INSTANTS_LIMIT", "DueInstants"]

# The newest so many are kept for a reader that does not come; the others are counted.
INSTANTS_LIMIT = 1_000_000

Instants = NDArray[np.int64]


class DueInstants:
    """Instants in rising order.

    >>> due = DueInstants()
    >>> due.add(np.array([1, 5]))
    >>> due.take().tolist(), due.take().tolist()
    ([1, 5], [])
    """

    def __init__(self) -> None:
        self._parts: list[Instants] = []
        self._count = 0
        self.lost = 0

    def add(self, instants: Instants) -> None:
        """Take instants that are later than all before."""
        if not instants.size:
            return
        self._parts.append(instants)
        self._count += instants.size
        while self._count > INSTANTS_LIMIT:
            excess = self._count - INSTANTS_LIMIT
            oldest = self._parts[0]
            gone = min(excess, oldest.size)
            self._parts[:1] = [oldest[gone:]] if gone < oldest.size else []
            self._count -= gone
            self.lost += gone

    def all(self) -> Instants:
        """All of them."""
        if len(self._parts) != 1:
            self._parts = [np.concatenate([*self._parts, np.empty(0, np.int64)])]
        return self._parts[0]

    def take(self) -> Instants:
        """All of them, which are then no longer due."""
        instants = self.all()
        self.drop()
        return instants

    def drop(self) -> None:
        """Let go of them uncounted: nobody will read."""
        self._parts, self._count = [], 0

    def lose(self) -> None:
        """Let go of them, counted."""
        self.lost += self._count
        self.drop()
