"""What arrived, counted where the rows are: cells of panes and groups that a profile takes in.

Rows that are partitioned over several shards are counted in each, and only cells travel. They
say of a pane what rows in it would have said, but for squares about different anchors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.governor.error_bounds import kernels
from windrow.governor.error_bounds.intervals import Floats

__all__ = ["PANES_A_RANGE", "ArrivalCells", "cells_of", "first_pane_us"]

Instants = NDArray[np.int64]
Codes = NDArray[np.int32]

PANES_A_RANGE = 256
# Where panes fit to EVERY, they are between so many.
FEW_PANES = 64
MANY_PANES = 512


@dataclass(frozen=True)
class ArrivalCells:
    """The number of the pane, the group and the lanes of each cell, in the order of panes.

    earliest_us: the earliest time of all rows; of no meaning where there are no cells.
    """

    pane_us: int
    earliest_us: int
    panes: Instants
    groups: Codes
    lanes: Floats

    def until(self, clock_us: int) -> tuple[ArrivalCells, ArrivalCells]:
        """The cells of panes that have begun by an instant, and the others."""
        count = int(np.searchsorted(self.panes, clock_us // self.pane_us, side="right"))
        parts = (slice(0, count), slice(count, None))
        first, rest = (
            ArrivalCells(
                self.pane_us, self.earliest_us, self.panes[p], self.groups[p], self.lanes[p]
            )
            for p in parts
        )
        return first, rest


def first_pane_us(range_us: int, every_us: int | None = None) -> int:
    """The width of panes that were not merged; where that can be, no edge cuts one at a tick.

    >>> first_pane_us(3600, 300), first_pane_us(25_600), first_pane_us(256, 1)
    (50, 100, 1)
    """
    if every_us:
        step = math.gcd(range_us, every_us)
        for part in range(max(1, -(-FEW_PANES * step // range_us)), PANES_A_RANGE + 1):
            if step % part == 0 and range_us <= MANY_PANES * (step // part):
                return step // part
    return -(-range_us // PANES_A_RANGE)


def cells_of(
    times: Instants, groups: Codes, values: Floats, valid: NDArray[np.uint8], pane_us: int
) -> ArrivalCells:
    """Rows in the order of arrival, counted; values and flags of validity: a row for each measure.

    >>> nothing = np.empty((0, 3)), np.empty((0, 3), np.uint8)
    >>> found = cells_of(np.array([5, 120, 7]), np.zeros(3, np.int32), *nothing, pane_us=100)
    >>> found.panes.tolist(), found.lanes[:, 0].tolist(), found.earliest_us
    ([0, 1], [2.0, 1.0], 5)
    """
    pairs = np.stack([times // pane_us, groups.astype(np.int64)], axis=1)
    distinct, cell = np.unique(pairs, axis=0, return_inverse=True)
    lane_count = kernels.MEASURES + kernels.MEASURE_LANES * values.shape[0]
    lanes = np.zeros((len(distinct), 1, lane_count))
    # Each cell is a pane of its own, one microsecond wide, in a ring that holds them all.
    with np.errstate(all="ignore"):
        kernels.add_rows(
            0, cell.reshape(-1).astype(np.int64), np.zeros(times.size, np.int32),
            np.ascontiguousarray(values), np.ascontiguousarray(valid),
            1, 0, lanes, np.zeros(len(distinct), np.int64),
        )  # fmt: skip
    return ArrivalCells(
        pane_us,
        int(times.min()) if times.size else 0,
        np.ascontiguousarray(distinct[:, 0]),
        distinct[:, 1].astype(np.int32),
        lanes[:, 0],
    )
