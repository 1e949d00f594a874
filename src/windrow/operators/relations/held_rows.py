"""The rows that an operator holds, each different one once: by its code, with counts.

A code has one reference while any count of it is not 0, and one for each change of a batch that is
being applied: acquire() the rows of the batch, change the counts, release() the same codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations import held_kernels as kernels
from windrow.operators.relations.changes import Changes, Vector
from windrow.operators.relations.row_coder import RowCoder
from windrow.windows.codes import Codes
from windrow.windows.growing import enlarged

__all__ = ["HeldRows", "grown"]

SMALLEST_CAPACITY = 1 << 6
# What a change needs while a batch is applied: its code, netted once, and references to release.
_BYTES_A_CHANGE = 40


class HeldRows:
    """counts[code, input]: how many copies of the row an input holds."""

    def __init__(self, types: Sequence[pa.DataType], inputs: int = 1) -> None:
        self.coder = RowCoder(types)
        self.counts = np.zeros((SMALLEST_CAPACITY, inputs), np.int64)
        self._is_held = np.zeros(SMALLEST_CAPACITY, np.uint8)
        self._place_of = np.empty(0, np.int64)  # for net(), where it is called

    def acquire(self, columns: Sequence[pa.Array], size: int) -> Codes:
        """The code of each row, with a reference of its own."""
        codes = self.coder.acquire(columns, size)
        capacity = self.capacity
        if capacity > self._is_held.size:
            self.counts = grown(self.counts, capacity, 0)
            self._is_held = grown(self._is_held, capacity, 0)
        return codes

    def release(self, codes: Codes) -> Codes:
        """The batch with these codes is applied; returns codes that are free now."""
        if not codes.size:
            return codes
        out = np.empty(2 * codes.size, np.int32)
        size = kernels.unneeded_references(codes, self.counts, self._is_held, out)
        return self.coder.release(out[:size])

    def hold(self, codes: Codes) -> None:
        """The references of these codes are those of rows that are held from now on."""
        self._is_held[codes] = 1

    def net(self, at: Vector, codes: Codes, weight: Vector) -> tuple[Vector, Codes, Vector]:
        """The changes with one for each code and instant, and none that changes nothing."""
        if self._place_of.size < self.capacity:
            self._place_of = np.zeros(self.capacity, np.int64)
        out = (np.empty(at.size, np.int64), np.empty(at.size, np.int32), np.empty_like(weight))
        size = kernels.net_changes(at, codes, weight, self._place_of, *out)
        return out[0][:size], out[1][:size], out[2][:size]

    def changes(self, at: Vector, codes: Codes, weight: Vector) -> Changes:
        """Changes of these rows."""
        return Changes(at, weight, self.coder.columns(codes))

    @property
    def capacity(self) -> int:
        """Every code is below this."""
        return max(self.coder.capacity, SMALLEST_CAPACITY)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        arrays = self.counts.nbytes + self._is_held.nbytes + self._place_of.nbytes
        return self.coder.nbytes + arrays

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes while this many changes are applied."""
        arrays = self.nbytes - self.coder.nbytes
        return self.coder.growth_bytes(changes) + 2 * arrays + _BYTES_A_CHANGE * changes


def grown(array: NDArray[Any], capacity: int, fill: int) -> NDArray[Any]:
    """The array with room for that many codes; what is new has the value `fill`."""
    return enlarged(array, capacity, fill)
