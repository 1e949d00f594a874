"""Group updates: the state of every group at each instant at which it changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.operators.keyed import kernels
from windrow.operators.lanes import LaneLayout, Matrix, Vector
from windrow.windows.codes import Codes

__all__ = ["NO_EXTRAS", "GroupUpdates", "OutputArrays", "OutputRoom"]

SMALLEST_OUTPUT = 1024
# Arrays of which all but such a part is written are given away instead of copied.
FULL_PARTS = 8
# Arrays of so many times what stays in them are larger than they need to be.
SPARE_PARTS = 4
NO_EXTRAS: Matrix = np.empty((0, 0), np.int64)


@dataclass(frozen=True)
class GroupUpdates:
    """Rows in time order; groups by code. A count of 0 says that the group is gone.

    extras: numbers of different values, then the ranks of extremes, then whether there is one.
    """

    at: Vector
    group: Codes
    count: Vector
    lanes: Matrix
    layout: LaneLayout
    extras: Matrix = field(default_factory=lambda: NO_EXTRAS)


class OutputArrays(NamedTuple):
    """What kernels write group updates into; `control` is where they keep their place."""

    control: Vector
    at: Vector
    group: Codes
    row_count: Vector
    lanes: Matrix


class OutputRoom:
    """Group updates on their way out: arrays that grow as kernels need them."""

    def __init__(self) -> None:
        # Groups begin with place -1: before every place that a kernel gives.
        self.arrays = _room(np.zeros(5, np.int64), SMALLEST_OUTPUT, 0)
        self.arrays.control[kernels.NOW] = np.iinfo(np.int64).min
        self._last = 0  # how many updates were taken last: about as many may come next

    @property
    def control(self) -> Vector:
        """The place of the next update, and what kernels need to know of the last ones."""
        return self.arrays.control

    @property
    def at(self) -> Vector:
        """When each update was."""
        return self.arrays.at

    @property
    def group(self) -> Codes:
        """Whose state it is."""
        return self.arrays.group

    @property
    def count(self) -> Vector:
        """How many rows are behind it."""
        return self.arrays.row_count

    @property
    def lanes(self) -> Matrix:
        """Its sums."""
        return self.arrays.lanes

    def fit(self, lane_count: int) -> None:
        """Have this many lanes."""
        arrays = self.arrays
        if arrays.lanes.shape[1] != lane_count:
            lanes = np.empty((arrays.at.size, lane_count), np.int64)
            self.arrays = arrays._replace(lanes=lanes)

    def reserve(self, more: int) -> None:
        """Reserve space for this many more rows, and one scratch row."""
        arrays = self.arrays
        control = arrays.control
        used = int(control[kernels.USED] - control[kernels.FIRST])
        if used + more < arrays.at.size:
            return
        size = max(2 * arrays.at.size, used + more + 1, self._last + 1)
        self.arrays = OutputArrays(control, *(_grown(each, used, size) for each in arrays[1:]))

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

    def drain(self, layout: LaneLayout, until: int) -> GroupUpdates:
        """What was written for instants up to `until`; later ones stay, to be written over."""
        control, columns = self.control, self._columns
        first, used = int(control[kernels.FIRST]), int(control[kernels.USED])
        done = used - first
        if control[kernels.NOW] > until:
            done = int(control[kernels.NOW_FROM]) - first
        left, size = used - first - done, self.at.size
        taken = [column[:done] for column in columns]
        gives_away = size > max(SMALLEST_OUTPUT, SPARE_PARTS * left)
        if not gives_away or FULL_PARTS * done < (FULL_PARTS - 1) * size:
            taken = [column.copy() for column in taken]
        if gives_away:
            # Room for many is not held until many come again.
            self.arrays = _room(control, max(SMALLEST_OUTPUT, 2 * left), self.lanes.shape[1])
            self._last = done
        if left:
            for column, rest in zip(self._columns, columns, strict=True):
                column[:left] = rest[done : done + left].copy()
        # What is taken is not written over, though a later step may be of the same instant.
        control[kernels.FIRST] = first + done
        control[kernels.NOW_FROM] = max(control[kernels.NOW_FROM], first + done)
        at, group, count, lanes = taken
        return GroupUpdates(at, group, count, lanes, layout)

    @property
    def _columns(self) -> list[NDArray[Any]]:
        return [self.at, self.group, self.count, self.lanes]


def _room(control: Vector, size: int, lane_count: int) -> OutputArrays:
    at, count = np.empty(size, np.int64), np.empty(size, np.int64)
    lanes = np.empty((size, lane_count), np.int64)
    return OutputArrays(control, at, np.empty(size, np.int32), count, lanes)


def _grown(array: NDArray[Any], used: int, size: int) -> NDArray[Any]:
    out = np.empty((size, *array.shape[1:]), array.dtype)
    out[:used] = array[:used]
    return out
