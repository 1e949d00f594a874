"""Answers that several readers take: each reader is given each answer once."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

import pyarrow as pa

__all__ = ["FOLLOWED_ROWS", "UNREAD_ROWS", "Followed", "Follower"]

# What is kept for answers() once somebody else has taken it too, and what for each follower:
# beyond it the oldest rows are let go.
UNREAD_ROWS = 1_000_000
FOLLOWED_ROWS = 200_000


class _Unread:
    """Answers that wait for one reader, the newest of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._tables: list[pa.Table] = []
        self.rows = 0

    def add(self, table: pa.Table) -> None:
        if table.num_rows == 0:
            return
        self._tables.append(table)
        self.rows += table.num_rows
        while self.rows > self._limit:
            excess, oldest = self.rows - self._limit, self._tables[0]
            cut = min(excess, oldest.num_rows)
            self._tables[:1] = [oldest.slice(cut)] if cut < oldest.num_rows else []
            self.rows -= cut

    def take(self, empty: pa.Table) -> pa.Table:
        tables, self._tables, self.rows = self._tables, [], 0
        return pa.concat_tables(tables) if tables else empty


class Followed:
    """The answers of a query, for its own reader and for followers.

    read: gives every answer since it was last called. lock: held while it reads.
    """

    def __init__(self, read: Callable[[], pa.Table], lock: RLock) -> None:
        self._read = read
        self._lock = lock
        self._own = _Unread(UNREAD_ROWS)
        self._others: list[_Unread] = []

    def answers(self) -> pa.Table:
        """Every answer that the query's own reader has not had."""
        with self._lock:
            if not self._others and not self._own.rows:
                return self._read()
            return self._taken(self._own)

    def follow(self) -> Follower:
        """One more reader, of the answers that come from now on."""
        with self._lock:
            fresh = self._read()
            self._hand_out(fresh)
            unread = _Unread(FOLLOWED_ROWS)
            self._others.append(unread)
        return Follower(self, unread, fresh.slice(0, 0))

    def read_for(self, unread: _Unread, empty: pa.Table) -> pa.Table:
        """Every answer that a follower has not had; none once it has left."""
        with self._lock:
            return self._taken(unread) if unread in self._others else empty

    def leave(self, unread: _Unread) -> None:
        """A follower reads no more."""
        with self._lock:
            if unread in self._others:
                self._others.remove(unread)

    def _taken(self, unread: _Unread) -> pa.Table:
        fresh = self._read()
        self._hand_out(fresh)
        return unread.take(fresh.slice(0, 0))

    def _hand_out(self, fresh: pa.Table) -> None:
        for each in (self._own, *self._others):
            each.add(fresh)


class Follower:
    """A reader of a query's answers beside answers(), which keeps giving all of them too."""

    def __init__(self, followed: Followed, unread: _Unread, empty: pa.Table) -> None:
        self._followed = followed
        self._unread = unread
        self._empty = empty

    def answers(self) -> pa.Table:
        """Every answer since this follower's last call."""
        return self._followed.read_for(self._unread, self._empty)

    def close(self) -> None:
        """Reads no more; nothing is kept for it from now on."""
        self._followed.leave(self._unread)
