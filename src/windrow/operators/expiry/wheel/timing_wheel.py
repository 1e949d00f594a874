"""The timing wheel of chunked arrays: rows are never linked one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.expiry.expiry_queue import (
    EXPIRY_LIMIT,
    Longs,
    as_instant,
    as_limit,
    as_rows,
    grown,
    joined,
    refuse,
    shown,
)
from windrow.operators.expiry.order_kernels import bounds
from windrow.operators.expiry.overdue import OverdueRows
from windrow.operators.expiry.wheel import slot_kernels, wheel_kernels
from windrow.operators.expiry.wheel.unit_width import better_shift, first_shift
from windrow.windows.kernels import EMPTY

__all__ = ["TimingWheel"]

FEWEST_CHUNKS = 8
# With more chunks than this, chunks that have fewer rows widen the slots by this many bits.
MANY_CHUNKS = 1024
FEW_ROWS_A_CHUNK = 4
WIDER_BITS = 3
# An arena is rebuilt when at most one chunk in this many is used.
SHRINK_SHARE = 4
SMALLEST_ROOM = 64


class TimingWheel:
    """Slots of chunks, as wide as suits the rows and the steps in which they leave.

    >>> queue = TimingWheel()
    >>> queue.enqueue(np.array([7, 5, 7]), np.array([0, 1, 2]))
    >>> queue.dequeue(7)
    (array([5, 7, 7]), array([1, 0, 2]))
    """

    def __init__(self) -> None:
        self._arena = np.zeros((FEWEST_CHUNKS * slot_kernels.CHUNK_ROWS, 2), np.int64)
        self._slots = np.zeros((slot_kernels.SLOTS, 2), np.int64)
        self._control = np.zeros(wheel_kernels.CONTROL_ENTRIES, np.int64)
        self._control[slot_kernels.FIRST_FREE] = EMPTY
        self._control[slot_kernels.LOW] = 1
        self._overdue = OverdueRows()
        self._has_overdue = False
        self._room = SMALLEST_ROOM

    @property
    def size(self) -> int:
        """Rows held."""
        return self._wheel_size() + self._overdue.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        wheel = self._arena.nbytes + self._slots.nbytes + self._control.nbytes
        return wheel + self._overdue.nbytes

    def enqueue(self, expiries: Longs, items: NDArray[np.integer]) -> None:
        """Take rows in."""
        expiries, items = as_rows(expiries, items)
        outcome = wheel_kernels.insert_rows(
            -1, expiries, items, self._arena, self._slots, self._control
        )
        if outcome[1] != wheel_kernels.DONE:
            self._go_on_with(expiries, items, *outcome)
            if self._control[slot_kernels.WORK] > self._wheel_size() + wheel_kernels.FEWEST_ROWS:
                self._adapt()

    def dequeue(self, until: int, limit: int | None = None) -> tuple[Longs, Longs]:
        """Give out the rows at or before the instant, at most `limit` of them."""
        until, most = as_instant(until), as_limit(limit)
        if not self._has_overdue:
            return self._remove(until, most)
        late = self._overdue.drain(until, most)
        self._has_overdue = self._overdue.size > 0
        # If some are left, they expire later, and so does all in the wheel.
        if self._has_overdue or late[0].size == most:
            return late
        return joined([late, self._remove(until, most - late[0].size)])

    def _remove(self, until: int, limit: int) -> tuple[Longs, Longs]:
        expiries, items = np.empty(self._room, np.int64), np.empty(self._room, np.int64)
        count, outcome = wheel_kernels.remove_rows(
            until, limit, expiries, items, self._arena, self._slots, self._control
        )
        if outcome == wheel_kernels.NEEDS_ROOM or count > limit:
            blocks = [(expiries[:count], items[:count])]
            expiries, items = self._remove_more(until, limit, blocks, outcome)
            count = expiries.size
        # Where many rows leave together, steps without any lie between.
        self._room = max(count + (count >> 1) + SMALLEST_ROOM, self._room - (self._room >> 3))
        if outcome != wheel_kernels.DONE:
            self._adapt()
        return shown(expiries, count), shown(items, count)

    def _remove_more(
        self, until: int, limit: int, blocks: list[tuple[Longs, Longs]], outcome: int
    ) -> tuple[Longs, Longs]:
        """Take out the rest; what comes along beyond the limit is left over for the next call."""
        taken = blocks[0][0].size
        while outcome == wheel_kernels.NEEDS_ROOM:
            room = self._make_room()
            expiries, items = np.empty(room, np.int64), np.empty(room, np.int64)
            count, outcome = wheel_kernels.remove_rows(
                until, limit - taken, expiries, items, self._arena, self._slots, self._control
            )
            blocks.append((expiries[:count], items[:count]))
            taken += count
        expiries, items = joined(blocks)
        if taken > limit:
            self._overdue.add(expiries[limit:], items[limit:])
            self._has_overdue = True
        return expiries[:limit].copy(), items[:limit].copy()

    def _go_on_with(self, expiries: Longs, items: Longs, done: int, outcome: int) -> None:
        """Put in the rows of a batch that could not be put in at once."""
        if outcome == wheel_kernels.IS_REFUSED:
            refuse(expiries)
        if outcome == wheel_kernels.NEEDS_START:
            self._start(expiries)
        low = int(self._control[slot_kernels.LOW]) - slot_kernels.BIAS
        while outcome in (wheel_kernels.NEEDS_START, wheel_kernels.NEEDS_ROOM):
            if outcome == wheel_kernels.NEEDS_ROOM:
                self._make_room()
            done, outcome = wheel_kernels.insert_rows(
                done, expiries, items, self._arena, self._slots, self._control
            )
        if outcome == wheel_kernels.HAS_LATE:
            is_late = expiries < low
            self._overdue.add(expiries[is_late], items[is_late])
            self._has_overdue = True
            self._control[slot_kernels.WORK] += self._control[slot_kernels.LATE_ROWS]

    def _start(self, expiries: Longs) -> None:
        """Set the ring, which is empty, to where these rows begin."""
        control = self._control
        lowest, highest = (int(bound) for bound in bounds(expiries))
        if control[slot_kernels.PASSED] == 0:
            control[slot_kernels.SHIFT] = first_shift(highest - lowest, expiries.size)
        page_bits = int(control[slot_kernels.SHIFT]) + slot_kernels.HALF_BITS
        passed = self._passed()
        # Half a ring before the first row is left free, for others that expire earlier.
        page = max((passed >> page_bits) + 2, ((lowest + slot_kernels.BIAS) >> page_bits) + 1)
        control[slot_kernels.HORIZON] = page
        control[slot_kernels.LOW] = max(passed + 1, (page - 2) << page_bits)

    def _passed(self) -> int:
        """The last key of which no row can be in the wheel any more."""
        return int(min(self._control[slot_kernels.PASSED], self._control[slot_kernels.LOW] - 1))

    def _wheel_size(self) -> int:
        return int(self._control[slot_kernels.RING_ROWS] + self._control[slot_kernels.FAR_ROWS])

    def _used_chunks(self) -> int:
        control = self._control
        return int(
            control[slot_kernels.FRESH] // slot_kernels.CHUNK_ROWS - control[slot_kernels.FREE]
        )

    def _make_room(self) -> int:
        """Get the chunks that a kernel needs; returns the room that it needs in the output."""
        used = self._used_chunks()
        if self._is_sparse(used):
            self._control[slot_kernels.WORK] = EXPIRY_LIMIT
        chunks = used + int(self._control[slot_kernels.NEEDED_CHUNKS])
        self._arena = grown(self._arena, chunks * slot_kernels.CHUNK_ROWS)
        room = int(self._control[slot_kernels.NEEDED_ROOM])
        self._control[slot_kernels.NEEDED_CHUNKS] = self._control[slot_kernels.NEEDED_ROOM] = 0
        return max(SMALLEST_ROOM, room)

    def _is_sparse(self, used_chunks: int) -> bool:
        return used_chunks > MANY_CHUNKS and self._wheel_size() < FEW_ROWS_A_CHUNK * used_chunks

    def _adapt(self) -> None:
        """Make the wheel again where other slots would suit better, or far less memory do."""
        now = int(self._control[slot_kernels.SHIFT])
        spans = (slot_kernels.SPAN, slot_kernels.STEPS, slot_kernels.TAKEN, slot_kernels.MISSED)
        shift = better_shift(now, *(int(self._control[each]) for each in spans))
        used = self._used_chunks()
        if self._is_sparse(used):
            shift = min(max(shift, now + WIDER_BITS), slot_kernels.MOST_SHIFT)
        chunks = self._arena.shape[0] // slot_kernels.CHUNK_ROWS
        is_wide = chunks > SHRINK_SHARE * max(used, FEWEST_CHUNKS)
        # Rows wait outside the wheel though they have not expired: it began too late.
        is_ahead = self._overdue.size > 0 and self._passed() < self._control[slot_kernels.LOW] - 1
        if shift != now or is_wide or is_ahead:
            self._make_again(shift)
        self._control[slot_kernels.WORK : slot_kernels.COUNTS] = 0

    def _make_again(self, shift: int) -> None:
        """Move all rows to another wheel, with units of this many bits."""
        size, passed = self._wheel_size(), self._passed()
        wheel = np.empty(size, np.int64), np.empty(size, np.int64)
        wheel_kernels.copy_rows(*wheel, self._arena, self._slots)
        expiries, items = joined([self._overdue.drain_after(passed - slot_kernels.BIAS), wheel])
        chunks = max(FEWEST_CHUNKS, 2 * expiries.size // slot_kernels.CHUNK_ROWS)
        self._arena = np.empty((chunks * slot_kernels.CHUNK_ROWS, 2), np.int64)
        self._slots[:] = 0
        self._control[:] = 0
        self._control[slot_kernels.FIRST_FREE] = EMPTY
        self._control[slot_kernels.SHIFT] = shift
        self._control[slot_kernels.PASSED] = passed
        self._control[slot_kernels.LOW] = passed + 1
        if expiries.size:
            self._go_on_with(expiries, items, 0, wheel_kernels.NEEDS_START)
