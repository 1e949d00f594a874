"""Words of 64 bits to dense codes, recycled when their last user leaves.

The slots are a table of hashes, at most half full. Like the arrays by code it becomes longer in
place, once it is large; then the words in it are spread over it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.windows import kernels
from windrow.windows.column_words import Flags, Words, read_only, words_of_array
from windrow.windows.growing import enlarged, enlarging_bytes, next_size

__all__ = ["NO_CODE", "SMALLEST_TABLE", "Codes", "WordCodes", "WordTables", "release", "retain"]

NO_CODE = kernels.EMPTY
SMALLEST_TABLE = 1 << 6
# Of words in batches of this size, within so wide a range, codes are guessed by their place; it is
# looked at again after so many batches.
NEAR_BATCH = 512
NEAR_WORDS = 1 << 14
NEAR_BATCHES = 64
_NOWHERE = np.empty(0, np.int64)
_NO_FLAGS: Flags = read_only(np.empty(0, np.uint8))

Codes = NDArray[np.int32]


class WordTables(NamedTuple):
    """The arrays behind codes of words, for kernels that take and release them."""

    slot_word: Words
    slot_code: Codes
    word_of_code: Words
    free: Codes
    counters: NDArray[np.int64]
    references: NDArray[np.int32]


class WordCodes:
    """Codes of 64-bit words.

    >>> codes = WordCodes()
    >>> codes.encode(np.array([7, 9, 7]), np.empty(0, np.uint8)).tolist()
    [0, 1, 0]
    """

    def __init__(self) -> None:
        self._slot_word = np.empty(SMALLEST_TABLE, np.int64)
        self._slot_code = np.full(SMALLEST_TABLE, NO_CODE, np.int32)
        self._word_of_code = np.empty(SMALLEST_TABLE // 2, np.int64)
        self._free = np.empty(SMALLEST_TABLE // 2, np.int32)
        self._references = np.zeros(SMALLEST_TABLE // 2, np.int32)
        self._unspread = 0  # so many slots there were before there came more
        # in use, next fresh, free stacked, code of NULL
        self._counters = np.array([0, 0, 0, NO_CODE], np.int64)
        self._was_null = NO_CODE  # the code of NULL that was forgotten since the last encode()
        # Guesses at the codes of words that lie close together, after the first of these words.
        self._near, self._until_near = _NOWHERE, 0

    def encode(self, words: Words, valid: Flags) -> Codes:
        """The code of each word; a row that is not valid gets the code of NULL."""
        self._was_null = NO_CODE
        self._spread()
        words, valid = read_only(words), read_only(valid) if valid.size else _NO_FLAGS
        out = np.empty(words.size, np.int32)
        if words.size >= NEAR_BATCH and self._slot_word.size <= kernels.LARGE_TABLE:
            self._look_near(words)
        done = 0
        while True:
            slots = (self._slot_word, self._slot_code, self._word_of_code)
            tables = (*slots, self._free, self._counters)
            if self._near.size:
                guesses = (self._references, self._near)
                done = kernels.encode_near_words(words, valid, done, *tables, *guesses, out)
            else:
                done = kernels.encode_words(words, valid, done, *tables, out)
            if done == words.size:
                return out
            self.grow()

    def _look_near(self, words: Words) -> None:
        """Now and then, see whether most words lie so close together that a place is a guess."""
        self._until_near -= 1
        if self._until_near > 0:
            return
        self._until_near = NEAR_BATCHES
        first, last = int(words.min()), int(words.max())
        if last - first >= NEAR_WORDS:
            self._near = _NOWHERE
        elif not (self._near.size and self._near[0] <= first <= last < self._near_end):
            near = np.full(last - first + 2, NO_CODE, np.int64)
            near[0] = first
            self._near = near

    @property
    def _near_end(self) -> int:
        return int(self._near[0]) + self._near.size - 1

    def encode_column(self, column: pa.Array) -> Codes:
        """The code of each value of a column."""
        return self.encode(*words_of_array(column))

    def acquire(self, column: pa.Array) -> Codes:
        """The code of each value of a column, with one more user."""
        codes = self.encode(*words_of_array(column))
        kernels.add_references(codes, self._references, np.empty(codes.size, np.int64))
        return codes

    def retain(self, codes: Codes) -> Codes:
        """Count one more user of each code; returns the codes that had none, each once."""
        return retain(codes, self._references)

    def release(self, codes: Codes) -> Codes:
        """Count one user less of each code; returns the codes that have none left.

        They keep their meaning until `forget` makes them free for reuse.
        """
        return release(codes, self._references)

    def forget(self, codes: Codes) -> None:
        """Free codes that have no user; until the next encode() they can still be read."""
        if self._counters[3] != NO_CODE:
            self._was_null = int(self._counters[3])
        self._spread()
        kernels.remove_codes(
            codes, self._slot_word, self._slot_code, self._word_of_code, self._free, self._counters
        )

    def recount(self, codes: Codes) -> None:
        """These codes have as many users as they are named here; those without one are freed."""
        self._spread()
        used = self._slot_code[self._slot_code != NO_CODE]
        if self._counters[3] != NO_CODE:
            used = np.append(used, np.int32(self._counters[3]))
        counted = np.bincount(codes, minlength=self._references.size)
        self._references = counted.astype(np.int32)
        self.forget(used[self._references[used] == 0])

    def words(self, codes: Codes) -> tuple[Words, NDArray[np.bool_]]:
        """The words of codes, and which of them are NULL."""
        missing = codes == self._counters[3]
        if self._was_null != NO_CODE:
            missing |= codes == self._was_null
        return self._word_of_code[codes], missing

    def tables(self) -> tuple[Words, Codes, Words, Codes, NDArray[np.int64]]:
        """The arrays behind it, for kernels that make codes (and check for room first)."""
        self._spread()
        slots = (self._slot_word, self._slot_code)
        return (*slots, self._word_of_code, self._free, self._counters)

    def counted_tables(self) -> WordTables:
        """The same for kernels that encode and count one row, and forget codes of others."""
        self._was_null = NO_CODE
        return WordTables(*self.tables(), self._references)

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._word_of_code.size

    @property
    def most_users(self) -> int:
        """No code has more users."""
        return int(self._references.max())

    @property
    def size(self) -> int:
        """Codes in use."""
        return int(self._counters[0])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        # Without a loop: every push asks for the bytes of all that is held.
        slots = self._slot_word.nbytes + self._slot_code.nbytes
        slots += self._near.nbytes
        return slots + self._word_of_code.nbytes + self._free.nbytes + self._references.nbytes

    def grow(self, more: int = 1) -> None:
        """Have room for so many more codes, and for slots that are then at most half full."""
        self._spread()
        in_use, fresh, stacked, _ = self._counters.tolist()
        if fresh + more - stacked > self.capacity:
            self._lengthen(next_size(self.capacity, fresh + more - stacked))
        slots = self._slot_word.size
        while 2 * (in_use + more) > slots:
            slots *= 2
        if slots > self._slot_word.size:
            if slots > kernels.LARGE_TABLE:
                self._near = _NOWHERE
            grown = {
                "_slot_word": enlarged(self._slot_word, slots),
                "_slot_code": enlarged(self._slot_code, slots, NO_CODE),
                # Whatever comes in between, nobody looks for a word before it is where it belongs.
                "_unspread": self._slot_word.size,
            }
            # At once: arrays of different sizes would not fit together.
            vars(self).update(grown)
            self._spread()

    def _spread(self) -> None:
        """Have all words in the slots where they are looked for."""
        if self._unspread:
            kernels.spread_slots(self._slot_word, self._slot_code, self._unspread)
            self._unspread = 0

    def _lengthen(self, codes: int) -> None:
        grown = {
            "_word_of_code": enlarged(self._word_of_code, codes),
            "_free": enlarged(self._free, codes),
            "_references": enlarged(self._references, codes),
        }
        vars(self).update(grown)

    def capacity_after(self, rows: int) -> int:
        """What every code is below once so many words came, at most."""
        _, fresh, stacked, _ = self._counters.tolist()
        needed = fresh + max(0, rows - stacked)
        return self.capacity if needed <= self.capacity else next_size(self.capacity, needed)

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while so many words come, at most: none is known."""
        by_code = (self._word_of_code, self._free, self._references)
        more = enlarging_bytes(by_code, self.capacity_after(rows))
        slots = self._slot_word.size
        while 2 * (self.size + rows) > slots:
            slots *= 2
        return more + enlarging_bytes((self._slot_word, self._slot_code), slots)


def retain(codes: Codes, references: NDArray[np.int32]) -> Codes:
    """Count one more user of each code; returns the codes that had none, each once."""
    fresh = np.empty(codes.size, np.int64)
    count = kernels.add_references(codes, references, fresh)
    return codes[fresh[:count]]


def release(codes: Codes, references: NDArray[np.int32]) -> Codes:
    """Count one user less of each code; returns the codes that have none left."""
    dead = np.empty(codes.size, np.int32)
    count = kernels.drop_references(codes, references, dead)
    return dead[:count]
