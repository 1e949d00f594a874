"""Rows that leave ahead of a structure: those that came too late for it, and those left over."""

from __future__ import annotations

import numpy as np

from windrow.operators.expiry import order_kernels
from windrow.operators.expiry.expiry_queue import EXPIRY_LIMIT, Longs

__all__ = ["OverdueRows"]


class OverdueRows:
    """Rows that expire no later than any row in the structure itself.

    >>> rows = OverdueRows()
    >>> rows.pass_to(10)
    >>> rows.keep(np.array([9, 12, 3]), np.array([0, 1, 2]))
    (array([12]), array([1]))
    >>> rows.drain(10, limit=5)
    (array([3, 9]), array([2, 0]))
    """

    def __init__(self) -> None:
        self.passed = -EXPIRY_LIMIT
        self._expiries = np.empty(0, np.int64)
        self._items = np.empty(0, np.int64)
        self._first = 0
        self._is_sorted = True

    @property
    def size(self) -> int:
        """Rows held."""
        return self._expiries.size - self._first

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._expiries.nbytes + self._items.nbytes

    def pass_to(self, until: int) -> None:
        """The structure has given out what expires at or before this instant."""
        self.passed = max(self.passed, until)

    def keep(self, expiries: Longs, items: Longs) -> tuple[Longs, Longs]:
        """Keep the rows that are overdue; returns the others."""
        if expiries.size == 0 or order_kernels.bounds(expiries)[0] > self.passed:
            return expiries, items
        late = expiries <= self.passed
        self.add(expiries[late], items[late])
        return expiries[~late], items[~late]

    def add(self, expiries: Longs, items: Longs) -> None:
        """Keep rows, in whatever order."""
        self._expiries = np.concatenate([self._expiries[self._first :], expiries])
        self._items = np.concatenate([self._items[self._first :], items])
        self._first = 0
        self._is_sorted = False

    def drain(self, until: int, limit: int) -> tuple[Longs, Longs]:
        """Give out the first rows at or before the instant, in order."""
        if not self._is_sorted:
            order = np.argsort(self._expiries, kind="stable")
            self._expiries, self._items = self._expiries[order], self._items[order]
            self._is_sorted = True
        due = int(np.searchsorted(self._expiries[self._first :], until, side="right"))
        taken = slice(self._first, self._first + min(due, limit))
        result = self._expiries[taken].copy(), self._items[taken].copy()
        self._first = taken.stop
        # Moved up only when half of them are gone, so that a row is moved once at the most.
        if 2 * self._first >= self._expiries.size:
            self._expiries = self._expiries[self._first :].copy()
            self._items = self._items[self._first :].copy()
            self._first = 0
        return result

    def drain_after(self, instant: int) -> tuple[Longs, Longs]:
        """Give out the rows after the instant, in whatever order."""
        first = self._first
        is_after = self._expiries[first:] > instant
        result = self._expiries[first:][is_after], self._items[first:][is_after]
        self._expiries = self._expiries[first:][~is_after]
        self._items = self._items[first:][~is_after]
        self._first = 0
        return result
