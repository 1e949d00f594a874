"""What readers have not read yet: entries in order, numbered from the first ever appended.

Parts are joined in tiers: FANOUT parts of one tier become one of the next, as digits carry. So an
entry is copied once per tier, there are few parts however many were appended, and nobody has to
walk over all of them to know how many entries or bytes there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

__all__ = ["FANOUT", "Backlog", "joined_rows"]

# So many parts of one tier are joined.
FANOUT = 8
# Parts are not joined to larger ones than this: both exist while one is made of the other.
JOINED_BYTES = 4 << 20


class Part(Protocol):
    """Entries in order: an array, a table, or columns side by side."""

    def __len__(self) -> int: ...
    def __getitem__(self, places: slice, /) -> Any: ...
    @property
    def nbytes(self) -> int:
        """Bytes of the entries."""


P = TypeVar("P", bound=Part)


class Backlog(Generic[P]):
    """Parts of entries; join: all entries of parts as one part of its own memory.

    >>> import numpy as np
    >>> unread = Backlog(np.concatenate)
    >>> unread.append(np.array([5, 6])), unread.append(np.array([7]))
    (None, None)
    >>> [part.tolist() for part in unread.since(1)]
    [[6], [7]]
    >>> unread.drop_before(2)
    >>> unread.first, unread.end
    (2, 3)
    """

    def __init__(self, join: Callable[[list[P]], P]) -> None:
        self._join = join
        self.clear()

    def clear(self) -> None:
        """Start over, at number 0."""
        self.first = self.end = 0  # the number of the first entry held, and that of the next one
        self.nbytes = 0
        self.parts: list[P] = []
        self._tiers: list[int] = []

    def append(self, part: P) -> None:
        """Take the next entries."""
        if not len(part):
            return
        self.parts.append(part)
        self._tiers.append(0)
        self.end += len(part)
        self.nbytes += part.nbytes
        while len(self.parts) >= FANOUT and self._tiers[-FANOUT] == self._tiers[-1]:
            if not self._carry():
                return

    def since(self, number: int, until: int | None = None) -> list[P]:
        """The entries from that number on, up to but not including `until`."""
        until = self.end if until is None else until
        found: list[P] = []
        after = self.end
        for part in reversed(self.parts):
            start = after - len(part)
            if start < until:
                low, high = max(number - start, 0), min(until - start, len(part))
                found.append(part if high - low == len(part) else part[low:high])
            after = start
            if start <= number:
                break
        return [part for part in reversed(found) if len(part)]

    def drop_before(self, number: int) -> None:
        """Entries below that number are needed no more; a part goes when most of it does."""
        while self.parts and self.first + len(self.parts[0]) <= number:
            gone = self.parts.pop(0)
            self._tiers.pop(0)
            self.first += len(gone)
            self.nbytes -= gone.nbytes
        if self.parts and 2 * (number - self.first) > len(self.parts[0]):
            # Copied, or the rest would hold on to the memory of the whole part.
            rest = self._join([self.parts[0][number - self.first :]])
            self.nbytes += rest.nbytes - self.parts[0].nbytes
            self.parts[0] = rest
            self.first = number
        if not self.parts:
            self.first = self.end

    def after(self, number: int) -> Backlog[P]:
        """The same without entries below that number; this one stays as it is."""
        other = Backlog(self._join)
        other.undo(self.mark())
        other.drop_before(number)
        return other

    def replace(self, parts: list[P]) -> None:
        """The same entries in the same parts, with other values."""
        self.nbytes = sum(part.nbytes for part in parts)
        self.parts = parts

    def mark(self) -> tuple[Any, ...]:
        """What undo() needs to come back to here; parts are never changed in place."""
        return self.first, self.end, self.nbytes, list(self.parts), list(self._tiers)

    def undo(self, mark: tuple[Any, ...]) -> None:
        """As it was at a mark."""
        self.first, self.end, self.nbytes, parts, tiers = mark
        self.parts, self._tiers = list(parts), list(tiers)

    def _carry(self) -> bool:
        """Join the last parts, all of one tier; False where they are too large for that."""
        last = self.parts[-FANOUT:]
        before = sum(part.nbytes for part in last)
        if before > JOINED_BYTES:
            return False
        joined = self._join(last)
        self.nbytes += joined.nbytes - before
        self.parts[-FANOUT:] = [joined]
        self._tiers[-FANOUT:] = [self._tiers[-1] + 1]
        return True


def joined_rows(tables: list[pa.Table]) -> pa.Table:
    """The rows of tables of one schema in memory of their own, as large as they are."""
    schema = tables[0].schema
    columns = []
    for number, field in enumerate(schema):
        chunks = [chunk for table in tables for chunk in table.column(number).chunks]
        columns.append(pa.concat_arrays(chunks) if chunks else pa.array([], field.type))
    return pa.Table.from_arrays(columns, schema=schema)
