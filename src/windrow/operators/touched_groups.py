"""The groups of a step's touches, numbered from 0: what a partial result names its groups by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from windrow.operators.partial import Partial
from windrow.operators.touches import Touches
from windrow.windows.codes import Codes
from windrow.windows.kernels import renumber

__all__ = ["TouchedGroups"]


class TouchedGroups:
    """Turns touches by group code into partial results; grouped or not."""

    def __init__(self, *, is_grouped: bool) -> None:
        self._is_grouped = is_grouped
        self._seen = np.zeros(0, np.int64)
        self._stamp = 1

    def partial(self, touches: Touches, columns_of: Callable[[Codes], list[pa.Array]]) -> Partial:
        """The partial result; columns_of gives the group columns of codes, constants left out."""
        codes = touches.group
        states = (touches.count, touches.lanes, touches.layout)
        if not self._is_grouped:
            none = pa.RecordBatch.from_arrays([], names=[])
            return Partial(touches.at, codes, *states, none, 1, touches.extras)
        highest = int(codes.max(initial=-1)) + 1
        if highest > self._seen.size:
            self._seen = np.zeros(2 * highest, np.int64)
        entity, unique = np.empty(codes.size, np.int32), np.empty(codes.size, np.int32)
        count = int(renumber(codes, self._seen, self._stamp, entity, unique))
        self._stamp += count
        columns = columns_of(unique[:count])
        names = [f"g{i}" for i in range(len(columns))]
        groups = pa.RecordBatch.from_arrays(columns, names=names)
        named = (groups, count, touches.extras)
        return Partial(touches.at, entity, *states, *named, codes=unique[:count])
