"""Aggregates over an acyclic join of windows: merged events go through one view tree or several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.operators.group_updates import GroupUpdates
from windrow.operators.lanes import Matrix
from windrow.operators.tree import extremes_kernels, linear_kernels
from windrow.operators.tree.extremes_tree import ExtremesTree
from windrow.operators.tree.linear_tree import LinearTree
from windrow.operators.tree.ranked_star import RankedStar
from windrow.windows.codes import NO_CODE, Codes
from windrow.windows.window import EventColumns, Window

__all__ = ["CHUNK", "TreeAggregate"]

# Events of an input are worked on in pieces that stay in the cache; a power of two.
CHUNK = 8192


class TreeAggregate:
    """The first tree's cells are the codes of the windows' rows.

    cell_values: for every further tree and input the number of the value that holds the cell,
    NO_CODE where it is that of the first tree. has_cells: whether rows are in several cells.
    """

    def __init__(
        self,
        windows: Sequence[Window],
        linear: LinearTree,
        extremes: Sequence[ExtremesTree],
        cell_values: Sequence[Sequence[int]],
        *,
        has_cells: bool,
    ) -> None:
        self._windows = windows
        self._linear, self._extremes = linear, extremes
        self._cell_values, self._has_cells = cell_values, has_cells
        size = CHUNK * len(windows)
        self._events = EventColumns(size)
        self._order = np.empty(size, np.int32)
        self._ranked = RankedStar.of(linear, extremes)
        # The extras of every group as they were last put out, by tree.
        self._current = [np.zeros((0, tree.width), np.int64) for tree in extremes]

    @property
    def trees(self) -> list[LinearTree | ExtremesTree]:
        """All trees, in the order of their cells."""
        return [self._linear, *self._extremes]

    def advance(self, until: int, grid_us: int) -> GroupUpdates:
        """Run the windows up to and including `until`; updates at multiples of the grid.

        Extras: tallies, words and flags of each tree in turn.
        """
        for window in self._windows:
            window.open(until)
        if self._ranked is not None:
            if self._ranked.run(self._windows, until, grid_us):
                return self._ranked.drain(until)
            extras = self._ranked.leave()
            if extras is not None:
                self._current[0] = extras
        if self._extremes or not self._linear.run_plain(self._windows, until, grid_us):
            self._run(until, grid_us)
        return self._updates(until)

    def put_out_all(self, at: int) -> None:
        """Put out every live group at this later instant, for output on a grid after a rebuild."""
        self._linear.put_out_all(at)

    def waiting_groups(self) -> Codes:
        """The groups of updates that are not due yet."""
        room = self._linear.room
        return np.unique(room.group[: room.used])

    @property
    def nbytes(self) -> int:
        """Bytes of all trees."""
        return sum(tree.nbytes for tree in self.trees)

    def _run(self, until: int, grid_us: int) -> None:
        inputs = len(self._windows)
        position = np.arange(inputs, dtype=np.int64) * CHUNK
        stop = position.copy()
        has_more = np.ones(inputs, np.bool_)
        while True:
            for input_index, window in enumerate(self._windows):
                if position[input_index] == stop[input_index] and has_more[input_index]:
                    first = input_index * CHUNK
                    size = window.fill(self._events, first, CHUNK, until, grid_us)
                    self._read(input_index, first, size, window)
                    position[input_index], stop[input_index] = first, first + size
                    has_more[input_index] = size == CHUNK
            count = linear_kernels.merge_inputs(
                self._events.at, position, stop, has_more, (0,) * inputs, self._order
            )
            if count == 0 and not has_more.any():
                return
            for tree in self.trees:
                tree.apply(int(count), self._order, self._events)

    def _read(self, input_index: int, first: int, size: int, window: Window) -> None:
        columns, rows = window.columns, self._events.row
        for index, tree in enumerate(self.trees):
            place = self._cell_values[index - 1][input_index] if index else NO_CODE
            linear_kernels.gather_codes(first, size, rows, columns.codes_in(place), tree.cells)
            if not self._has_cells:
                filled = tree.cells[first : first + size]
                filled[:] = np.where(filled == NO_CODE, NO_CODE, 0)
            tree.read(input_index, first, size, rows, columns)

    def _updates(self, until: int) -> GroupUpdates:
        updates = self._linear.drain(until)
        if not self._extremes:
            return updates
        highest = int(updates.group.max(initial=-1)) + 1
        extras = np.zeros((updates.at.size, sum(tree.width for tree in self._extremes)), np.int64)
        first = 0
        for index, tree in enumerate(self._extremes):
            changes = tree.drain(until)
            self._current[index] = _grown(self._current[index], highest)
            extremes_kernels.lay_extras(
                updates.at, updates.group, changes.at, changes.group, changes.extras,
                self._current[index], extras, first,
            )  # fmt: skip
            first += tree.width
        states = (updates.count, updates.lanes, updates.layout)
        return GroupUpdates(updates.at, updates.group, *states, extras)


def _grown(array: Matrix, size: int) -> Matrix:
    if size <= array.shape[0]:
        return array
    out = np.zeros((2 * size, array.shape[1]), np.int64)
    out[: array.shape[0]] = array
    return out
