"""Dense codes of whole rows or keys of any types, kept as long as something is live under them.

A row is its values as words of 64 bits, texts as codes of texts, behind words of flags that tell
which values are NULL: so that one look-up finds it, and its columns can be made again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.operators.relations.order_words import Matrix
from windrow.operators.relations.row_code_kernels import (
    FREE_COUNT,
    FREE_SLOT,
    RowTable,
    encode_rows,
    fill_slots,
    forget_rows,
)
from windrow.windows.codes import NEW_TEXT_BYTES, Codes, TextCodes
from windrow.windows.column_words import array_of_words, words_of_array
from windrow.windows.value_bytes import is_coded
from windrow.windows.wide_decimals import (
    is_wide_decimal,
    wide_of_words,
    words_of_wide,
)

__all__ = ["RowCodes"]

Vector = NDArray[np.int64]
Flags = NDArray[np.bool_]
_SMALLEST = 64
_FLAGS_OF_WORD = 63


class RowCodes:
    """A code for each different row; one for all rows where there are no columns.

    >>> codes = RowCodes([pa.int64(), pa.string()])
    >>> codes.acquire([pa.array([4, 5, 4]), pa.array(["a", "b", "a"])], 3)[0].tolist()
    [0, 1, 0]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._types = tuple(types)
        self._texts = {kind: TextCodes(kind) for kind in self._types if is_coded(kind)}
        widths = [2 if is_wide_decimal(kind) else 1 for kind in self._types]
        self._flag_words = -(-len(widths) // _FLAGS_OF_WORD)
        self._first = [self._flag_words + sum(widths[:place]) for place in range(len(widths))]
        self._table = _empty_table(_SMALLEST, self._flag_words + sum(widths))

    def acquire(self, columns: Sequence[pa.Array], size: int) -> tuple[Codes, Vector]:
        """The code of each row, and which rows made a new one; release() must follow."""
        if not self._types:
            return np.zeros(size, np.int32), np.empty(0, np.int64)
        rows = self._words(columns, size)
        codes, fresh = np.empty(size, np.int32), np.empty(size, np.int64)
        done, count = 0, 0
        while True:
            done, count = encode_rows(rows, done, self._table, codes, fresh, count)
            if done == size:
                break
            self._grow()
        for first, texts in self._text_places():
            texts.retain(rows[fresh[:count], first].astype(np.int32))
        return codes, fresh[:count]

    def release(self, codes: Codes, is_live: Flags) -> Codes:
        """Of codes that were acquired, free those that are not live; returns these, each once.

        Until the next acquire() they can still be read.
        """
        if not self._types:
            return codes[:0]
        out = np.empty(codes.size, np.int32)
        freed = out[: forget_rows(codes, is_live, self._table, out)]
        for first, texts in self._text_places():
            texts.forget(texts.release(self._table.words[freed, first].astype(np.int32)))
        return freed

    def columns(self, codes: Codes) -> list[pa.Array]:
        """The rows of codes."""
        rows = self._table.words[codes]
        return [self._column(place, rows) for place in range(len(self._types))]

    def _column(self, place: int, rows: Matrix) -> pa.Array:
        kind, first = self._types[place], self._first[place]
        word = np.ascontiguousarray(rows[:, first])
        if kind in self._texts:
            return self._texts[kind].texts(word.astype(np.int32))
        flag = 1 << (place % _FLAGS_OF_WORD)
        missing = (rows[:, place // _FLAGS_OF_WORD] & flag) != 0
        if is_wide_decimal(kind):
            low = np.ascontiguousarray(rows[:, first + 1])
            return wide_of_words(pa.array(word, mask=missing), pa.array(low), kind)
        return array_of_words(word, missing, kind)

    def _words(self, columns: Sequence[pa.Array], size: int) -> Matrix:
        rows = np.zeros((size, self._table.words.shape[1]), np.int64)
        for place, (kind, column) in enumerate(zip(self._types, columns, strict=True)):
            first = self._first[place]
            if column.null_count:
                flags = pc.is_null(column).to_numpy(zero_copy_only=False).astype(np.int64)
                rows[:, place // _FLAGS_OF_WORD] |= flags << (place % _FLAGS_OF_WORD)
            if kind in self._texts:
                rows[:, first] = self._texts[kind].encode(column)
            elif is_wide_decimal(kind):
                rows[:, first : first + 2] = words_of_wide(column)
            else:
                rows[:, first] = words_of_array(column)[0]
        return rows

    def _text_places(self) -> list[tuple[int, TextCodes]]:
        places = zip(self._first, self._types, strict=True)
        return [(first, self._texts[kind]) for first, kind in places if kind in self._texts]

    @property
    def _texts_bytes(self) -> int:
        return sum(texts.nbytes for texts in self._texts.values())

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._table.free.size if self._types else 1

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._table_bytes + self._texts_bytes

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many rows are added."""
        texts = len(self._text_places())
        width = int(self._table.words.shape[1])
        batch = rows * (8 * width + 16 + texts * NEW_TEXT_BYTES)
        return batch + self.grown_bytes(self._table_bytes + self._texts_bytes, rows)

    def grown_bytes(self, nbytes: int, rows: int) -> int:
        """Peak of additional bytes of arrays by code that have so many, while rows are added."""
        free = int(self._table.control[FREE_COUNT])
        capacity = self.capacity
        if rows <= free or not self._types:
            return 0
        doublings = (-(-(capacity - free + rows) // capacity) - 1).bit_length()
        # The arrays before the last doubling are there together with those after it.
        return (nbytes << doublings) * 3 // 2

    @property
    def _table_bytes(self) -> int:
        return sum(int(array.nbytes) for array in self._table)

    def _grow(self) -> None:
        """Have room for twice as many codes; all that there is room for now are in use."""
        old, size = self._table, self._table.free.size
        table = _empty_table(2 * size, old.words.shape[1])
        table.words[:size] = old.words
        table.is_used[:size] = old.is_used
        table.free[:size] = np.arange(2 * size - 1, size - 1, -1)
        table.control[FREE_COUNT] = size
        fill_slots(table)
        self._table = table


def _empty_table(size: int, width: int) -> RowTable:
    return RowTable(
        slots=np.full(2 * size, FREE_SLOT, np.int32),
        words=np.zeros((size, width), np.int64),
        free=np.arange(size - 1, -1, -1, dtype=np.int32),
        is_used=np.zeros(size, np.uint8),
        control=np.array([size], np.int64),
    )
