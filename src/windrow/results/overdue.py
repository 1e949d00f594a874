"""Rows that had expired before they came: structures that look only ahead leave them here."""

from __future__ import annotations

import numpy as np

from windrow.results import kernels
from windrow.results.expiry_queue import EXPIRY_LIMIT, Longs

__all__ = ["OverdueRows"]


class OverdueRows:
    """The rows at or before the last dequeue; they leave ahead of all others.

    >>> rows = OverdueRows()
    >>> rows.pass_to(10)
    >>> rows.keep(np.array([9, 12, 3]), np.array([0, 1, 2]))
    (array([12]), array([1]))
    >>> rows.take(10)
    (array([3, 9]), array([2, 0]))
    """

    def __init__(self) -> None:
        self.passed = -EXPIRY_LIMIT
        self._expiries = np.empty(0, np.int64)
        self._items = np.empty(0, np.int64)

    @property
    def size(self) -> int:
        """Rows held."""
        return self._expiries.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._expiries.nbytes + self._items.nbytes

    def pass_to(self, until: int) -> None:
        """All structures have given out what expires at or before this instant."""
        self.passed = max(self.passed, until)

    def keep(self, expiries: Longs, items: Longs) -> tuple[Longs, Longs]:
        """Keep the rows that are overdue; returns the others."""
        if expiries.size == 0 or kernels.bounds(expiries)[0] > self.passed:
            return expiries, items
        late = expiries <= self.passed
        self._expiries = np.concatenate([self._expiries, expiries[late]])
        self._items = np.concatenate([self._items, items[late]])
        return expiries[~late], items[~late]

    def take(self, until: int) -> tuple[Longs, Longs]:
        """Give out the rows at or before the instant, in order."""
        if self._expiries.size == 0:
            return self._expiries, self._items
        order = np.argsort(self._expiries, kind="stable")
        expiries, items = self._expiries[order], self._items[order]
        count = int(np.searchsorted(expiries, until, side="right"))
        self._expiries, self._items = expiries[count:].copy(), items[count:].copy()
        return expiries[:count], items[:count]
