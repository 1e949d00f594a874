"""Texts that come again and again: their codes are found by their bytes, without Python or Arrow.

What is known here is a part of what the table of codes knows, and forgotten with it. There is room
for some thousands of short texts: where more come, they are looked up as others are.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.windows import text_kernels as kernels
from windrow.windows.word_codes import NO_CODE, Codes

__all__ = ["KnownTexts"]

# Texts of batches of this size are known: the tables take a quarter of a megabyte, which must not
# be much beside the rows. A longer text is not.
LEAST_BATCH = 16_384
LONGEST_BYTES = 63
# Codes below this are known, by so many words of eight bytes in all.
MOST_CODES = 1 << 13
MOST_WORDS = 1 << 14
# Where most texts of a batch are not known, this many batches go by before it is tried again.
BATCHES_LET_BE = 64
_SLOTS = 2 * MOST_CODES
_NONE = np.empty(0, np.int32)
_NO_WORDS = np.empty(0, np.uint64)


class KnownTexts:
    """Codes of texts by their bytes.

    >>> known = KnownTexts()
    >>> texts = pa.array(["a", "b"] * LEAST_BATCH)
    >>> known.codes(texts) is None
    True
    >>> known.learn(pa.array(["a", "b"]), np.array([7, 9], np.int32), texts)
    >>> known.codes(texts)[:3].tolist()
    [7, 9, 7]
    """

    def __init__(self) -> None:
        self._slots, self._starts, self._lengths = _NONE, _NONE, _NONE
        self._words: NDArray[np.uint64] = _NO_WORDS
        self._used = np.zeros(2, np.int64)
        self._until = 0  # so many batches are let be

    def codes(self, texts: pa.Array) -> Codes | None:
        """The codes of texts, NO_CODE where they are not known; None: nothing is known of them."""
        if self._until and len(texts):
            self._until -= 1
            return None
        if not self._slots.size or not _can_be_known(texts):
            return None
        out = np.empty(len(texts), np.int32)
        tables = (self._slots, self._starts, self._lengths, self._words)
        unknown = kernels.known_texts(*_buffers(texts), *tables, out)
        if 2 * unknown > out.size:
            self.clear()
            self._until = BATCHES_LET_BE
        return out

    def learn(self, texts: pa.Array, codes: Codes, batch: pa.Array) -> None:
        """Know different texts of a batch by their codes, if they come again and again in it."""
        if self._until or not _can_be_known(batch) or 4 * codes.size > len(batch):
            return
        if not codes.size or texts.null_count or texts.buffers()[2] is None:
            return
        if not self._slots.size:
            self._make()
        tables = (self._slots, self._starts, self._lengths, self._words)
        given = (*_buffers(texts), codes, LONGEST_BYTES)
        kernels.learn_texts(*given, *tables, self._used, _SLOTS // 2)

    def _make(self) -> None:
        made = {
            "_slots": np.full(_SLOTS, NO_CODE, np.int32),
            "_starts": np.zeros(MOST_CODES, np.int32),
            "_lengths": np.full(MOST_CODES, kernels.FORGOTTEN, np.int32),
            "_words": np.empty(MOST_WORDS, np.uint64),
            "_used": np.zeros(2, np.int64),
        }
        vars(self).update(made)

    def forget(self, codes: Codes) -> None:
        """These codes mean other texts from now on."""
        if self._lengths.size:
            self._lengths[codes[codes < self._lengths.size]] = kernels.FORGOTTEN

    def clear(self) -> None:
        """Know nothing."""
        none = {"_slots": _NONE, "_starts": _NONE, "_lengths": _NONE, "_words": _NO_WORDS}
        vars(self).update(none)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(each.nbytes for each in self._tables())

    def growth_bytes(self, rows: int) -> int:
        """Bytes that it may take when so many texts come."""
        if self._slots.size or rows < LEAST_BATCH:
            return 0
        return 4 * (_SLOTS + 2 * MOST_CODES) + 8 * MOST_WORDS

    def _tables(self) -> tuple[NDArray[np.int32] | NDArray[np.uint64], ...]:
        return self._slots, self._starts, self._lengths, self._words


def _can_be_known(texts: pa.Array) -> bool:
    return len(texts) >= LEAST_BATCH and not texts.null_count and texts.buffers()[2] is not None


def _buffers(texts: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Where each text begins and ends, and the bytes of all."""
    _, offsets, data = texts.buffers()
    places = np.frombuffer(offsets, np.int32, len(texts) + 1, 4 * texts.offset)
    return places, np.frombuffer(data, np.uint8)
