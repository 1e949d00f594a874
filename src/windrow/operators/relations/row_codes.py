"""Dense codes of whole rows or keys of any types, kept as long as something is live under them.

A row is its values as words of 64 bits, texts as codes of texts, behind words of flags that tell
which values are NULL: so that one look-up finds it, and its columns can be made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.row_code_kernels import (
    FREE_COUNT,
    FREE_SLOT,
    RowTable,
    encode_rows,
    fill_slots,
    forget_rows,
)
from windrow.operators.relations.row_words import RowWords
from windrow.windows.codes import Codes

__all__ = ["RowCodes"]

Vector = NDArray[np.int64]
Flags = NDArray[np.bool_]
_SMALLEST = 64


class RowCodes:
    """A code for each different row; one for all rows where there are no columns.

    >>> codes = RowCodes([pa.int64(), pa.string()])
    >>> codes.acquire([pa.array([4, 5, 4]), pa.array(["a", "b", "a"])], 3)[0].tolist()
    [0, 1, 0]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._words = RowWords(types)
        self._has_columns = bool(types)
        self._table = _empty_table(_SMALLEST, self._words.width)

    def acquire(self, columns: Sequence[pa.Array], size: int) -> tuple[Codes, Vector]:
        """The code of each row, and which rows made a new one; release() must follow."""
        if not self._has_columns:
            return np.zeros(size, np.int32), np.empty(0, np.int64)
        rows = self._words.encode(columns, size)
        codes, fresh = np.empty(size, np.int32), np.empty(size, np.int64)
        done, count = 0, 0
        while True:
            done, count = encode_rows(rows, done, self._table, codes, fresh, count)
            if done == size:
                break
            self._grow()
        if self._words.has_texts:
            self._words.retain(rows[fresh[:count]])
        return codes, fresh[:count]

    def release(self, codes: Codes, is_live: Flags) -> Codes:
        """Of codes that were acquired, free those that are not live; returns these, each once.

        Until the next acquire() they can still be read.
        """
        if not self._has_columns:
            return codes[:0]
        out = np.empty(codes.size, np.int32)
        freed = out[: forget_rows(codes, is_live, self._table, out)]
        if self._words.has_texts:
            self._words.release(self._table.words[freed])
        return freed

    def columns(self, codes: Codes, places: Iterable[int] | None = None) -> list[pa.Array]:
        """The rows of codes; places: only these columns."""
        return self._words.columns(self._table.words.take(codes, axis=0), places)

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._table.free.size if self._has_columns else 1

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._table_bytes + self._words.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many rows are added."""
        batch = 16 * rows + self._words.growth_bytes(rows)
        return batch + self.grown_bytes(self.nbytes, rows)

    def grown_bytes(self, nbytes: int, rows: int) -> int:
        """Peak of additional bytes of arrays by code that have so many, while rows are added."""
        free = int(self._table.control[FREE_COUNT])
        capacity = self.capacity
        if rows <= free or not self._has_columns:
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
