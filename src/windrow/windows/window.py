"""One window of a query: rows in; events, that is, rows entering and leaving, out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.windows import kernels
from windrow.windows.buffer import NO_MATRIX, ColumnMark, ColumnWindow, Rows
from windrow.windows.codes import Codes
from windrow.windows.eviction import LastRows, LastRowsByPartition
from windrow.windows.lifetime import Lifetime
from windrow.windows.marks import Mark
from windrow.windows.row_store import RowStore

__all__ = ["EventColumns", "Window", "WindowMark"]

NO_EVICTIONS: Rows = np.empty(0, np.int64)


class EventColumns:
    """Room for events: when, which row, and whether it enters (1) or leaves (-1).

    times: the sign as often as the row counts; no entries until a window has weights.
    """

    def __init__(self, size: int) -> None:
        self.at = np.empty(size, np.int64)
        self.row = np.empty(size, np.int64)
        self.sign = np.empty(size, np.int8)
        self.times: Rows = np.empty(0, np.int64)

    def weigh(self, first: int, size: int, weights: Rows) -> None:
        """Let events count as often as their rows do."""
        if not self.times.size:
            self.times = self.sign.astype(np.int64)
        end = first + size
        self.times[first:end] = self.sign[first:end]
        if weights.size:
            self.times[first:end] *= weights[self.row[first:end]]


class WindowMark(NamedTuple):
    """How a window was before a step."""

    own: Mark
    columns: ColumnMark


class Window:
    """A window that is timed (lifetime) or holds the last rows (eviction).

    store, chosen: rows that other windows read, too, and which of their words this one reads.
    """

    def __init__(
        self,
        value_count: int,
        lifetime: Lifetime | None = None,
        eviction: LastRows | LastRowsByPartition | None = None,
        store: RowStore | None = None,
        chosen: tuple[int, ...] = (),
    ) -> None:
        self._eviction = eviction
        self.change_lifetime(lifetime or Lifetime.unbounded())
        by_partition = isinstance(eviction, LastRowsByPartition)
        self.columns = ColumnWindow(value_count, has_links=by_partition, store=store, chosen=chosen)
        self._evict = NO_EVICTIONS
        self._opened = (0, 0)  # head and tail when events were last read

    def change_lifetime(self, lifetime: Lifetime) -> None:
        """Rows leave by this one from now on; those that have left do not come back."""
        self.lifetime = lifetime
        self._lifetime_numbers = lifetime.numbers()

    def mark(self) -> WindowMark:
        """How it is now: rewind() goes back to it until keep() is called."""
        if self._eviction is not None:
            self.columns.store.complete()
            self._eviction.close_gaps(self.columns)
        return WindowMark(Mark(self), self.columns.mark())

    def keep(self) -> None:
        """What came and went since the mark stays so."""
        self.columns.keep()

    def rewind(self, mark: WindowMark) -> None:
        """Hold the rows that were held at the mark.

        Only these can be read after that: what else a window knows, such as who is next in a
        partition, is not set back.
        """
        mark.own.rewind()
        self.columns.rewind(mark.columns)

    def append(
        self,
        times: Rows,
        codes: Codes,
        values: Rows,
        valid: NDArray[np.uint8] = NO_MATRIX,
        partitions: Codes | None = None,
        weights: Rows | None = None,
    ) -> None:
        """Take rows in order of arrival, all later than the clock; weights: how often each counts.

        A window that is not timed holds each row once.
        """
        self.columns.append(times, codes, values, valid, partitions, weights)

    def open(self, until: int) -> None:
        """Make ready to give the events up to and including `until`."""
        columns = self.columns
        self._opened = (columns.head, columns.tail)
        if self._eviction is not None:
            self._evict = self._eviction.evictions(columns, until)

    def fill(self, events: EventColumns, first: int, limit: int, until: int, grid_us: int) -> int:
        """Write the next events, in time order, from `first` on; returns how many."""
        columns = self.columns
        place = (first, limit, events.at, events.row, events.sign)
        if self._eviction is None:
            return int(
                kernels.timed_events(
                    columns.times, columns.cursor, self._lifetime_numbers, grid_us, until, *place
                )
            )
        return int(
            kernels.counted_events(
                columns.times, columns.cursor, self._evict, self._opened[1], grid_us, until, *place
            )
        )

    def close(self) -> Rows | slice | None:
        """All events are taken: the places of the rows that left, valid until rows are appended.

        A slice where they follow each other, as in most windows; None when no row left.
        """
        if self._eviction is None:
            first, end = self._opened[0], self.columns.head
            return slice(first, end) if first < end else None
        gone: Rows = self._evict[self._evict != kernels.EMPTY]
        if not gone.size:
            return None
        is_run = isinstance(self._eviction, LastRows)
        return slice(int(gone[0]), int(gone[-1]) + 1) if is_run else gone

    def settle(self, gone: Rows | slice) -> None:
        """The rows that left are no longer needed."""
        if self._eviction is not None:
            self._eviction.settle(self.columns, gone)
            if not self.columns.is_marked:
                self._eviction.close_gaps(self.columns)

    @property
    def is_weighted(self) -> bool:
        """Whether rows may stand for several equal ones."""
        return self.columns.weights.size > 0

    @property
    def counted_rows(self) -> int:
        """Rows held and waiting, each as often as it counts."""
        columns = self.columns
        if self.is_weighted:
            return int(columns.weights[columns.head : columns.end].sum())
        return columns.end - columns.head

    @property
    def is_plain(self) -> bool:
        """Whether rows enter at their time, leave so much later, and all take part, each once."""
        lifetime, columns = self.lifetime, self.columns
        if self.is_weighted:
            return False
        if self._eviction is not None or lifetime.slide_us != 1 or lifetime.turn_growth_us:
            return False
        if columns.head < columns.end:
            first_leaves = int(columns.times[columns.head]) + lifetime.hold_us
            if first_leaves <= lifetime.floor_us or columns.has_strangers:
                return False
        return columns.reads_run

    def most_events(self, until: int) -> int:
        """At most this many rows enter and leave up to `until` in a plain window."""
        columns = self.columns
        entering = np.searchsorted(columns.times[columns.tail : columns.end], until, side="right")
        last = until - self.lifetime.hold_us
        leaving = np.searchsorted(columns.times[columns.head : columns.end], last, side="right")
        return int(entering + leaving)

    def next_stop(self, until: int, events: int) -> int:
        """How far the clock may go, at most to `until`, for about `events` rows to enter or leave.

        Rows of one instant come or go together, however many they are.
        """
        columns, lifetime = self.columns, self.lifetime
        stop = until
        if columns.tail + events <= columns.end:
            last = columns.times[columns.tail + events - 1 :][:1]
            stop = min(stop, int(lifetime.enter(last)[0]))
        if self._eviction is None and columns.head + events <= columns.end:
            last = columns.times[columns.head + events - 1 :][:1]
            stop = min(stop, int(lifetime.leave(last)[0]))
        return stop

    @property
    def event_count(self) -> int:
        """A number that has grown by about one for each row that entered or left meanwhile."""
        columns = self.columns
        return 2 * columns.base + columns.head + columns.tail

    def drop_held(self) -> int:
        """Let go of all rows held, which never leave by themselves; returns how many they were."""
        count = self.columns.tail - self.columns.head
        self.columns.cursor[0] = self.columns.tail
        return count

    @property
    def is_endless(self) -> bool:
        """Whether rows never leave."""
        return self._eviction is None and self.lifetime.is_endless

    def held(self) -> Rows:
        """The places of the rows in the window, oldest first."""
        columns = self.columns
        if columns.alive.size:
            return np.flatnonzero(columns.alive[columns.head : columns.tail]) + columns.head
        return np.arange(columns.head, columns.tail)

    def waiting(self) -> Rows:
        """The places of the rows that the clock has not reached."""
        return np.arange(self.columns.tail, self.columns.end)

    def forget_partitions(self, partitions: Codes) -> None:
        """Partitions without rows: their codes may soon mean others."""
        if isinstance(self._eviction, LastRowsByPartition):
            self._eviction.forget(partitions)

    @property
    def row_count(self) -> int:
        """Rows held, each as often as it counts."""
        columns = self.columns
        if self.is_weighted:
            return int(columns.weights[columns.head : columns.tail].sum())
        if columns.alive.size:
            return int(np.count_nonzero(columns.alive[columns.head : columns.tail]))
        return columns.tail - columns.head

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        beside = 0 if self._eviction is None else self._eviction.nbytes
        return self.columns.nbytes + beside
