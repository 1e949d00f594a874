"""Dense codes of whole rows or keys, held as long as something is live under them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.ordered_kernels import references_to_release
from windrow.operators.relations.wide_decimals import (
    is_wide_decimal,
    wide_of_words,
    words_of_wide,
)
from windrow.windows.codes import Codes, KeyCoder

__all__ = ["RowCodes"]

_SMALLEST = 64


class RowCodes:
    """A code for each different row; one for all rows where there are no columns.

    >>> codes = RowCodes([pa.int64()])
    >>> codes.acquire([pa.array([4, 5, 4])], 3).tolist()
    [0, 1, 0]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._types = tuple(types)
        coded = [each for kind in self._types for each in _coded_types(kind)]
        self._coder = KeyCoder(coded) if coded else None
        self._held = np.zeros(_SMALLEST, np.uint8)

    def acquire(self, columns: Sequence[pa.Array], size: int) -> Codes:
        """The code of each row; every one is to be given back by release()."""
        if self._coder is None:
            return np.zeros(size, np.int32)
        coded = [
            part
            for kind, column in zip(self._types, columns, strict=True)
            for part in _coded_columns(kind, column)
        ]
        codes = self._coder.acquire(coded)
        if self._held.size < self.capacity:
            held = np.zeros(self.capacity, np.uint8)
            held[: self._held.size] = self._held
            self._held = held
        return codes

    def release(self, codes: Codes, is_live: NDArray[np.bool_]) -> None:
        """Give back what was acquired, but for one reference of each code that is live now.

        Codes that were live and are not any more are free for other rows.
        """
        if self._coder is None:
            return
        out = np.empty(2 * codes.size, np.int32)
        count = references_to_release(codes, self._held, is_live, out)
        self._coder.release(out[:count])

    def columns(self, codes: Codes) -> list[pa.Array]:
        """The rows of codes."""
        assert self._coder is not None
        coded = iter(self._coder.columns(codes))
        return [
            wide_of_words(next(coded), next(coded), kind) if is_wide_decimal(kind) else next(coded)
            for kind in self._types
        ]

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return 1 if self._coder is None else self._coder.capacity

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._held.nbytes + (0 if self._coder is None else self._coder.nbytes)

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many rows are added."""
        return 0 if self._coder is None else self._coder.growth_bytes(rows) + 2 * self._held.nbytes


def _coded_types(kind: pa.DataType) -> list[pa.DataType]:
    return [pa.int64(), pa.int64()] if is_wide_decimal(kind) else [kind]


def _coded_columns(kind: pa.DataType, column: pa.Array) -> list[pa.Array]:
    if not is_wide_decimal(kind):
        return [column]
    words = words_of_wide(column)
    mask = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    return [pa.array(np.ascontiguousarray(words[:, i]), mask=mask) for i in range(2)]
