"""The groups of a step's updates, numbered from 0: what a partial result names its groups by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from windrow.operators.group_updates import GroupUpdates
from windrow.operators.partial import Partial
from windrow.windows.codes import Codes
from windrow.windows.kernels import renumber

__all__ = ["UpdatedGroups"]


class UpdatedGroups:
    """Turns updates by group code into partial results; grouped or not."""

    def __init__(self, *, is_grouped: bool) -> None:
        self._is_grouped = is_grouped
        self._seen = np.zeros(0, np.int64)
        self._stamp = 1

    def partial(
        self, updates: GroupUpdates, columns_of: Callable[[Codes], list[pa.Array]]
    ) -> Partial:
        """The partial result; columns_of gives the group columns of codes, constants left out."""
        codes = updates.group
        states = (updates.count, updates.lanes, updates.layout)
        if not self._is_grouped:
            none = pa.RecordBatch.from_arrays([], names=[])
            return Partial(updates.at, codes, *states, none, 1, updates.extras)
        highest = int(codes.max(initial=-1)) + 1
        if highest > self._seen.size:
            self._seen = np.zeros(2 * highest, np.int64)
        group, unique = np.empty(codes.size, np.int32), np.empty(codes.size, np.int32)
        count = int(renumber(codes, self._seen, self._stamp, group, unique))
        self._stamp += count
        columns = columns_of(unique[:count])
        names = [f"g{i}" for i in range(len(columns))]
        groups = pa.RecordBatch.from_arrays(columns, names=names)
        named = (groups, count, updates.extras)
        return Partial(updates.at, group, *states, *named, codes=unique[:count])
