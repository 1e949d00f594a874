"""Texts to dense codes, recycled when their last user leaves.

Purpose: later loops compare and count codes; the bytes of each different text are held once.
Time: one probe a row, and a pass over its bytes.
Space: 40 bytes a code and its text, at most twice that while there is room for more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.windows import kernels
from windrow.windows import text_kernels as texts_of
from windrow.windows.text_kernels import TextTable

__all__ = ["NEW_TEXT_BYTES", "TextCodes"]

# A text that was not known: itself, if it is not long, and its entries.
NEW_TEXT_BYTES = 256
SMALLEST_TABLE = 1 << 6
SMALLEST_HEAP = 1 << 10
LONGEST_ARRAY_BYTES = (1 << 31) - 1  # of a column of texts in Arrow

Codes = NDArray[np.int32]
_NO_CODES: Codes = np.empty(0, np.int32)


class TextCodes:
    """Codes of texts; NULL is a text of its own.

    >>> codes = TextCodes()
    >>> codes.encode(pa.array(["b", "a", "b"])).tolist()
    [0, 1, 0]
    """

    def __init__(self) -> None:
        self._table = _empty_table()
        self._forgotten: list[Codes] = []  # that can still be read, until the next encode()
        self._references = np.zeros(SMALLEST_TABLE, np.int64)

    def encode(self, texts: pa.Array) -> Codes:
        """The code of each text."""
        self._reuse_forgotten()
        if not len(texts):
            return _NO_CODES
        offsets, data, valid = _buffers(texts)
        out = np.empty(len(texts), np.int32)
        done = 0
        while True:
            done = texts_of.encode_texts(offsets, data, valid, done, self._table, out)
            if done == out.size:
                return out
            self._make_room(int(offsets[done + 1] - offsets[done]))

    def encode_column(self, column: pa.Array) -> Codes:
        """The code of each text of a column."""
        return self.encode(column)

    def acquire(self, column: pa.Array) -> Codes:
        """The code of each text of a column, with one more user."""
        codes = self.encode(column)
        self.retain(codes)
        return codes

    def retain(self, codes: Codes) -> Codes:
        """Count one more user of each code; returns the codes that had none, each once."""
        fresh = np.empty(codes.size, np.int64)
        return codes[fresh[: kernels.add_references(codes, self._references, fresh)]]

    def release(self, codes: Codes) -> Codes:
        """Count one user less of each code; returns the codes that have none left.

        They keep their meaning until `forget` makes them free for reuse.
        """
        dead = np.empty(codes.size, np.int32)
        return dead[: kernels.drop_references(codes, self._references, dead)]

    def forget(self, codes: Codes) -> None:
        """Free codes that have no user; until the next encode() they can still be read."""
        if codes.size:
            texts_of.forget_texts(codes, self._table)
            self._forgotten.append(codes)

    def recount(self, codes: Codes) -> None:
        """These codes have as many users as they are named here; those without one are freed."""
        used = self._used()
        self._references = np.bincount(codes, minlength=self._references.size)
        self.forget(used[self._references[used] == 0])

    def texts(self, codes: Codes) -> pa.Array:
        """The texts of codes."""
        offsets = np.empty(codes.size + 1, np.int64)
        total = texts_of.text_offsets(codes, self._table.lengths, offsets)
        if total > LONGEST_ARRAY_BYTES:
            raise pa.ArrowInvalid(f"{total} bytes of texts are too many for one column")
        ends = offsets.astype(np.int32)
        data = np.empty(total, np.uint8)
        texts_of.copy_texts(codes, self._table, ends, data)
        buffers = [_validity(self._table.lengths[codes]), pa.py_buffer(ends), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.string(), codes.size, buffers)

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._references.size

    @property
    def size(self) -> int:
        """Codes in use."""
        return int(self._table.counters[texts_of.IN_USE])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        arrays = (*self._table, self._references, *self._forgotten)
        return sum(int(array.nbytes) for array in arrays)

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many texts are added."""
        new = rows * NEW_TEXT_BYTES
        heap, end = self._table.heap.size, int(self._table.counters[texts_of.HEAP_END])
        # A heap without room is copied into one half as large again.
        copied = 0 if end + new <= heap else heap + heap // 2
        tables = 0 if self.capacity - self.size >= rows else 2 * (self.nbytes - heap)
        return new + copied + tables

    def _used(self) -> Codes:
        slots = self._table.slots
        found: Codes = slots[slots != texts_of.FREE_SLOT]
        return found

    def _reuse_forgotten(self) -> None:
        while self._forgotten:
            texts_of.free_codes(self._forgotten.pop(), self._table)
        if 4 * self._table.counters[texts_of.LIVE_BYTES] + SMALLEST_HEAP < self._table.heap.size:
            self._repack(0)

    def _make_room(self, length: int) -> None:
        """For one code more, and its text of that length."""
        table = self._table
        counters = table.counters
        if counters[texts_of.HEAP_END] + length > table.heap.size:
            self._repack(length)
        else:
            self._grow()

    def _repack(self, length: int) -> None:
        """Leave out the bytes of texts that are gone; have room for half as many again."""
        table, used = self._table, self._used()
        live = int(table.counters[texts_of.LIVE_BYTES])
        heap = np.empty(max(SMALLEST_HEAP, live + live // 2 + length), np.uint8)
        # Codes that are not in use have no text: theirs is not there any more.
        begins, lengths = np.zeros_like(table.begins), np.zeros_like(table.lengths)
        lengths[used] = table.lengths[used]
        counters = table.counters.copy()
        packed = (table.begins, lengths, table.heap, begins, heap)
        counters[texts_of.HEAP_END] = texts_of.pack_heap(used, *packed)
        packed_table = table._replace(begins=begins, lengths=lengths, heap=heap, counters=counters)
        self._table = packed_table

    def _grow(self) -> None:
        """Have room for twice as many codes."""
        table, size = self._table, 2 * self._references.size
        slots = np.full(2 * size, texts_of.FREE_SLOT, np.int32)
        hashes = _longer(table.hashes, size)
        texts_of.fill_slots(slots, hashes, self._used())
        grown = {
            "_table": table._replace(
                slots=slots,
                hashes=hashes,
                begins=_longer(table.begins, size),
                lengths=_longer(table.lengths, size),
                free=_longer(table.free, size),
            ),
            "_references": _longer(self._references, size),
        }
        vars(self).update(grown)  # at once: arrays of different sizes would not fit together


def _empty_table() -> TextTable:
    size = SMALLEST_TABLE
    return TextTable(
        slots=np.full(2 * size, texts_of.FREE_SLOT, np.int32),
        hashes=np.zeros(size, np.uint64),
        begins=np.zeros(size, np.int64),
        lengths=np.zeros(size, np.int32),
        free=np.zeros(size, np.int32),
        heap=np.empty(SMALLEST_HEAP, np.uint8),
        counters=np.zeros(texts_of.COUNTERS, np.int64),
    )


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    out = np.zeros(size, array.dtype)
    out[: array.size] = array
    return out


def _buffers(
    texts: pa.Array,
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8]]:
    """Offsets, bytes and flags of validity, none when all are valid."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    held = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    # Arrow's memory may be writable or not; kernels are compiled for one of these.
    ends.flags.writeable = held.flags.writeable = False
    if not texts.null_count:
        return ends, held, np.empty(0, np.uint8)
    return ends, held, texts.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False)


def _validity(lengths: NDArray[np.int32]) -> pa.Buffer | None:
    valid = lengths != texts_of.NO_TEXT
    return None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
