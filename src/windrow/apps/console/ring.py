"""A feed kept for any number of readers: the newest rows, each with a sequence number.

Rows are numbered from 1 in the order in which they came. A reader asks for what follows a number;
when the rows that it requests are gone, it learns how many it missed.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from dataclasses import dataclass

import pyarrow as pa

from windrow.apps.console.limits import FEED_BYTES_KEPT, FEED_ROWS_KEPT

__all__ = ["FeedPiece", "FeedRing"]

# Small tables are concatenated up to this many rows.
CHUNK_ROWS = 4_096


@dataclass(frozen=True)
class FeedPiece:
    """Rows in order; `next` is the number of the last one, `first` that of the oldest kept.

    missed: rows behind the number asked for that had gone already.
    """

    table: pa.Table
    next: int
    first: int
    missed: int


class FeedRing:
    """Keeps at most this many rows and bytes, plus what was added last.

    >>> ring = FeedRing(pa.schema([("n", pa.int64())]), rows_kept=3)
    >>> ring.add(pa.table({"n": [10, 11, 12, 13]}))
    >>> piece = ring.read(after=0, limit=2)
    >>> piece.table["n"].to_pylist(), piece.next, piece.first, piece.missed
    ([11, 12], 3, 2, 1)
    """

    def __init__(
        self,
        schema: pa.Schema,
        rows_kept: int = FEED_ROWS_KEPT,
        bytes_kept: int = FEED_BYTES_KEPT,
    ) -> None:
        self.schema = schema
        self._rows_kept, self._bytes_kept = rows_kept, bytes_kept
        self._lock = threading.Lock()
        self._chunks: list[pa.Table] = []
        self._starts: list[int] = []  # the number of each chunk's first row
        self._last = 0
        self._bytes = 0

    @property
    def last(self) -> int:
        """The number of the newest row; 0 before the first."""
        return self._last

    @property
    def nbytes(self) -> int:
        """Bytes of the rows that are kept."""
        return self._bytes

    def add(self, table: pa.Table) -> None:
        """Put rows behind those that are there."""
        if table.num_rows == 0:
            return
        with self._lock:
            for first in range(0, table.num_rows, CHUNK_ROWS):
                self._append(table.slice(first, CHUNK_ROWS))
            self._drop()

    def read(self, after: int, limit: int) -> FeedPiece:
        """At most this many rows after a number.

        One that no row has yet is of another feed, such as that of a query of the same name which
        was stopped: its reader starts over.
        """
        with self._lock:
            after = after if after <= self._last else 0
            first = self._starts[0] if self._starts else self._last + 1
            begin = min(max(after + 1, first), self._last + 1)
            end = min(begin + limit, self._last + 1)
            missed = max(0, begin - after - 1)
            return FeedPiece(self._slice(begin, end), end - 1, first, missed)

    def newest(self, limit: int) -> FeedPiece:
        """The newest rows, at most this many; none of them was missed."""
        with self._lock:
            first = self._starts[0] if self._starts else self._last + 1
            begin = max(first, self._last + 1 - limit)
            return FeedPiece(self._slice(begin, self._last + 1), self._last, first, 0)

    def _append(self, table: pa.Table) -> None:
        self._chunks.append(table)
        self._starts.append(self._last + 1)
        self._last += table.num_rows
        self._bytes += table.nbytes
        while len(self._chunks) > 1 and self._is_to_merge(*self._chunks[-2:]):
            self._merge()

    def _is_to_merge(self, left: pa.Table, right: pa.Table) -> bool:
        """Of two that are about as large: a row is copied a logarithm of times, no more."""
        is_small = left.num_rows + right.num_rows <= CHUNK_ROWS
        return bool(is_small and left.num_rows <= 2 * right.num_rows)

    def _merge(self) -> None:
        two = self._chunks[-2:]
        together = pa.concat_tables(two).combine_chunks()
        self._bytes += together.nbytes - sum(each.nbytes for each in two)
        self._chunks[-2:] = [together]
        self._starts.pop()

    def _drop(self) -> None:
        while self._chunks:
            first, oldest = self._starts[0], self._chunks[0]
            excess = self._last - first + 1 - self._rows_kept
            is_heavy = self._bytes > self._bytes_kept and len(self._chunks) > 1
            if excess >= oldest.num_rows or is_heavy:
                self._bytes -= oldest.nbytes
                del self._chunks[0], self._starts[0]
                continue
            if excess > 0:
                kept = oldest.slice(excess)
                self._bytes += kept.nbytes - oldest.nbytes
                self._chunks[0], self._starts[0] = kept, first + excess
            break

    def _slice(self, begin: int, end: int) -> pa.Table:
        """The rows numbered from begin to before end."""
        if begin >= end:
            return self.schema.empty_table()
        pieces = []
        place = bisect_right(self._starts, begin) - 1
        while place < len(self._chunks) and self._starts[place] < end:
            skipped = max(0, begin - self._starts[place])
            room = end - self._starts[place] - skipped
            pieces.append(self._chunks[place].slice(skipped, room))
            place += 1
        return pa.concat_tables(pieces)
