"""Leaves of all groups in one region of time, with the blocks above them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.history.arrays import BlockArrays, CellArrays
from windrow.history.cells import kernels
from windrow.history.cells.arena import Arena, Longs
from windrow.history.cells.kernels import SIZE
from windrow.history.state_kernels import REAL_STEP, VALID, WHOLE_STEP, clear_states
from windrow.windows.undo_log import UndoLog

__all__ = ["CellStore", "Shapes", "States", "empty_states"]

Shapes = NDArray[np.uint8]
Reals = NDArray[np.float64]
States = tuple[Longs, Reals]


def empty_states(count: int, measures: int) -> States:
    """States without rows."""
    whole = np.empty((VALID + WHOLE_STEP * measures, count), np.int64)
    real = np.empty((REAL_STEP * measures, count), np.float64)
    clear_states(whole, real, 0, count)
    return whole, real


class CellStore:
    """A state, a start and a shape for each cell; series by group code."""

    def __init__(self, measures: int, log: UndoLog | None = None) -> None:
        self.arena = Arena(
            [
                (VALID + WHOLE_STEP * measures, np.dtype(np.int64)),
                (REAL_STEP * measures, np.dtype(np.float64)),
                (1, np.dtype(np.uint8)),
            ],
            log,
        )
        self._runs = np.empty((2 * kernels.MAX_HEIGHTS, 3), np.int64)
        self._measures = measures
        self._places = np.zeros(kernels.MAX_HEIGHTS + 1, np.int64)
        self._capacity = -1
        self._low, self._high = 0, 0
        self._lay_blocks()

    @property
    def whole(self) -> Longs:
        """Starts, counts and extremes."""
        return self.arena.columns[0]

    @property
    def real(self) -> Reals:
        """Sums and second moments."""
        return self.arena.columns[1]

    @property
    def shape(self) -> Shapes:
        """Level, and whether the rows are gone."""
        shapes: Shapes = self.arena.columns[2][0]
        return shapes

    @property
    def arrays(self) -> CellArrays:
        """The cells, as kernels take them."""
        return CellArrays(self.arena.series, self.whole, self.real, self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        blocks = self._block_whole.nbytes + self._block_real.nbytes + self._stale.nbytes
        return self.arena.nbytes + blocks + self._places.nbytes + self._runs.nbytes

    def replace_tails(
        self, codes: Longs, keep: Longs, ends: Longs, whole: Longs, real: Reals, shape: Shapes
    ) -> None:
        """Series keep their first cells; those behind are ends[i] to ends[i + 1] of the states."""
        counts = np.diff(ends)
        self.arena.keep_tails(codes, keep)
        moved = self.arena.resize(codes, keep + counts)
        targets = self.arena.first(codes) + keep
        for column, fresh in zip(
            self.arena.columns, (whole, real, shape.reshape(1, -1)), strict=True
        ):
            kernels.move_rows(column, fresh, ends[:-1], targets, counts)
        if self.arena.capacity != self._capacity:
            self._lay_blocks()
            return
        self._mark(targets, targets + counts)
        if moved.size:
            firsts = self.arena.first(moved)
            self._mark(firsts, firsts + self.arena.series[SIZE, moved])

    def drop_heads(self, counts: Longs) -> None:
        """Take cells off the heads of all series."""
        self.arena.drop_heads(counts)
        if self.arena.capacity != self._capacity:
            self._lay_blocks()

    def forget_blocks(self) -> None:
        """The cells are not those that the blocks were built for: a step was rolled back."""
        self._capacity = -1

    def change_first_cells(self, codes: Longs) -> None:
        """The first cells of these series were changed where they are."""
        firsts = self.arena.first(codes)
        self._mark(firsts, firsts + 1)

    def blocks(self) -> BlockArrays:
        """The blocks, up to date."""
        if self.arena.capacity != self._capacity:
            self._lay_blocks()
        if self._low < self._high:
            kernels.refresh_blocks(
                self.whole, self.real, self._block_whole, self._block_real, self._places,
                self._heights, self._stale, self._low, self._high,
            )  # fmt: skip
            self._low = self._high = 0
        states = (self._block_whole, self._block_real)
        return BlockArrays(*states, self._places, self._heights, self._runs)

    def _mark(self, firsts: Longs, ends: Longs) -> None:
        if firsts.size == 0:
            return
        kernels.mark_places(self._stale, self._places, self._heights, firsts, ends)
        low, high = int(firsts.min()), int(ends.max())
        if self._low < self._high:
            low, high = min(low, self._low), max(high, self._high)
        self._low, self._high = low, high

    def _lay_blocks(self) -> None:
        """Blocks for the columns as they are now, all out of date."""
        capacity, self._capacity = self.arena.capacity, -1
        self._heights = int(kernels.height_places(capacity, self._places))
        total = int(self._places[self._heights])
        self._block_whole, self._block_real = empty_states(total, self._measures)
        self._stale = np.ones(total, np.uint8)
        self._low, self._high = 0, capacity
        self._capacity = capacity  # at last: until then they are not laid
