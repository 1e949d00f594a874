"""Different values of groups: how often each is there, and when it comes and goes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.aggregates import kernels
from windrow.operators.relations.aggregates.input_columns import where_all_valid
from windrow.operators.relations.row_codes import RowCodes
from windrow.windows.codes import NO_CODE, Codes

__all__ = ["DistinctValues"]

Vector = NDArray[np.int64]


class DistinctValues:
    """The different values of arguments of these types, group by group."""

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._keys = RowCodes([pa.int32(), *types])
        self._times = np.zeros(0, np.int64)

    def advance(self, groups: Codes, weight: Vector, columns: list[pa.Array]) -> Vector:
        """Count values that come and go; for each change, how many different ones it adds.

        A row with NULL among its values adds none.
        """
        there = where_all_valid(columns)
        if there is None:
            codes = used = self._codes(groups, columns)
        else:
            rows = np.flatnonzero(there)
            index = pa.array(rows)
            used = self._codes(groups[rows], [column.take(index) for column in columns])
            codes = np.full(groups.size, NO_CODE, np.int32)
            codes[rows] = used
        effect = np.empty(groups.size, np.int64)
        kernels.find_different(codes, weight, self._times, effect)
        self._keys.release(used, self._times[used] != 0)
        return effect

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._keys.nbytes + self._times.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need."""
        return self._keys.growth_bytes(changes) + 2 * self._times.nbytes

    def _codes(self, groups: Codes, columns: list[pa.Array]) -> Codes:
        codes, _ = self._keys.acquire([pa.array(groups), *columns], groups.size)
        more = self._keys.capacity - self._times.size
        if more > 0:
            self._times = np.pad(self._times, (0, more))
        return codes
