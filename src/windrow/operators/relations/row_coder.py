"""Rows of any columns to dense codes, and back.

A KeyCoder knows columns of up to 64 bits, and at least one. Here a decimal of more than 18 digits
is two words, and a row without columns is a constant.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.schema import MAX_DECIMAL_DIGITS
from windrow.windows.codes import Codes, KeyCoder

__all__ = ["RowCoder"]

_WORD = pa.int64()
_NO_COLUMNS = pa.int8()


class RowCoder:
    """Codes of rows with columns of these Arrow types; NULL is a value like any other.

    >>> coder = RowCoder([pa.int64(), pa.string()])
    >>> coder.acquire([pa.array([1, 1]), pa.array(["a", "b"])], 2).tolist()
    [0, 1]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._types = tuple(types)
        narrow: list[pa.DataType] = []
        self._parts: list[range] = []  # of each column, the numbers of its words
        for kind in self._types:
            words = [_WORD, _WORD] if _is_wide(kind) else [kind]
            self._parts.append(range(len(narrow), len(narrow) + len(words)))
            narrow += words
        self._coder = KeyCoder(narrow or [_NO_COLUMNS])

    def acquire(self, columns: Sequence[pa.Array], size: int) -> Codes:
        """The code of each row, counted once for it."""
        if not size:
            return np.empty(0, np.int32)
        if not self._types:
            return self._coder.acquire([pa.array(np.zeros(size, np.int8))])
        return self._coder.acquire([part for column in columns for part in _split(column)])

    def retain(self, codes: Codes) -> None:
        """Count one user more of each code."""
        self._coder.retain(codes)

    def release(self, codes: Codes) -> Codes:
        """Count one user less of each code; returns those without one, free for other rows."""
        return self._coder.release(codes) if codes.size else codes

    def columns(self, codes: Codes, wanted: Container[int] | None = None) -> tuple[pa.Array, ...]:
        """The rows of codes; wanted: only the columns with these numbers."""
        chosen = [place for place in range(len(self._types)) if wanted is None or place in wanted]
        if not chosen:
            return ()
        parts = {part for place in chosen for part in self._parts[place]}
        narrow = iter(self._coder.columns(codes, parts))
        return tuple(
            _joined(next(narrow), next(narrow), kind) if _is_wide(kind) else next(narrow)
            for kind in (self._types[place] for place in chosen)
        )

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._coder.capacity

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._coder.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many rows are added."""
        return self._coder.growth_bytes(rows)


def _is_wide(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal(kind) and kind.precision > MAX_DECIMAL_DIGITS)


def _split(column: pa.Array) -> list[pa.Array]:
    """A wide decimal as its low and its high word, of which the low one has the NULLs."""
    if not _is_wide(column.type):
        return [column]
    words = np.frombuffer(column.buffers()[1], np.int64)
    pairs = words[2 * column.offset : 2 * (column.offset + len(column))].reshape(-1, 2)
    missing: NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    low, high = np.where(missing, 0, pairs[:, 0]), np.where(missing, 0, pairs[:, 1])
    return [pa.array(low, mask=missing), pa.array(high)]


def _joined(low: pa.Array, high: pa.Array, kind: pa.DataType) -> pa.Array:
    pairs = np.empty((len(low), 2), np.int64)
    pairs[:, 0] = low.fill_null(0).to_numpy()
    pairs[:, 1] = high.to_numpy()
    validity = low.is_valid().buffers()[1] if low.null_count else None
    return pa.Array.from_buffers(kind, len(low), [validity, pa.py_buffer(pairs)])
