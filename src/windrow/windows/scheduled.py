"""Windows whose rows leave as others of their partition come, or stay away: not in order.

    A [SESSION T PARTITION BY k]        until k has been silent for longer than T, all at once
    A [PARTITION BY k RANGE T]          when a row of k comes that is later by more than T
    A [PARTITION BY k ROWS n RANGE T]   when n later rows of k have come, or after T
    A [PARTITION BY k TUMBLE n ROWS]    when the next n rows of k are complete, all at once

Rows that left leave gaps, which are closed when they are half of the window. What is known next to
the rows follows from them: a window that is given the rows that another needs, and run to the same
instant, goes on as that one does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.windows import scheduled_kernels as kernels
from windrow.windows.buffer import ColumnWindow, Rows
from windrow.windows.codes import Codes
from windrow.windows.marks import Assignments

__all__ = [
    "ClosingSessions",
    "CompleteRows",
    "OpenSessions",
    "RangesOfPartitions",
    "RecentOfPartitions",
    "Schedule",
    "Scheduled",
]

SMALLEST = 64  # the partitions that there is room for at first, and rows that are not compacted
EMPTY = kernels.EMPTY
_NONE: Rows = np.empty(0, np.int64)


class Scheduled(NamedTuple):
    """What happens in a step: events in time order, and the places of rows no longer needed."""

    at: Rows
    row: Rows
    sign: Rows
    gone: Rows


NOTHING = Scheduled(_NONE, _NONE, _NONE, _NONE)


class Schedule(ABC):
    """How rows of one kind of window come and go.

    links: by partition, numbers of rows (place + base): the first, the newest, and one of its own.
    """

    def __init__(self) -> None:
        self._links = np.full((3, SMALLEST), EMPTY, np.int64)
        self._held = np.zeros(SMALLEST, np.int64)
        self._cursor = np.zeros(1, np.int64)
        self._ending = _NONE  # numbers of rows that leave with the next instant

    def events(self, window: ColumnWindow, until: int) -> Scheduled:
        """Rows enter up to and including `until`: what follows of it."""
        tail, end = window.tail, window.end
        stop = tail + int(np.searchsorted(window.times[tail:end], until, side="right"))
        self._make_room(int(window.partitions[tail:stop].max(initial=-1)) + 1)
        most = 2 * (stop - window.head) + 2
        out, gone = np.empty((3, most), np.int64), np.empty(most, np.int64)
        counts = np.zeros(2, np.int64)
        self._run(window, stop, until, out, gone, counts)
        window.cursor[1] = stop
        events = out[:, : counts[0]]
        return Scheduled(events[0], events[1], events[2], gone[: counts[1]])

    @abstractmethod
    def _run(
        self, window: ColumnWindow, stop: int, until: int, out: Rows, gone: Rows, counts: Rows
    ) -> None:
        """Write the events of rows that enter up to place `stop`, and of all others until then."""

    def shown(self, window: ColumnWindow, places: Rows) -> NDArray[np.bool_]:
        """Which of the rows that are needed are in the window."""
        del window
        return np.ones(places.size, np.bool_)

    def close_gaps(self, window: ColumnWindow) -> None:
        """Close the gaps that rows left when they are half of the window."""
        alive = window.alive[window.head : window.tail]
        if alive.size < SMALLEST or 2 * np.count_nonzero(alive) > alive.size:
            return
        places = np.flatnonzero(alive) + window.head
        numbers = places + window.base
        changes = Assignments()
        changes.add(self, _links=_renumbered(self._links, numbers))
        # Rows before the cursor are done with: it goes to the first kept one that is not.
        changes.add(self, _cursor=np.searchsorted(numbers, self._cursor).astype(np.int64))
        changes.add(self, _ending=_renumbered(self._ending, numbers))
        following = _renumbered(window.following[places], numbers)
        changes.add_front(window, "following", following)
        window.keep_places(places, changes)

    def forget(self, partitions: Codes) -> None:
        """Forget partitions whose code is free for others."""
        known = partitions[partitions < self._held.size]
        self._held[known] = 0
        self._links[:, known] = EMPTY

    @property
    def nbytes(self) -> int:
        """Bytes held in addition to the window."""
        return self._links.nbytes + self._held.nbytes + self._ending.nbytes

    def _make_room(self, partitions: int) -> None:
        if partitions > self._held.size:
            more = 2 * partitions - self._held.size
            links = np.pad(self._links, ((0, 0), (0, more)), constant_values=EMPTY)
            held = np.pad(self._held, (0, more))
            self._links, self._held = links, held


class OpenSessions(Schedule):
    """Rows of the sessions that are open; only_newest: of each session only its newest row."""

    def __init__(self, gap_us: int, *, only_newest: bool = False) -> None:
        super().__init__()
        self._gap, self._only_newest = gap_us, only_newest

    def _run(
        self, window: ColumnWindow, stop: int, until: int, out: Rows, gone: Rows, counts: Rows
    ) -> None:
        kernels.open_sessions(
            window.times, window.partitions, window.tail, stop, window.base, self._gap, until,
            self._cursor, self._links, window.following, window.alive, window.since,
            self._only_newest, out, gone, counts,
        )  # fmt: skip

    def shown(self, window: ColumnWindow, places: Rows) -> NDArray[np.bool_]:
        """All, or the newest of each."""
        if not self._only_newest:
            return super().shown(window, places)
        is_newest: NDArray[np.bool_] = (
            self._links[1, window.partitions[places]] == places + window.base
        )
        return is_newest


class ClosingSessions(Schedule):
    """Rows of the sessions that end at this very instant."""

    def __init__(self, gap_us: int) -> None:
        super().__init__()
        self._gap = gap_us
        self._ended_at = 0

    def events(self, window: ColumnWindow, until: int) -> Scheduled:
        """What was there goes; of what comes, that of the last instant stays."""
        places = self._ending - window.base
        window.alive[places] = False
        left = Scheduled(
            np.full(places.size, self._ended_at + 1), places, np.full(places.size, -1), places
        )
        found = super().events(window, until)
        is_last = (found.at == until) & (found.sign > 0)
        self._ending, self._ended_at = found.row[is_last] + window.base, until
        order = np.argsort(found.at, kind="stable")
        at, row, sign = (part[order] for part in found[:3])
        return Scheduled(
            np.concatenate([left.at, at]),
            np.concatenate([left.row, row]),
            np.concatenate([left.sign, sign]),
            np.concatenate([left.gone, found.gone]),
        )

    def _run(
        self, window: ColumnWindow, stop: int, until: int, out: Rows, gone: Rows, counts: Rows
    ) -> None:
        kernels.closing_sessions(
            window.times, window.partitions, window.tail, stop, window.base, self._gap, until,
            self._cursor, self._links, window.following, window.alive, window.since, out, gone,
            counts,
        )  # fmt: skip

    def shown(self, window: ColumnWindow, places: Rows) -> NDArray[np.bool_]:
        """Those that end now."""
        return np.isin(places + window.base, self._ending)


class RangesOfPartitions(Schedule):
    """Of each partition the rows at most so much older than its newest."""

    def __init__(self, length_us: int) -> None:
        super().__init__()
        self._length = length_us

    def _run(
        self, window: ColumnWindow, stop: int, until: int, out: Rows, gone: Rows, counts: Rows
    ) -> None:
        del until
        kernels.ranges_of_partitions(
            window.times, window.partitions, window.tail, stop, window.base, self._length,
            self._links, window.following, window.alive, out, gone, counts,
        )  # fmt: skip


class RecentOfPartitions(Schedule):
    """Of each partition the last rows that are not too old."""

    def __init__(self, rows: int, length_us: int) -> None:
        super().__init__()
        self._rows, self._length = rows, length_us

    def _run(
        self, window: ColumnWindow, stop: int, until: int, out: Rows, gone: Rows, counts: Rows
    ) -> None:
        kernels.recent_of_partitions(
            window.times, window.partitions, window.tail, stop, window.base, self._length,
            self._rows, until, self._cursor, self._links, self._held, window.following,
            window.alive, out, gone, counts,
        )  # fmt: skip


class CompleteRows(Schedule):
    """Of each partition the newest rows that are as many as asked for."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self._rows = rows

    def _run(
        self, window: ColumnWindow, stop: int, until: int, out: Rows, gone: Rows, counts: Rows
    ) -> None:
        del until
        kernels.complete_rows(
            window.times, window.partitions, window.tail, stop, window.base, self._rows,
            self._links, self._held, window.following, window.alive, window.since, out, gone,
            counts,
        )  # fmt: skip

    def shown(self, window: ColumnWindow, places: Rows) -> NDArray[np.bool_]:
        """Those that do not wait for others."""
        is_shown: NDArray[np.bool_] = window.since[places] == 1
        return is_shown


def _renumbered(numbers: Rows, kept: Rows) -> Rows:
    """The new numbers of rows: their rank among the kept ones (of others nobody asks)."""
    found = np.searchsorted(kept, numbers).astype(np.int64)
    return np.where(numbers == EMPTY, EMPTY, found)
