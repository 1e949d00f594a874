"""From windows to blocks of joined rows: events merged in time, each probing the other windows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import Vector
from windrow.operators.pairs import index_kernels
from windrow.operators.pairs.arrays import ProbeState
from windrow.operators.pairs.block import MergedEvents
from windrow.operators.pairs.index import JoinIndex
from windrow.windows.window import EventColumns, Window

__all__ = ["BLOCK", "EventMerger", "Prober"]

# Joined rows of a block: its columns stay in the cache.
BLOCK = 1 << 15
# Events of a window that are taken at once.
CHUNK = 4096


class EventMerger:
    """Merges the events of windows whose codes are the slots of rows (~slot: takes no part)."""

    def __init__(self, windows: tuple[Window, ...]) -> None:
        self._windows = windows
        count = len(windows)
        self.events = MergedEvents(CHUNK * count)
        self._chunks = EventColumns(CHUNK * count)
        self._slots = np.empty(CHUNK * count, np.int64)
        self._position = np.arange(count) * CHUNK
        self._stop = self._position.copy()
        self._has_more = np.ones(count, np.bool_)
        self._is_through = np.zeros(1, np.int64)
        self._until = 0
        self._grid_us = 1

    def open(self, until: int, grid_us: int) -> None:
        """Make ready to give the events up to and including `until`."""
        self._until, self._grid_us = until, grid_us
        self._has_more[:] = True
        self._is_through[0] = 0
        self._stop[:] = self._position
        for window in self._windows:
            window.open(until)

    def fill(self) -> bool:
        """Merge the next events; false when there are none left."""
        while not self._is_through[0]:
            for number in range(len(self._windows)):
                if self._position[number] == self._stop[number] and self._has_more[number]:
                    self._fill_window(number)
            events, chunks = self.events, (self._chunks.at, self._slots, self._chunks.sign)
            left = (self._position, self._stop, self._has_more)
            count = index_kernels.merge_windows(*chunks, *left, events.arrays, self._is_through)
            events.count = int(count)
            if events.count:
                return True
        return False

    def probing(self, inputs: Vector, slots: Vector) -> MergedEvents:
        """Events that only probe."""
        events = MergedEvents(inputs.size)
        events.input[:], events.slot[:] = inputs, slots
        events.sign[:] = 0
        events.count = inputs.size
        return events

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        chunks = (self._chunks.at, self._chunks.row, self._chunks.sign, self._slots)
        return self.events.nbytes + sum(array.nbytes for array in chunks)

    def _fill_window(self, number: int) -> None:
        first = number * CHUNK
        window = self._windows[number]
        size = window.fill(self._chunks, first, CHUNK, self._until, self._grid_us)
        slots = window.columns.codes
        index_kernels.list_slots(slots, first, size, self._chunks.row, self._slots)
        self._position[number], self._stop[number] = first, first + size
        self._has_more[number] = size == CHUNK


class Prober:
    """Lists joined rows in blocks; `event` and `slot` hold the block."""

    def __init__(self, index: JoinIndex, inputs: int, block: int) -> None:
        self._index = index
        self._event = np.empty(block, np.int32)
        self._slot = np.empty((inputs, block), np.int32)
        self._progress = np.zeros(index_kernels.PROGRESS_ENTRIES, np.int64)
        cursor, end, current = (np.zeros(inputs, np.int64) for _ in range(3))
        self._state = ProbeState(cursor, end, current, self._progress)

    def begin(self) -> None:
        """New events."""
        self._progress[index_kernels.EVENT] = 0
        self._progress[index_kernels.IS_BEGUN] = 0

    def fill(
        self, events: MergedEvents, probes_leave: NDArray[np.bool_], pauses: NDArray[np.bool_]
    ) -> bool:
        """List the next block; true when the events are through."""
        while True:
            index_kernels.list_joined(
                events.count, events.arrays, probes_leave, pauses, self._index.arrays,
                self._index.probing, self._state, self._event, self._slot,
            )  # fmt: skip
            if self._progress[index_kernels.STATUS] == index_kernels.NEEDS_ARENA:
                self._index.grow_arena()
                if self._progress[index_kernels.ROWS] == 0:
                    continue
            return bool(self._progress[index_kernels.STATUS] == index_kernels.DONE)

    @property
    def event(self) -> NDArray[np.int32]:
        """The event of each joined row of the block."""
        return self._event[: self._progress[index_kernels.ROWS]]

    @property
    def slot(self) -> NDArray[np.int32]:
        """The slots of the joined rows of the block, a row for each input."""
        return self._slot[:, : self._progress[index_kernels.ROWS]]

    @property
    def next_event(self) -> int:
        """The first event that is not done."""
        return int(self._progress[index_kernels.EVENT])

    def work_done(self) -> tuple[int, int]:
        """Events that probed, and joined rows that they found."""
        return int(self._progress[index_kernels.PROBES]), int(self._progress[index_kernels.MATCHES])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._event.nbytes + self._slot.nbytes + self._progress.nbytes
