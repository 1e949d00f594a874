"""After rows were refused: room for what comes next, taken from rows that no good answer needs.

While answers lack a row that was refused, those of other rows that leave before it would have are
in no complete answer any more. They may go first, so that rows which come after a burst are not
refused too, and answers are whole again as soon as the last row refused would have left.

The burst itself is still refused: only rows that arrive no faster than a window can hold them
take the place of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Allowance"]

# The part of the rows held that may come at most at once, and the part that may within a range.
AT_ONCE, WITHIN_RANGE = 1 / 8, 3 / 4
_STATE = ("_most", "_per_us", "_left", "_clock_us", "_range_us", "_until_us", "_kept")


class Allowance:
    """How many rows may take the place of others: none at first, then as many as time brings.

    rows: held when a row was refused. range_us: of the widest window. Room that was made and is
    not yet taken is kept for rows that come at that pace; any other room is free to all.

    >>> allowance = Allowance(rows=800, range_us=600, clock_us=0)
    >>> allowance.spend(1, 0), allowance.spend(10, 10), allowance.spend(1, 10)
    (False, True, False)
    """

    def __init__(self, rows: int, range_us: int, clock_us: int) -> None:
        self._most = rows * AT_ONCE
        self._per_us = rows * WITHIN_RANGE / max(1, range_us)
        self._left, self._clock_us = 0.0, clock_us
        self._range_us, self._until_us = range_us, clock_us + range_us
        self._kept = 0  # rows for which room was made, and that have not come

    def state(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {name: getattr(self, name) for name in _STATE}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Allowance:
        """The same, elsewhere."""
        made = cls(0, 0, 0)
        for name in _STATE:
            setattr(made, name, state[name])
        return made

    def prolong(self, clock_us: int) -> bool:
        """A row was refused again: as much is allowed as before, for longer; False: it is over."""
        if clock_us > self._until_us:
            return False
        self._until_us = max(self._until_us, clock_us + self._range_us)
        return True

    def spend(self, rows: int, clock_us: int) -> bool:
        """Whether this many rows may now replace others; if so they are counted."""
        passed_us = max(0, clock_us - self._clock_us)
        self._left = min(self._most, self._left + passed_us * self._per_us)
        self._clock_us = max(self._clock_us, clock_us)
        if rows > self._left:
            return False
        self._left -= rows
        return True

    def keep(self, rows: int) -> None:
        """Memory was freed for this many rows more than have arrived."""
        self._kept += rows

    def lets_in(self, rows: int, clock_us: int) -> bool:
        """Whether rows for which there is room may have it; then they do."""
        if self._kept <= 0 or clock_us > self._until_us:
            return True
        if not self.spend(rows, clock_us):
            return False
        self._kept -= rows
        return True
