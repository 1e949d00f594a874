"""Composite keys of any types to one dense code, and back.

Each column becomes a word of 64 bits or a text code; two or more columns are folded pairwise:
the codes of the first two make a word, whose code is folded with that of the third, and so on.
Only the last table counts rows; an inner table counts the outer codes that stand on it.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np
import pyarrow as pa

from windrow.windows.codes import NO_FLAGS, Codes, TextCodes, WordCodes
from windrow.windows.column_words import array_of_words

__all__ = ["KeyCoder"]

# A text that was not known: itself, if it is not long, and its entries.
NEW_TEXT_BYTES = 256
_HIGH = 32
_LOW_MASK = (1 << _HIGH) - 1


class KeyCoder:
    """Codes of keys with columns of these Arrow types; NULL is a value like any other.

    >>> coder = KeyCoder([pa.int64(), pa.string()])
    >>> coder.acquire([pa.array([1, 1, None]), pa.array(["a", "b", "a"])]).tolist()
    [0, 1, 2]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._types = list(types)
        self._columns: list[WordCodes | TextCodes] = [
            TextCodes() if pa.types.is_string(kind) else WordCodes() for kind in self._types
        ]
        self._pairs = [WordCodes() for _ in self._types[1:]]
        self._last = self._pairs[-1] if self._pairs else self._columns[0]

    def acquire(self, columns: Sequence[pa.Array]) -> Codes:
        """The code of each row's key, counted once for the row."""
        if not self._pairs:
            return self._columns[0].acquire(columns[0])
        code = self._column_codes(0, columns[0])
        for level, pairs in enumerate(self._pairs, 1):
            right = self._column_codes(level, columns[level])
            code = pairs.encode((code.astype(np.int64) << _HIGH) | right, NO_FLAGS)
        self._retain(len(self._pairs), code)
        return code

    def retain(self, codes: Codes) -> None:
        """Count one row more of each code."""
        self._retain(len(self._pairs), codes)

    def release(self, codes: Codes) -> Codes:
        """Count one row less of each code; returns the codes without rows, free for other keys."""
        return self._release(len(self._pairs), codes)

    def recount(self, codes: Codes) -> None:
        """Count these codes once each, whatever was counted before, and release all others."""
        for level in range(len(self._pairs), 0, -1):
            self._pairs[level - 1].recount(codes)
            # An inner table counts the outer codes that stand on it, each of them once.
            left, right = self._parts(level, np.unique(codes))
            self._columns[level].recount(right)
            codes = left
        self._columns[0].recount(codes)

    def columns(self, codes: Codes, wanted: Container[int] | None = None) -> list[pa.Array]:
        """The key columns of codes; wanted: only those with these numbers."""
        out: list[pa.Array] = []
        for level in range(len(self._pairs), 0, -1):
            codes, right = self._parts(level, codes)
            if wanted is None or level in wanted:
                out.append(self._column_values(level, right))
        if wanted is None or 0 in wanted:
            out.append(self._column_values(0, codes))
        return out[::-1]

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._last.capacity

    @property
    def size(self) -> int:
        """Keys in use."""
        return self._last.size

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(codes.nbytes for codes in (*self._columns, *self._pairs))

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many rows are added."""
        tables = (*self._columns, *self._pairs)
        return sum(_growth_bytes(table, rows) for table in tables)

    def _retain(self, level: int, codes: Codes) -> None:
        if level == 0:
            self._columns[0].retain(codes)
            return
        left, right = self._parts(level, self._pairs[level - 1].retain(codes))
        self._columns[level].retain(right)
        self._retain(level - 1, left)

    def _release(self, level: int, codes: Codes) -> Codes:
        table = self._pairs[level - 1] if level else self._columns[0]
        idle = table.release(codes)
        if level:
            left, right = self._parts(level, idle)
            column = self._columns[level]
            column.forget(column.release(right))
            self._release(level - 1, left)
        table.forget(idle)
        return idle

    def _parts(self, level: int, codes: Codes) -> tuple[Codes, Codes]:
        words, _ = self._pairs[level - 1].words(codes)
        return (words >> _HIGH).astype(np.int32), (words & _LOW_MASK).astype(np.int32)

    def _column_codes(self, level: int, column: pa.Array) -> Codes:
        return self._columns[level].encode_column(column)

    def _column_values(self, level: int, codes: Codes) -> pa.Array:
        table = self._columns[level]
        if isinstance(table, TextCodes):
            return table.texts(codes)
        return array_of_words(*table.words(codes), self._types[level])


def _growth_bytes(table: WordCodes | TextCodes, rows: int) -> int:
    is_text = isinstance(table, TextCodes)
    if table.capacity - table.size >= rows:
        return rows * NEW_TEXT_BYTES if is_text else 0
    doubled = table.nbytes - table.text_bytes if isinstance(table, TextCodes) else table.nbytes
    return 2 * doubled + rows * NEW_TEXT_BYTES * is_text
