"""Answers that several readers take: each reader is given each answer once."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock

import pyarrow as pa

from windrow.backlog import Backlog, joined_rows
from windrow.errors import DataError

__all__ = ["FOLLOWED_ROWS", "UNREAD_ROWS", "Followed", "Follower"]

# What is kept for answers() once somebody else has taken it too, and what for each follower:
# beyond it the oldest rows are dropped.
UNREAD_ROWS = 1_000_000
FOLLOWED_ROWS = 200_000
# The same in bytes, for each reader, where nobody says otherwise.
FOLLOWED_BYTES = 64 << 20


class _Unread:
    """Answers that wait for one reader, the newest of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.waiting: Backlog[pa.Table] = Backlog(joined_rows)
        self._next = 0  # the number of the first row that was not read
        self.trouble: DataError | None = None  # what the reader is still to be told

    @property
    def is_empty(self) -> bool:
        return self.waiting.end == self._next and self.trouble is None

    @property
    def rows(self) -> int:
        return self.waiting.end - self._next

    @property
    def nbytes(self) -> int:
        return self.waiting.nbytes

    def add(self, table: pa.Table, limit_bytes: int) -> None:
        self.waiting.append(table)
        if self.rows > self._limit:
            self._let_go(self.waiting.end - self._limit)
        self.shrink(limit_bytes)

    def shrink(self, limit_bytes: int) -> None:
        while self.nbytes > limit_bytes and self.rows:
            self._let_go(self.waiting.end - self.rows // 2)

    def read(self, empty: pa.Table) -> pa.Table:
        tables = self.waiting.since(self._next)
        return pa.concat_tables(tables) if tables else empty

    def let_go(self) -> None:
        """All of it was read."""
        self._let_go(self.waiting.end)

    def _let_go(self, number: int) -> None:
        self._next = number
        self.waiting.drop_before(number)


class Followed:
    """The answers of a query, for its own reader and for followers.

    read: returns every answer since it was last called. hand_on: gives them to a function, too;
    broken off, it gives them again. lock: held while it reads.
    """

    def __init__(
        self,
        read: Callable[[], pa.Table],
        hand_on: Callable[[Callable[[pa.Table], None]], pa.Table],
        lock: RLock,
    ) -> None:
        self._read, self._hand_on = read, hand_on
        self._lock = lock
        self._own = _Unread(UNREAD_ROWS)
        self._others: list[_Unread] = []
        self.limit_bytes = FOLLOWED_BYTES

    @property
    def nbytes(self) -> int:
        """Bytes that wait for readers."""
        return sum(each.nbytes for each in (self._own, *self._others))

    def shrink(self, limit_bytes: int) -> None:
        """Keep at most this many bytes for all readers: each has the newest of its answers."""
        for each in (self._own, *self._others):
            each.shrink(limit_bytes // (1 + len(self._others)))

    def answers(self) -> pa.Table:
        """Every answer that the query's own reader has not had."""
        with self._lock:
            if not self._others and self._own.is_empty:
                return self._read()
            return self._taken(self._own)

    def follow(self) -> Follower:
        """One more reader, of the answers that come from now on."""
        with self._lock:
            # Of what is wrong so far the query's own reader is told.
            fresh = self._fresh()
            if fresh is None:
                fresh = self._hand_on(self._hand_out)
            unread = _Unread(FOLLOWED_ROWS)
            self._others.append(unread)
        return Follower(self, unread, fresh.slice(0, 0))

    def follow_all(self) -> Follower:
        """One more reader, of the answers that the query's own reader has not had, too."""
        with self._lock:
            unread = _Unread(FOLLOWED_ROWS)
            self._others.append(unread)
            return Follower(self, unread, None)

    def read_for(
        self, unread: _Unread, empty: pa.Table | None, note: Callable[[pa.Table], None] | None
    ) -> pa.Table:
        """Every answer that a follower has not had; none once it has left."""
        with self._lock:
            if unread in self._others or empty is None:
                return self._taken(unread, note)
            return empty

    @property
    def parts(self) -> list[object]:
        """All that changes when answers are handed out."""
        readers = (self._own, *self._others)
        return [*readers, *(each.waiting for each in readers)]

    def leave(self, unread: _Unread) -> None:
        """A follower reads no more."""
        with self._lock:
            if unread in self._others:
                self._others.remove(unread)

    def _taken(self, unread: _Unread, note: Callable[[pa.Table], None] | None = None) -> pa.Table:
        fresh = self._fresh()
        trouble, unread.trouble = unread.trouble, None
        if trouble is not None or fresh is None:
            raise trouble or AssertionError("nothing was read, for an unknown reason")
        found = unread.read(fresh.slice(0, 0))
        if note is not None:
            note(found)
        unread.let_go()
        return found

    def _fresh(self) -> pa.Table | None:
        """Hand out what is new; None where answers lack something, which all readers must learn."""
        try:
            return self._hand_on(self._hand_out)
        except DataError as error:
            for each in (self._own, *self._others):
                each.trouble = error
            return None

    def _hand_out(self, fresh: pa.Table) -> None:
        for each in (self._own, *self._others):
            each.add(fresh, self.limit_bytes)


class Follower:
    """An independent reader of a query's answers; answers() still returns all of them."""

    def __init__(self, followed: Followed, unread: _Unread, empty: pa.Table | None) -> None:
        self._followed = followed
        self._unread = unread
        self._empty = empty

    def answers(self, note: Callable[[pa.Table], None] | None = None) -> pa.Table:
        """Every answer since this follower's last call.

        note: has them before they count as read.
        """
        return self._followed.read_for(self._unread, self._empty, note)

    def close(self) -> None:
        """Reads no more; nothing is kept for it from now on."""
        self._followed.leave(self._unread)
