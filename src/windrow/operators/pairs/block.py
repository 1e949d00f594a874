"""A block of joined rows, as the algorithms take it, and the events that it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import Matrix
from windrow.operators.pairs.arrays import MergedArrays
from windrow.windows.codes import Codes

__all__ = ["JoinedRows", "MergedEvents"]


class MergedEvents:
    """Events of all windows in time order: when, of which input, which slot, in (1) or out (-1)."""

    def __init__(self, size: int) -> None:
        self.arrays = MergedArrays(*(np.empty(size, np.int64) for _ in range(4)))
        self.at, self.input, self.slot, self.sign = self.arrays
        self.count = 0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(column.nbytes for column in self.arrays)


@dataclass(frozen=True)
class JoinedRows:
    """Joined rows that fulfil all conditions, in the order of their events.

    group: none where there are no groups. words: what the measures sum, valid: per measure, no rows
    where all are. values: a code for each distinct, EMPTY for NULL. rank, present: per extreme.
    """

    event: NDArray[np.int32]
    slot: NDArray[np.int32]
    group: Codes
    words: Matrix
    valid: NDArray[np.uint8]
    values: NDArray[np.int32]
    rank: Matrix
    present: NDArray[np.uint8]

    @property
    def count(self) -> int:
        """Joined rows."""
        return self.event.size
