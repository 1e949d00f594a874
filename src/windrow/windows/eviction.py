"""Which row leaves when another enters: windows of the last n rows, whole or by partition."""

from __future__ import annotations

import numpy as np

from windrow.windows import kernels
from windrow.windows.buffer import ColumnWindow, Rows
from windrow.windows.codes import Codes
from windrow.windows.marks import Assignments

__all__ = ["LastRows", "LastRowsByPartition"]

SMALLEST = 64  # the partitions that there is room for at first, and rows that are not compacted


class LastRows:
    """A [ROWS n]: rows leave in order of arrival."""

    def __init__(self, rows: int) -> None:
        self._rows = rows

    def evictions(self, window: ColumnWindow, until: int) -> Rows:
        """For each row that enters up to `until`: the row that it pushes out, or EMPTY."""
        tail = window.tail
        count = _entering(window, until)
        out = np.arange(tail - self._rows, tail - self._rows + count, dtype=np.int64)
        out[out < window.head] = kernels.EMPTY
        return out

    def reclaim(self, window: ColumnWindow, gone: Rows | slice) -> None:
        """Move the head over the rows that left."""
        window.cursor[0] = gone.stop if isinstance(gone, slice) else gone[-1] + 1

    def close_gaps(self, window: ColumnWindow) -> None:
        """Rows leave in order: there are none."""

    @property
    def nbytes(self) -> int:
        """Bytes held in addition to the window."""
        return 0


class LastRowsByPartition:
    """A [PARTITION BY k ROWS n]: a row leaves when n later ones of its partition have come.

    Rows leave out of order, so the window keeps gaps until half of it is gaps.
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._first = np.zeros(SMALLEST, np.int64)
        self._last = np.zeros(SMALLEST, np.int64)
        self._held = np.zeros(SMALLEST, np.int64)

    def evictions(self, window: ColumnWindow, until: int) -> Rows:
        """For each row that enters up to `until`: the row that it pushes out, or EMPTY."""
        tail = window.tail
        count = _entering(window, until)
        self._make_room(int(window.partitions[tail : tail + count].max(initial=-1)) + 1)
        out = np.empty(count, np.int64)
        kernels.evict_by_partition(
            window.partitions,
            tail,
            tail + count,
            window.base,
            self._rows,
            self._first,
            self._last,
            self._held,
            window.following,
            window.alive,
            out,
        )
        return out

    def reclaim(self, window: ColumnWindow, gone: Rows | slice) -> None:
        """Nothing: the kernel has flagged them, and gaps are closed between steps."""

    def close_gaps(self, window: ColumnWindow) -> None:
        """Close the gaps that rows left when they are half of the window."""
        alive = window.alive[window.head : window.tail]
        if alive.size < SMALLEST or 2 * np.count_nonzero(alive) > alive.size:
            return
        places = np.flatnonzero(alive) + window.head
        numbers = places + window.base
        changes = Assignments()
        first, last = _renumbered(self._first, numbers), _renumbered(self._last, numbers)
        changes.add(self, _first=first, _last=last)
        following = _renumbered(window.following[places], numbers)
        changes.add_front(window, "following", following)
        window.keep_places(places, changes)

    def forget(self, partitions: Codes) -> None:
        """Forget partitions whose code is free for others."""
        self._held[partitions[partitions < self._held.size]] = 0

    @property
    def nbytes(self) -> int:
        """Bytes held in addition to the window."""
        return self._first.nbytes + self._last.nbytes + self._held.nbytes

    def _make_room(self, partitions: int) -> None:
        if partitions > self._held.size:
            more = np.zeros(2 * partitions - self._held.size, np.int64)
            self._first = np.concatenate([self._first, more])
            self._last = np.concatenate([self._last, more])
            self._held = np.concatenate([self._held, more])


def _entering(window: ColumnWindow, until: int) -> int:
    return int(np.searchsorted(window.times[window.tail : window.end], until, side="right"))


def _renumbered(numbers: Rows, kept: Rows) -> Rows:
    """The new numbers of rows: their rank among the kept ones (of others nobody asks)."""
    return np.searchsorted(kept, numbers).astype(np.int64)
