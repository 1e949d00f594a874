"""Updates that are kept until changes() returns them: shared by feeds of groups and selects.

Changes that nobody reads are netted and then stand apart, before the updates that follow. Where
even these are too many, changes start over: the next ones are all rows of the result.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.backlog import Backlog, Part
from windrow.event_time import START_OF_TIME
from windrow.output.due_instants import DueInstants
from windrow.output.feed import Feed
from windrow.output.feed_columns import anew

__all__ = ["ToldUpdates"]


class TimedPart(Part, Protocol):
    """Updates in time order, as columns side by side."""

    @property
    def at(self) -> NDArray[np.int64]:
        """Their instants."""


P = TypeVar("P", bound=TimedPart)


class ToldUpdates(Feed, Generic[P]):
    """A log of updates with two readers; join: updates of parts as one part, none for no parts."""

    def __init__(self, join: Callable[[list[P]], P]) -> None:
        self._join = join
        self._updates: Backlog[P] = Backlog(join)
        self._answered_to = 0  # the number of the first update that answers() has not gone over
        self._told_to = 0  # and of the first that changes() has not told
        self._apart = join([])  # untold changes that come before it
        self.has_told = False  # whether changes() was ever read
        self.starts_over = False  # whether its next changes are all rows of the result
        self.changes_netted = 0
        self._last_us = START_OF_TIME
        self._due = DueInstants()

    def changes(self) -> pa.Table:
        """Rows that came and went since the last call, or all where changes start over."""
        return self.first_changes(self._untold)

    def unread_changes(self) -> Iterator[NDArray[np.int64]]:
        """The times of the updates whose changes nobody has read, in parts."""
        if self.starts_over:
            return iter([np.full(self.result().num_rows, self._last_us)])
        return (part.at for part in self._changes_apart_and_since())

    def first_changes(self, count: int) -> pa.Table:
        """Rows that came and went by the first `count` updates that nobody has read."""
        if self.starts_over:
            table = anew(self._last_us, self.result(), is_marked=self.has_told)
            self._move_on(starts_over=False, _told_to=self._updates.end, has_told=True)
            return table
        apart = self._apart[:count]
        end = self._told_to + count - len(apart)
        parts = [apart] if len(apart) else []
        told = self._told(self._viewed([*parts, *self._updates.since(self._told_to, end)]))
        self._move_on(_apart=self._apart[count:], _told_to=end, has_told=True)
        return told

    def begin_over(self, at_us: int) -> None:
        """The next changes are all rows of the result."""
        self.starts_over, self._last_us = True, at_us

    def drop_changes(self) -> None:
        """Nobody will read the changes so far."""
        end = self._updates.end
        self._move_on(_apart=self._apart[:0], _told_to=end, starts_over=False)

    def _viewed(self, parts: list[P]) -> P:
        """All updates of parts, to be read at once: one part stays where it is."""
        return parts[0] if len(parts) == 1 else self._join(parts)

    def _move_on(self, **read: Any) -> None:
        """A reader has come further, and what both have read is dropped: all at once, or nothing.

        It is the last thing before what was read is given, which would be lost otherwise.
        """
        after = copy(self)
        vars(after).update(read)
        after._let_go()
        vars(self).update(vars(after))

    def _let_go(self) -> None:
        """Drop what both readers have gone over; nothing is changed in place."""
        read = min(self._answered_to, self._told_to)
        if self._updates.first < read:
            self._updates = self._updates.after(read)

    @abstractmethod
    def result(self) -> pa.Table:
        """The rows of the result now."""

    @abstractmethod
    def _told(self, updates: P) -> pa.Table:
        """The changes that updates mean: at, change, then the row."""

    @property
    def _untold(self) -> int:
        return len(self._apart) + self._updates.end - self._told_to

    def _changes_apart_and_since(self) -> list[P]:
        """The updates that changes() has not returned."""
        apart = [self._apart] if len(self._apart) else []
        return [*apart, *self._updates.since(self._told_to)]

    @property
    def _instant_bytes(self) -> int:
        return self._due.nbytes

    def _unread_updates(self) -> tuple[int, int]:
        end = self._updates.end
        return end - self._answered_to, end - self._told_to

    def _lose_instants(self) -> None:
        self._due.lose_half()

    def _start_over(self) -> bool:
        if not len(self._apart):
            return False
        self.changes_netted += len(self._apart)
        self._apart, self.starts_over = self._apart[:0], True
        return True
