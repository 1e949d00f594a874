"""The rows of one window that runs keep: those to come, and those that it holds.

Queries that are read together share a window where its rows are the same for all of them; then a
row has the columns of each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from operator import itemgetter

from windrow.events.row_text import EventRow, InputRows

__all__ = ["EventWindow"]

# About what Python takes for a row that is kept, and for each of its values.
ROW_BYTES, VALUE_BYTES = 80, 40

_ENTERS = itemgetter(0)


class EventWindow:
    """Rows in the order in which they enter; `readers` inputs of queries read them."""

    __slots__ = ("columns", "entry", "lifetime", "live", "readers", "waiting")

    def __init__(self, rows: InputRows) -> None:
        self.entry, self.lifetime = rows.entry, rows.lifetime
        self.columns = list(rows.columns)
        self.waiting: deque[EventRow] = deque()
        self.live: deque[EventRow] = deque()
        self.readers = 1

    def load(self, rows: Iterable[EventRow], clock: int) -> None:
        """Rows that come to an empty window, or would be in it at the clock."""
        found = [row for row in rows if row[0] + self.lifetime.hold_us > clock]
        self.waiting.extend(sorted(found, key=_ENTERS))

    def is_like(self, other: EventWindow) -> bool:
        """Whether the other has the same rows, as far as both have columns of them."""
        return (
            self.lifetime == other.lifetime
            and self.entry.stream.name == other.entry.stream.name
            and self.entry.filter == other.entry.filter
            and self.entry.keys == other.entry.keys
            and self._common(self.waiting, other) == other._common(other.waiting, self)
            and self._common(self.live, other) == other._common(other.live, self)
        )

    def _common(self, rows: deque[EventRow], other: EventWindow) -> list[object]:
        """The instants of rows, and the values that the other has, too."""
        columns = [column for column in self.columns if column in other.columns]
        places = [0, *(self.columns.index(column) + 1 for column in sorted(columns, key=repr))]
        return list(map(itemgetter(*places), rows))

    def take_over(self, other: EventWindow) -> list[int]:
        """Rows have the columns of the other, too: where each of its columns is here.

        Of rows at the same instant either may have another order: each keeps its own columns, and
        those that both have are the same.
        """
        places, fresh = [0], []
        for number, column in enumerate(other.columns, 1):
            if column not in self.columns:
                self.columns.append(column)
                fresh.append(number)
            places.append(self.columns.index(column) + 1)
        if fresh:
            _widen(self.waiting, other.waiting, fresh)
            _widen(self.live, other.live, fresh)
        self.readers += other.readers
        return places

    @property
    def nbytes(self) -> int:
        """About its bytes."""
        count = len(self.waiting) + len(self.live)
        return count * (ROW_BYTES + VALUE_BYTES * (len(self.columns) + 1))


def _widen(rows: deque[EventRow], others: deque[EventRow], places: list[int]) -> None:
    pairs = zip(rows, others, strict=True)
    wider = [(*row, *(other[place] for place in places)) for row, other in pairs]
    rows.clear()
    rows.extend(wider)
