"""What an aggregate puts out: the state of every group at each instant at which it changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.joins import kernels
from windrow.joins.lanes import LaneLayout, Matrix, Vector
from windrow.windows.codes import Codes

__all__ = ["OutputRoom", "Touches"]

SMALLEST_OUTPUT = 1024


@dataclass(frozen=True)
class Touches:
    """Rows in time order; groups by code. A count of 0 says that the group is gone."""

    at: Vector
    group: Codes
    count: Vector
    lanes: Matrix
    layout: LaneLayout


class OutputRoom:
    """Arrays that kernels write touches into, and `control`, which they keep their place in."""

    def __init__(self) -> None:
        self.control = np.zeros(5, np.int64)
        self.control[kernels.PENDING_AT] = np.iinfo(np.int64).min
        self.control[kernels.SERIAL] = 1
        self.at = np.empty(SMALLEST_OUTPUT, np.int64)
        self.group = np.empty(SMALLEST_OUTPUT, np.int32)
        self.count = np.empty(SMALLEST_OUTPUT, np.int64)
        self.lanes = np.empty((SMALLEST_OUTPUT, 0), np.int64)

    def fit(self, lane_count: int) -> None:
        """Have this many lanes; must be empty."""
        if self.lanes.shape[1] != lane_count:
            self.lanes = np.empty((self.at.size, lane_count), np.int64)

    def grow(self) -> None:
        """Have twice the room, at least for everything that is touched."""
        used = int(self.control[kernels.USED])
        size = max(2 * self.at.size, used + int(self.control[kernels.TOUCHED]))
        self.at = _grown(self.at, used, size)
        self.group = _grown(self.group, used, size)
        self.count = _grown(self.count, used, size)
        self.lanes = _grown(self.lanes, used, size)

    def take(self, layout: LaneLayout) -> Touches:
        """What was written since the last call, copied out of the room."""
        used = int(self.control[kernels.USED])
        self.control[kernels.USED] = 0
        return Touches(
            self.at[:used].copy(),
            self.group[:used].copy(),
            self.count[:used].copy(),
            self.lanes[:used].copy(),
            layout,
        )


def _grown(array: NDArray[Any], used: int, size: int) -> NDArray[Any]:
    out = np.empty((size, *array.shape[1:]), array.dtype)
    out[:used] = array[:used]
    return out
