"""Values that a word does not hold, in order: codes, a rank each, and letters where ranks tie.

A text ranks by its first eight bytes, and its letters are all its bytes: so texts are in the order
of their bytes. A decimal of two words ranks by the high one; its letters are the low one.
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.row_codes import RowCodes
from windrow.windows.codes import Codes
from windrow.windows.order_bytes import order_bytes
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import words_of_wide

__all__ = ["CodedValues"]

Vector = NDArray[np.int64]
Letters = NDArray[np.uint8]
WORD_BYTES = 8
SMALLEST_LETTERS = 1 << 10
_SIGN = np.uint64(1 << 63)


class CodedValues:
    """Codes of values of one type, which have users, and what orders them."""

    def __init__(self, kind: pa.DataType) -> None:
        self._kind = kind
        self._keys = RowCodes([kind])
        self._rank = np.zeros(0, np.int64)
        self.first, self.size = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.letters = np.zeros(SMALLEST_LETTERS, np.uint8)
        self.users = np.zeros(0, np.int64)
        self._end, self._held = 0, 0

    def encode(self, column: pa.Array) -> tuple[Codes, Vector]:
        """Codes and ranks of values; those that get no user must be released."""
        codes, fresh = self._keys.acquire([column], len(column))
        more = self._keys.capacity - self._rank.size
        if more > 0:
            arrays = (self._rank, self.first, self.size, self.users)
            self._rank, self.first, self.size, self.users = (
                np.pad(each, (0, more)) for each in arrays
            )
        if fresh.size:
            self._add(codes[fresh], column.take(pa.array(fresh)))
        return codes, self._rank[codes]

    def release_unused(self, codes: Codes) -> None:
        """Free those of the codes that have no users."""
        idle = self._keys.release(codes, self.users[codes] != 0)
        self._held -= int(self.size[idle].sum())
        self.size[idle] = 0
        if self._end > 2 * self._held + SMALLEST_LETTERS:
            self._close_gaps()

    def values(self, codes: Codes, present: NDArray[np.bool_]) -> pa.Array:
        """The values of codes; NULL where there is none."""
        column = self._keys.columns(codes[present])[0]
        if present.all():
            return column
        places = np.cumsum(present) - 1
        return column.take(pa.array(places, mask=~present))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        arrays = (self._rank, self.first, self.size, self.letters, self.users)
        return self._keys.nbytes + sum(each.nbytes for each in arrays)

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many values may need."""
        return self._keys.growth_bytes(changes) + 2 * (self.nbytes - self._keys.nbytes)

    def _add(self, codes: Codes, values: pa.Array) -> None:
        if is_coded(self._kind):
            letters, sizes = _bytes_of(order_bytes(values))
            self._rank[codes] = _first_words(letters, sizes)
        else:
            words = words_of_wide(values)
            self._rank[codes] = words[:, 0]
            letters = _in_order_of_bytes(np.ascontiguousarray(words[:, 1]))
            sizes = np.full(codes.size, WORD_BYTES)
        end = self._end + letters.size
        if end > self.letters.size:
            self.letters = np.pad(self.letters, (0, 2 * end - self.letters.size))
        self.letters[self._end : end] = letters
        self.first[codes] = self._end + np.cumsum(sizes) - sizes
        self.size[codes] = sizes
        self._end, self._held = end, self._held + letters.size

    def _close_gaps(self) -> None:
        """Leave out the letters of values that are gone."""
        kept = np.flatnonzero(self.size)
        sizes = self.size[kept]
        first = np.cumsum(sizes) - sizes
        places = np.repeat(self.first[kept] - first, sizes) + np.arange(self._held)
        letters = np.zeros(max(SMALLEST_LETTERS, 2 * self._held), np.uint8)
        letters[: self._held] = self.letters[places]
        self.letters, self._end = letters, self._held
        self.first[kept] = first


def _bytes_of(texts: pa.Array) -> tuple[Letters, Vector]:
    """The bytes of all texts, and how many each has."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return letters[ends[0] : ends[-1]], np.diff(ends).astype(np.int64)


def _first_words(letters: Letters, sizes: Vector) -> Vector:
    """The first eight bytes of each text as a word that orders as they do; zeros where it ends."""
    first = np.cumsum(sizes) - sizes
    padded = np.concatenate([letters, np.zeros(WORD_BYTES, np.uint8)])
    heads = padded[first[:, None] + np.arange(WORD_BYTES)]
    heads[np.arange(WORD_BYTES) >= sizes[:, None]] = 0
    words = np.ascontiguousarray(heads).view(">u8").astype(np.uint64).reshape(-1)
    return (words ^ _SIGN).view(np.int64)


def _in_order_of_bytes(words: Vector) -> Letters:
    """Words without sign as bytes, the highest one first."""
    swapped = words.byteswap() if sys.byteorder == "little" else words
    return swapped.view(np.uint8)
