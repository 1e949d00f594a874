"""Aggregates over an acyclic join of windows: merged events go through one view tree or several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.joins.touches import Touches
from windrow.joins.tree import kernels
from windrow.joins.tree.linear_tree import LinearTree
from windrow.joins.tree.living_tree import LivingTree
from windrow.windows.codes import Codes
from windrow.windows.window import EventColumns, Window

__all__ = ["CHUNK", "TreeAggregate"]

# Events of a side are worked on in pieces that stay in the cache; a power of two.
CHUNK = 8192


class TreeAggregate:
    """The first tree's cells are the codes of the windows' rows.

    cell_values: for every further tree and side the number of the value that holds the cell.
    """

    def __init__(
        self,
        windows: Sequence[Window],
        linear: LinearTree | None,
        living: Sequence[LivingTree],
        cell_values: Sequence[Sequence[int]],
    ) -> None:
        self._windows = windows
        self._linear, self._living = linear, living
        self._cell_values = cell_values
        size = CHUNK * len(windows)
        self._events = EventColumns(size)
        self._order = np.empty(size, np.int32)
        self._place_of_group = np.zeros(0, np.int64)

    @property
    def trees(self) -> list[LinearTree | LivingTree]:
        """All trees, in the order of their cells."""
        first: list[LinearTree | LivingTree] = [] if self._linear is None else [self._linear]
        return [*first, *self._living]

    def advance(self, until: int, grid_us: int) -> Touches:
        """Run the windows up to and including `until`; touches at multiples of the grid.

        Extras: tallies, words and flags of each tree in turn.
        """
        for window in self._windows:
            window.open(until)
        for tree in self._living:
            tree.reserve_rows(self._windows[tree.structure.shape.root].columns)
        self._run(until, grid_us)
        return self._touches(until)

    def touch_all(self, at: int) -> None:
        """Put out every live group at this later instant, for output on a grid after a rebuild."""
        for tree in self.trees:
            tree.touch_all(at)

    def waiting_groups(self) -> Codes:
        """The groups of touches that are not due yet."""
        room = self.trees[0].room
        return np.unique(room.group[: room.used])

    @property
    def nbytes(self) -> int:
        """Bytes of all trees."""
        return sum(tree.nbytes for tree in self.trees)

    def _run(self, until: int, grid_us: int) -> None:
        sides = len(self._windows)
        position = np.arange(sides, dtype=np.int64) * CHUNK
        stop = position.copy()
        has_more = np.ones(sides, np.bool_)
        while True:
            for side, window in enumerate(self._windows):
                if position[side] == stop[side] and has_more[side]:
                    first = side * CHUNK
                    size = window.fill(self._events, first, CHUNK, until, grid_us)
                    self._read(side, first, size, window)
                    position[side], stop[side] = first, first + size
                    has_more[side] = size == CHUNK
            count = kernels.merge_sides(self._events.at, position, stop, has_more, self._order)
            if count == 0 and not has_more.any():
                return
            for tree in self.trees:
                tree.apply(int(count), self._order, self._events)

    def _read(self, side: int, first: int, size: int, window: Window) -> None:
        columns, rows = window.columns, self._events.row
        for index, tree in enumerate(self.trees):
            cells = columns.values[self._cell_values[index - 1][side]] if index else columns.codes
            kernels.gather_codes(first, size, rows, cells, tree.cells)
            tree.read(side, first, size, rows, columns)

    def _touches(self, until: int) -> Touches:
        first, *others = (tree.take(until) for tree in self.trees)
        if not self._living:
            return first
        size = first.at.size
        extras = [] if self._linear is not None else [first.extras]
        extras += [other.extras[self._matched(first, other)] for other in others]
        return Touches(
            first.at, first.group, first.count, first.lanes, first.layout,
            np.concatenate(extras, axis=1) if size else np.zeros((0, self._width), np.int64),
        )  # fmt: skip

    def _matched(self, first: Touches, other: Touches) -> Codes:
        highest = int(first.group.max(initial=-1)) + 1
        if highest > self._place_of_group.size:
            self._place_of_group = np.zeros(2 * highest, np.int64)
        order = np.empty(first.at.size, np.int32)
        assert other.at.size == first.at.size, "every tree touches the same groups"
        kernels.match_touches(
            first.at, first.group, other.at, other.group, self._place_of_group, order
        )
        return order

    @property
    def _width(self) -> int:
        return sum(tree.distincts + 2 * tree.extremes for tree in self._living)
