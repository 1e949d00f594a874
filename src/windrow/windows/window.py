"""One window of a query: rows in; events, that is, rows entering and leaving, out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME
from windrow.windows import kernels, stepped_kernels
from windrow.windows.buffer import NO_MATRIX, ColumnMark, ColumnWindow, Rows
from windrow.windows.codes import Codes
from windrow.windows.eviction import LastRows, LastRowsByPartition
from windrow.windows.lifetime import Lifetime
from windrow.windows.row_store import RowStore
from windrow.windows.scheduled import NOTHING, Schedule

__all__ = ["EventColumns", "OperatorMark", "Window", "WindowArrays", "WindowMark"]

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


class WindowArrays(NamedTuple):
    """A window whose rows enter at their time and leave `hold_us` later, in order."""

    times: Rows
    codes: Codes
    values: Rows
    cursor: Rows  # head, tail, end
    hold_us: int

    @classmethod
    def without_rows(cls) -> WindowArrays:
        """A window into which no row ever comes, for kernels that take a number of windows."""
        times, cursor = np.full(1, END_OF_TIME, np.int64), np.zeros(4, np.int64)
        return cls(times, np.zeros(1, np.int32), np.zeros((1, 1), np.int64), cursor, 1)

    def most_events(self, until: int) -> int:
        """At most so many rows enter and leave up to `until`."""
        head, tail, end, _ = self.cursor.tolist()
        entering = self.times[tail:end].searchsorted(until, side="right")
        leaving = self.times[head:end].searchsorted(until - self.hold_us, side="right")
        return int(entering + leaving)


class WindowMark(NamedTuple):
    """How a window was before a step."""

    lifetime: Lifetime
    columns: ColumnMark


class Window:
    """A window that is timed (lifetime) or holds rows until others come (eviction).

    store, chosen: rows that other windows read, too, and which of their words this one reads.
    own_count: words of a row that are made of it, and no other window's.
    """

    def __init__(
        self,
        value_count: int,
        lifetime: Lifetime | None = None,
        eviction: LastRows | LastRowsByPartition | Schedule | None = None,
        store: RowStore | None = None,
        chosen: tuple[int, ...] = (),
        own_count: int = 0,
    ) -> None:
        self._eviction = eviction
        self.change_lifetime(lifetime or Lifetime.unbounded())
        is_scheduled = isinstance(eviction, Schedule)
        has_links = is_scheduled or isinstance(eviction, LastRowsByPartition)
        links = {"has_links": has_links, "has_since": is_scheduled}
        self.columns = ColumnWindow(
            value_count, store=store, chosen=chosen, own_count=own_count, **links
        )
        self._evict = NO_EVICTIONS
        self._scheduled, self._given = NOTHING, 0  # events of this step, and how many were read
        self._opened = (0, 0)  # head and tail when events were last read

    def change_lifetime(self, lifetime: Lifetime) -> None:
        """Rows leave by this one from now on; those that have left do not come back."""
        self.lifetime = lifetime
        self._lifetime_numbers = lifetime.numbers()
        is_timed = self._eviction is None
        self._is_closed = is_timed and lifetime.enters_at_time and not lifetime.turn_growth_us
        is_stepped = is_timed and lifetime.is_stepped
        self._events = stepped_kernels.stepped_events if is_stepped else kernels.timed_events
        self.is_endless = is_timed and lifetime.is_endless  # whether rows never leave

    def mark(self) -> WindowMark:
        """How it is now: rewind() goes back to it until keep() is called."""
        columns = self.columns
        if columns.store.pending is not None:
            columns.store.complete()
        if self._eviction is not None:
            self._eviction.close_gaps(columns)
        own = None if columns.is_shared else columns.store.mark()
        head, tail, _, evicting = columns.cursor.tolist()
        base = columns.store.base
        alive = columns.alive[head:tail].copy() if columns.alive.size else None
        rows = ColumnMark(base + head, base + tail, evicting, alive, columns.strange_until_us, own)
        columns.marked = rows
        return WindowMark(self.lifetime, rows)

    def keep(self) -> None:
        """What came and went since the mark stays so."""
        self.columns.marked = None
        if not self.columns.is_shared:
            self.columns.store.keep()

    def rewind(self, mark: WindowMark) -> None:
        """Hold the rows that were held at the mark.

        Only these can be read after that: what a window knows next to them, such as who is next in
        a partition, is not restored.
        """
        self.change_lifetime(mark.lifetime)
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
        head, tail, _, _ = self.columns.cursor.tolist()
        self._opened = (head, tail)
        if isinstance(self._eviction, Schedule):
            self._scheduled, self._given = self._eviction.events(self.columns, until), 0
        elif self._eviction is not None:
            self._evict = self._eviction.evictions(self.columns, until)

    def fill(self, events: EventColumns, first: int, limit: int, until: int, grid_us: int) -> int:
        """Write the next events, in time order, from `first` on; returns how many."""
        if isinstance(self._eviction, Schedule):
            return self._fill_scheduled(events, first, limit, grid_us)
        columns = self.columns
        place = (first, limit, events.at, events.row, events.sign)
        if self._eviction is None:
            return int(
                self._events(
                    columns.times, columns.cursor, self._lifetime_numbers, grid_us, until, *place
                )
            )
        return int(
            kernels.counted_events(
                columns.times, columns.cursor, self._evict, self._opened[1], grid_us, until, *place
            )
        )

    def _fill_scheduled(self, events: EventColumns, first: int, limit: int, grid_us: int) -> int:
        at, row, sign, _ = self._scheduled
        begin = self._given
        count = min(limit, at.size - begin)
        end, stop = begin + count, first + count
        events.at[first:stop] = -(-at[begin:end] // grid_us) * grid_us
        events.row[first:stop], events.sign[first:stop] = row[begin:end], sign[begin:end]
        self._given = end
        return count

    def close(self) -> Rows | slice | None:
        """All events are taken: the places of the rows that left, valid until rows are appended.

        A slice where they follow each other, as in most windows; None when no row left.
        """
        if self._eviction is None:
            first, end = self._opened[0], int(self.columns.cursor[0])
            return slice(first, end) if first < end else None
        if isinstance(self._eviction, Schedule):
            return self._scheduled.gone if self._scheduled.gone.size else None
        gone: Rows = self._evict[self._evict != kernels.EMPTY]
        if not gone.size:
            return None
        is_run = isinstance(self._eviction, LastRows)
        return slice(int(gone[0]), int(gone[-1]) + 1) if is_run else gone

    def reclaim(self, gone: Rows | slice) -> None:
        """The rows that left are no longer needed."""
        if self._eviction is not None:
            if not isinstance(self._eviction, Schedule):
                self._eviction.reclaim(self.columns, gone)
            if self.columns.marked is None:
                self._eviction.close_gaps(self.columns)

    @property
    def is_weighted(self) -> bool:
        """Whether rows may stand for several equal ones."""
        return self.columns.weights.size > 0

    @property
    def counted_rows(self) -> int:
        """Rows held and waiting, each as often as it counts."""
        head, _, end, _ = self.columns.cursor.tolist()
        if self.columns.weights.size:
            return int(self.columns.weights[head:end].sum())
        return int(end - head)

    def plain_arrays(self) -> WindowArrays | None:
        """The arrays of a window whose rows enter at their time, leave so much later and take part.

        None where some do not, or count more than once.
        """
        lifetime, columns = self.lifetime, self.columns
        if columns.weights.size or not self._is_closed or not columns.reads_run:
            return None
        head, _, end, _ = columns.cursor.tolist()
        store = columns.store
        if head < end:
            first_us = int(store.times[head])
            leaves_at_floor = first_us + lifetime.hold_us <= lifetime.floor_us
            if leaves_at_floor or first_us <= columns.strange_until_us:
                return None
        values = columns.run_of(store.values)
        return WindowArrays(store.times, columns.codes, values, columns.cursor, lifetime.hold_us)

    def next_stop(self, until: int, events: int) -> int:
        """How far the clock may go, at most to `until`, for about `events` rows to enter or leave.

        Rows of one instant come or go together, however many they are.
        """
        lifetime, times = self.lifetime, self.columns.store.times
        head, tail, end, _ = self.columns.cursor.tolist()
        stop = until
        if tail + events <= end:
            stop = min(stop, int(lifetime.enter(times[tail + events - 1 :][:1])[0]))
        if self._eviction is None and head + events <= end:
            stop = min(stop, int(lifetime.leave(times[head + events - 1 :][:1])[0]))
        return stop

    @property
    def event_count(self) -> int:
        """A number that has grown by about one for each row that entered or left meanwhile."""
        head, tail, _, _ = self.columns.cursor.tolist()
        return 2 * self.columns.store.base + int(head) + int(tail)

    def drop_held(self) -> int:
        """Let go of all rows held, which never leave by themselves; returns how many they were."""
        count = self.columns.tail - self.columns.head
        self.columns.cursor[0] = self.columns.tail
        return count

    def held(self) -> Rows:
        """The places of the rows in the window, oldest first."""
        places = self.kept()
        if isinstance(self._eviction, Schedule):
            return places[self._eviction.shown(self.columns, places)]
        return places

    def kept(self) -> Rows:
        """The same, with rows that the clock has passed and that wait for others, or stand for it.

        All that a window of the last rows needs to know, as a new one that is given these knows it.
        """
        columns = self.columns
        if columns.alive.size:
            return np.flatnonzero(columns.alive[columns.head : columns.tail]) + columns.head
        return np.arange(columns.head, columns.tail)

    def waiting(self) -> Rows:
        """The places of the rows that the clock has not reached."""
        return np.arange(self.columns.tail, self.columns.end)

    def forget_partitions(self, partitions: Codes) -> None:
        """Partitions without rows: their codes may soon mean others."""
        if isinstance(self._eviction, LastRowsByPartition | Schedule):
            self._eviction.forget(partitions)

    @property
    def row_count(self) -> int:
        """Rows held, each as often as it counts."""
        columns = self.columns
        if isinstance(self._eviction, Schedule):
            return int(self.kept().size)
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


class OperatorMark:
    """How the windows of an operator were before a step.

    An operator that was rolled back can only return its rows: sums, indexes and
    codes are what the step that failed has left. The codes of rows that left since the mark still
    have their meaning, as none is given to another key before rows come in again.
    """

    def __init__(self, windows: Sequence[Window]) -> None:
        self._windows: list[tuple[Window, WindowMark]] = []
        for window in windows:
            self._windows.append((window, window.mark()))

    def rewind(self) -> None:
        """Let the windows hold what they held."""
        for window, mark in self._windows:
            window.rewind(mark)

    def keep(self) -> None:
        """The step is whole."""
        for window, _ in self._windows:
            window.keep()
