"""The calendar queue, one of the rivals of the branch ladder queue."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.expiry import calendar_kernels
from windrow.operators.expiry.expiry_queue import (
    EXPIRY_LIMIT,
    SHRINK_SHARE,
    Longs,
    as_batch,
    as_instant,
    as_limit,
    drain,
    grown,
)
from windrow.windows.kernels import EMPTY

__all__ = ["CalendarQueue"]

FEWEST_DAYS = 16
SMALLEST_ARENA = 64


class CalendarQueue:
    """Days that rows are sorted into.

    >>> queue = CalendarQueue()
    >>> queue.enqueue(np.array([7, 5, 7]), np.array([0, 1, 2]))
    >>> queue.dequeue(7)
    (array([5, 7, 7]), array([1, 0, 2]))
    """

    def __init__(self) -> None:
        self._nodes = np.zeros((SMALLEST_ARENA, calendar_kernels.NODE_COLUMNS), np.int64)
        self._days = np.full((FEWEST_DAYS, calendar_kernels.DAY_COLUMNS), EMPTY, np.int64)
        self._control = np.zeros(calendar_kernels.CONTROL_ENTRIES, np.int64)
        self._control[calendar_kernels.WIDTH] = 1
        self._control[calendar_kernels.DAY] = -EXPIRY_LIMIT
        self._control[calendar_kernels.FIRST_FREE] = EMPTY
        self._passed = -EXPIRY_LIMIT
        self._expected = 0

    @property
    def size(self) -> int:
        """Rows held."""
        return int(self._control[calendar_kernels.SIZE])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._nodes.nbytes + self._days.nbytes + self._control.nbytes

    def enqueue(self, expiries: Longs, items: NDArray[np.integer]) -> None:
        """Take rows in."""
        expiries, items = as_batch(expiries, items)
        self._nodes = grown(self._nodes, self.size + expiries.size)
        done = 0
        while done < expiries.size:
            done = calendar_kernels.insert_rows(
                done, expiries, items, self._nodes, self._days, self._control
            )
            if done < expiries.size:
                self._set_days(2 * self._days.shape[0])

    def dequeue(self, until: int, limit: int | None = None) -> tuple[Longs, Longs]:
        """Give out the rows at or before the instant, at most `limit` of them."""
        until, most = as_instant(until), as_limit(limit)

        def take(expiries: Longs, items: Longs) -> tuple[int, bool]:
            count, is_done = calendar_kernels.remove_rows(
                until, self._nodes, self._days, self._control, expiries, items
            )
            return int(count), bool(is_done)

        expiries, items, _ = drain(take, self._expected, most)
        self._expected = expiries.size
        self._passed = max(self._passed, until)
        days = self._days.shape[0]
        while days > FEWEST_DAYS and 2 * self.size < days:
            days //= 2
        if days < self._days.shape[0]:
            self._set_days(days)
        held = max(SMALLEST_ARENA, self.size)
        if self._nodes.shape[0] > SHRINK_SHARE * held:
            fewer = np.zeros((2 * held, calendar_kernels.NODE_COLUMNS), np.int64)
            calendar_kernels.pack_rows(self._nodes, self._days, fewer, self._control)
            self._nodes = fewer
        return expiries, items

    def _set_days(self, days: int) -> None:
        new_days = np.full((days, calendar_kernels.DAY_COLUMNS), EMPTY, np.int64)
        calendar_kernels.move_rows(self._passed, self._nodes, self._days, new_days, self._control)
        self._days = new_days
