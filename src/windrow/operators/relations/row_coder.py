"""Rows to dense codes and back, with counted users; a row without columns is a constant."""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np
import pyarrow as pa

from windrow.windows.codes import Codes, KeyCoder

__all__ = ["RowCoder"]

_NO_COLUMNS = pa.int8()


class RowCoder:
    """Codes of rows with columns of these Arrow types; NULL is a value like any other.

    >>> coder = RowCoder([pa.int64(), pa.string()])
    >>> coder.acquire([pa.array([1, 1]), pa.array(["a", "b"])], 2).tolist()
    [0, 1]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._has_columns = bool(types)
        self._coder = KeyCoder(types or [_NO_COLUMNS])

    def acquire(self, columns: Sequence[pa.Array], size: int) -> Codes:
        """The code of each row, counted once for it."""
        if not size:
            return np.empty(0, np.int32)
        if not self._has_columns:
            return self._coder.acquire([pa.array(np.zeros(size, np.int8))])
        return self._coder.acquire(columns)

    def retain(self, codes: Codes) -> None:
        """Count one user more of each code."""
        self._coder.retain(codes)

    def release(self, codes: Codes) -> Codes:
        """Count one user less of each code; returns those without one, free for other rows."""
        return self._coder.release(codes) if codes.size else codes

    def columns(self, codes: Codes, wanted: Container[int] | None = None) -> tuple[pa.Array, ...]:
        """The rows of codes; wanted: only the columns with these numbers."""
        return tuple(self._coder.columns(codes, wanted)) if self._has_columns else ()

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
