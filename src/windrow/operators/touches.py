"""What an aggregate puts out: the state of every group at each instant at which it changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.operators.keyed import kernels
from windrow.operators.lanes import LaneLayout, Matrix, Vector
from windrow.windows.codes import Codes

__all__ = ["NO_EXTRAS", "OutputRoom", "Touches"]

SMALLEST_OUTPUT = 1024
NO_EXTRAS: Matrix = np.empty((0, 0), np.int64)


@dataclass(frozen=True)
class Touches:
    """Rows in time order; groups by code. A count of 0 says that the group is gone.

    extras: numbers of different values, then the ranks of extremes, then whether there is one.
    """

    at: Vector
    group: Codes
    count: Vector
    lanes: Matrix
    layout: LaneLayout
    extras: Matrix = field(default_factory=lambda: NO_EXTRAS)


class OutputRoom:
    """Arrays that kernels write touches into, and `control`, which they keep their place in."""

    def __init__(self) -> None:
        self.control = np.zeros(5, np.int64)
        self.control[kernels.NOW] = np.iinfo(np.int64).min
        # Groups begin with place -1: before every place that a kernel gives.
        self.at = np.empty(SMALLEST_OUTPUT, np.int64)
        self.group = np.empty(SMALLEST_OUTPUT, np.int32)
        self.count = np.empty(SMALLEST_OUTPUT, np.int64)
        self.lanes = np.empty((SMALLEST_OUTPUT, 0), np.int64)

    def fit(self, lane_count: int) -> None:
        """Have this many lanes."""
        if self.lanes.shape[1] != lane_count:
            self.lanes = np.empty((self.at.size, lane_count), np.int64)

    def reserve(self, more: int) -> None:
        """Have room for so many rows more than there are, and one that is written in vain."""
        used = self.used
        if used + more < self.at.size:
            return
        size = max(2 * self.at.size, used + more + 1)
        self.at = _grown(self.at, used, size)
        self.group = _grown(self.group, used, size)
        self.count = _grown(self.count, used, size)
        self.lanes = _grown(self.lanes, used, size)

    def add_all(self, live: Codes, last_out: Vector, at: int) -> tuple[Codes, slice]:
        """Rows for groups at a later instant, but for those that have one at it already.

        Returns these groups and the rows, in which the caller writes their states.
        """
        control = self.control
        if control[kernels.NOW] == at:
            live = live[last_out[live] < control[kernels.NOW_FROM]]
        else:
            control[kernels.NOW] = at
            control[kernels.NOW_FROM] = control[kernels.USED]
        self.reserve(live.size)
        rows = slice(self.used, self.used + live.size)
        self.at[rows], self.group[rows] = at, live
        last_out[live] = control[kernels.USED] + np.arange(live.size)
        control[kernels.USED] += live.size
        return live, rows

    @property
    def used(self) -> int:
        """Rows written."""
        return int(self.control[kernels.USED] - self.control[kernels.FIRST])

    def take(self, layout: LaneLayout, until: int) -> Touches:
        """What was written for instants up to `until`; later ones stay, to be written over."""
        used = self.used
        done = used
        if self.control[kernels.NOW] > until:
            done = int(self.control[kernels.NOW_FROM] - self.control[kernels.FIRST])
        columns: list[NDArray[Any]] = [self.at, self.group, self.count, self.lanes]
        at, group, count, lanes = (column[:done].copy() for column in columns)
        touches = Touches(at, group, count, lanes, layout)
        for column in columns:
            column[: used - done] = column[done:used].copy()
        self.control[kernels.FIRST] += done
        # What is taken is not written over, though a later step may be of the same instant.
        first = self.control[kernels.FIRST]
        self.control[kernels.NOW_FROM] = max(self.control[kernels.NOW_FROM], first)
        return touches


def _grown(array: NDArray[Any], used: int, size: int) -> NDArray[Any]:
    out = np.empty((size, *array.shape[1:]), array.dtype)
    out[:used] = array[:used]
    return out
