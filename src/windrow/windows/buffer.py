"""The rows of one window: places in a store of rows, and its own columns.

    rows   [free) head [held in the window) tail [waiting for the clock) end [spare capacity)

The store may be the window's own, or one that other windows read, too: then each has its own head
and tail, its own codes, and reads those words of a row that it was made for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.windows import kernels
from windrow.windows.codes import NO_CODE, Codes
from windrow.windows.marks import Assignments
from windrow.windows.row_store import NO_MATRIX, SMALLEST_BUFFER, Rows, RowStore, StoreMark

__all__ = ["NO_MATRIX", "ColumnMark", "ColumnWindow", "Rows"]


class ColumnMark(NamedTuple):
    """Where a window stood: numbers of rows, which stay when rows move."""

    head_number: int
    tail_number: int
    evicting: int
    alive: NDArray[np.bool_] | None
    strange_until_us: int
    store: StoreMark | None  # of a store of its own


class ColumnWindow:
    """Times, a code and words for each row; flags of validity once a NULL was seen.

    value_count: words of a row in a store of its own. store: one that is shared; `chosen` are the
    numbers of the words to read in it. own_count: further words of a row, which its operator made
    of it: they are the window's own in either case.

    >>> window = ColumnWindow(value_count=0)
    >>> window.append(np.array([3, 1]), np.array([0, 1], np.int32), np.empty((0, 2), np.int64))
    >>> window.times[window.tail : window.end].tolist()
    [1, 3]
    """

    own_names: tuple[str, ...] = (
        *("codes", "partitions", "following", "alive", "since", "weights"),
        *("own_words", "own_flags"),
    )

    def __init__(
        self,
        value_count: int,
        *,
        has_links: bool = False,
        has_since: bool = False,
        store: RowStore | None = None,
        chosen: tuple[int, ...] = (),
        own_count: int = 0,
    ) -> None:
        self.is_shared = store is not None
        self.store = store or RowStore(value_count)
        self.chosen = np.array(chosen if self.is_shared else range(value_count), np.int64)
        self.codes: Codes = self.store.new_column(np.int32, NO_CODE)
        self.own_words: Rows = np.empty((0, 0), np.int64)
        if own_count:
            self.own_words = self.store.new_column(np.int64, 0, own_count)
        self.own_flags: NDArray[np.uint8] = NO_MATRIX  # their validity, once one was not there
        # For windows that count rows by partition: a second code, the number of the next row of the
        # partition, and whether the row is still held.
        linked = SMALLEST_BUFFER if has_links else 0
        self.partitions: Codes = np.empty(linked, np.int32)
        self.following = np.empty(linked, np.int64)
        self.alive = np.empty(linked, np.bool_)
        # Of windows in which rows come and go together: since when, or whether they are shown.
        self.since = np.empty(SMALLEST_BUFFER if has_since else 0, np.int64)
        # How many equal rows each row stands for; no entries while all stand for themselves.
        self.weights: Rows = np.empty(0, np.int64)
        # head, tail, end, row that waits to be evicted
        end = self.store.end
        self.cursor = np.array([end, end, end, kernels.EMPTY], np.int64)
        # Some of the rows up to this time take no part, though they are in the shared store.
        self.strange_until_us = START_OF_TIME
        self.marked: ColumnMark | None = None  # where it stood before the step
        self.store.join(self)

    def rewind(self, mark: ColumnMark) -> None:
        """Hold what was held at the mark; a store of its own loses the rows that came since."""
        if mark.store is not None:
            self.store.rewind(mark.store)
        self.store.complete()
        base = self.store.base
        head, tail = mark.head_number - base, mark.tail_number - base
        self.cursor[:] = (head, tail, self.store.end, mark.evicting)
        self.strange_until_us = mark.strange_until_us
        if mark.alive is not None:
            self.alive[head:tail] = mark.alive

    def refuse_appended(self) -> None:
        """The rows that a shared store took last take no part."""
        if self.is_shared:
            self.codes[self.store.appended] = NO_CODE

    @property
    def first_needed(self) -> int:
        """The first row that is held, or was at the mark."""
        if self.marked is None:
            return self.head
        return min(self.head, self.marked.head_number - self.store.base)

    def begin_at(self, clock: int) -> None:
        """Rows of a shared store that are later than the clock stand before those to come.

        They take no part, but those to come may be sorted in between them.
        """
        head = self.store.head
        waiting = head + int(np.searchsorted(self.times[head : self.end], clock, side="right"))
        if waiting < self.end:
            self.strange_until_us = int(self.times[self.end - 1])
            self.cursor[:2] = waiting

    @property
    def times(self) -> Rows:
        """The time of each row."""
        return self.store.times

    @property
    def values(self) -> Rows:
        """The words of each row that this window reads; of a shared store perhaps a copy."""
        return self._chosen_of(self.store.values)

    @property
    def valid(self) -> NDArray[np.uint8]:
        """Their flags of validity; of a shared store perhaps a copy."""
        return self._chosen_of(self.store.valid) if self.store.valid.size else self.store.valid

    def words_at(self, places: Rows) -> tuple[Rows, NDArray[np.uint8]]:
        """The words of rows that this window reads, and their flags if there are any."""
        chosen, store = self.chosen[:, None], self.store
        return store.values[chosen, places], store.valid[chosen, places] if store.valid.size else (
            NO_MATRIX
        )

    def codes_in(self, word: int) -> Codes | Rows:
        """The codes that an own word of each row holds; NO_CODE: the rows' own."""
        return self.codes if word == NO_CODE else self.own_words[word]

    @property
    def base(self) -> int:
        """The number of the row in place 0."""
        return self.store.base

    @property
    def head(self) -> int:
        """The first row held."""
        return int(self.cursor[0])

    @property
    def tail(self) -> int:
        """The first row that waits."""
        return int(self.cursor[1])

    @property
    def end(self) -> int:
        """Behind the last row."""
        return self.store.end

    @property
    def nbytes(self) -> int:
        """Bytes held, spare capacity included; of a shared store only what is this window's own."""
        own = sum(map(self.store.bytes_of, self.own_columns()))
        own += self.cursor.nbytes + self.chosen.nbytes
        return own if self.is_shared else own + self.store.nbytes

    def append(
        self,
        times: Rows,
        codes: Codes,
        values: Rows,
        valid: NDArray[np.uint8] = NO_MATRIX,
        partitions: Codes | None = None,
        weights: Rows | None = None,
    ) -> None:
        """Take rows in order of arrival, all later than the clock.

        A shared store has them already: only their codes are taken.
        """
        if not self.is_shared:
            self.store.append(times, values, valid)
        if times.size:
            self.codes[self.store.appended] = codes
            if self.is_shared and int(codes.min()) == NO_CODE:
                latest = int(times[codes == NO_CODE].max())
                self.strange_until_us = max(self.strange_until_us, latest)
            if partitions is not None:
                self.partitions[self.store.appended] = partitions
            if weights is not None and not self.weights.size:
                self.weights = self.store.new_column(np.int64, 1)
            if self.weights.size:
                self.weights[self.store.appended] = 1 if weights is None else weights

    def write_own(self, words: Rows, flags: NDArray[np.uint8] = NO_MATRIX) -> None:
        """The own words of the rows that were appended last."""
        if not words.shape[0]:
            return
        self.own_words[:, self.store.appended] = words
        if flags.size and not self.own_flags.size:
            self.own_flags = self.store.new_column(np.uint8, 1, words.shape[0])
        if self.own_flags.size:
            self.own_flags[:, self.store.appended] = flags if flags.size else 1

    def keep_places(self, held: Rows, changes: Assignments) -> None:
        """Close the gaps between head and tail: of the rows there, those at these places stay."""
        kept = np.concatenate([held, np.arange(self.tail, self.end)])
        self.store.keep_places(kept, held.size, changes)

    def expect(self, start: int, end: int) -> None:
        """The store has written rows at these places; they do not count until append()."""
        self.cursor[2] = end
        if self.is_shared:
            self.codes[start:end] = NO_CODE

    def own_columns(self) -> list[NDArray[Any]]:
        """The columns that are this window's own and move with the rows."""
        linked = (self.partitions, self.following, self.alive, self.since)
        return [self.codes, *linked, self.weights, self.own_words, self.own_flags]

    @property
    def reads_run(self) -> bool:
        """Whether the words that it reads follow each other, so that `values` is no copy."""
        chosen = self.chosen
        return chosen.size < 2 or bool((chosen[1:] - chosen[:-1] == 1).all())

    def run_of(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """The words that it reads, where they follow each other; no copy."""
        if not self.is_shared:
            return matrix
        first = int(self.chosen[0]) if self.chosen.size else 0
        return matrix[first : first + self.chosen.size]

    def _chosen_of(self, matrix: NDArray[Any]) -> NDArray[Any]:
        return self.run_of(matrix) if not self.is_shared or self.reads_run else matrix[self.chosen]
