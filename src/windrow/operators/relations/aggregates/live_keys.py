"""Keys that are there: rows of values to dense codes, each kept until it is released."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.aggregates import kernels
from windrow.operators.relations.aggregates.wide_decimals import (
    key_columns,
    key_types,
    values_of_keys,
)
from windrow.windows.codes import Codes, KeyCoder

__all__ = ["LiveKeys"]

Vector = NDArray[np.int64]


class LiveKeys:
    """Codes of keys with columns of these types; NULL is a value like any other.

    >>> keys = LiveKeys([pa.int64()])
    >>> keys.codes_of([pa.array([7, None, 7])])[0].tolist()
    [0, 1, 0]
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._types = list(types)
        self._coder = KeyCoder([part for kind in types for part in key_types(kind)])
        self._is_live = np.zeros(self._coder.capacity, np.bool_)

    def codes_of(self, columns: Sequence[pa.Array]) -> tuple[Codes, Vector]:
        """The code of each row's key, and the rows whose keys are new."""
        codes = self._coder.acquire([part for column in columns for part in key_columns(column)])
        if self._coder.capacity > self._is_live.size:
            more = self._coder.capacity - self._is_live.size
            self._is_live = np.pad(self._is_live, (0, more))
        fresh, surplus = np.empty(codes.size, np.int64), np.empty(codes.size, np.int32)
        count = kernels.claim(codes, self._is_live, fresh, surplus)
        # A key is counted once, however many rows have it.
        self._coder.release(surplus[: codes.size - count])
        return codes, fresh[:count]

    def release_unused(self, codes: Codes, users: Vector) -> Codes:
        """Free those of the codes that have no users; gives these, each once."""
        out = np.empty(codes.size, np.int32)
        idle = out[: kernels.unused(codes, users, self._is_live, out)]
        self._coder.release(idle)
        return idle

    def columns(self, codes: Codes) -> list[pa.Array]:
        """The values of keys."""
        parts = iter(self._coder.columns(codes))
        return [
            values_of_keys([next(parts) for _ in key_types(kind)], kind) for kind in self._types
        ]

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return self._coder.capacity

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._coder.nbytes + self._is_live.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many keys are added."""
        return self._coder.growth_bytes(rows) + 2 * self._is_live.nbytes
