"""The bits that all, some, or an odd number of the values of groups have."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.aggregates.bits import kernels
from windrow.operators.relations.aggregates.places import Places
from windrow.windows.codes import NO_FLAGS, Codes

__all__ = ["BitCounts"]

Vector = NDArray[np.int64]
_COLUMNS = kernels.BITS + 1


class BitCounts:
    """Counts of the bits of integers, group by group."""

    def __init__(self) -> None:
        self._counts = np.zeros((0, _COLUMNS), np.int64)

    def advance(
        self, groups: Codes, weight: Vector, column: pa.Array, places: Places
    ) -> list[pa.Array]:
        """Count values that come and go; of each state what all, some and an odd number have."""
        valid = NO_FLAGS
        if column.null_count:
            valid = column.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False)
        words = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        known = places.groups.size
        found = np.zeros((3, known + places.size), np.int64)
        present = np.zeros(known + places.size, np.bool_)
        kernels.read_bits(places.groups, self._counts, (found[:, :known], present[:known]))
        after = (found[:, known:], present[known:])
        kernels.update_bits(
            groups, weight, words, valid, places.place, places.last_change, self._counts, after
        )
        return [pa.array(each, mask=~present) for each in found]

    def reserve(self, groups: int) -> None:
        """Make room for codes of groups below this."""
        more = groups - self._counts.shape[0]
        if more > 0:
            self._counts = np.pad(self._counts, ((0, more), (0, 0)))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._counts.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need."""
        return 2 * self._counts.nbytes + changes * (8 * _COLUMNS + 64)
