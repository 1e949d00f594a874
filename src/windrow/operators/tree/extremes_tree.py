"""A view tree for the extremes and different values of its root input: its state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.operators.extremes.arena import HeapArena
from windrow.operators.extremes.kernels import move_queues
from windrow.operators.lanes import LaneLayout, Vector
from windrow.operators.touches import OutputRoom, Touches
from windrow.operators.tree import extremes_kernels
from windrow.operators.tree.linear_tree import NOWHERE
from windrow.operators.tree.structure import TreeShape, TreeStructure
from windrow.windows.buffer import ColumnWindow
from windrow.windows.codes import NO_CODE, Codes
from windrow.windows.kernels import EMPTY
from windrow.windows.window import EventColumns

__all__ = ["ExtremesTree"]

_NO_LANES = LaneLayout(((),))
SMALLEST_RING = 64


class ExtremesTree:
    """Ranks and tallies per group.

    from_value: the number of the root's value that holds the first rank. slot_value: the one that
    holds the row's slot; NO_CODE where rows leave in order of arrival.
    """

    def __init__(
        self,
        shape: TreeShape,
        extremes: int,
        distincts: int,
        from_value: int,
        slot_value: int,
        chunk: int,
    ) -> None:
        self.structure = TreeStructure(shape)
        self.room = OutputRoom()
        self.extremes, self.distincts = extremes, distincts
        self._from_value, self._slot_value = from_value, slot_value
        self._shift = chunk.bit_length() - 1
        size = chunk * len(shape.parents)
        self.cells = np.empty(size, np.int32)
        self._number = np.zeros(size, np.int64)
        self._rank = np.zeros((size, extremes), np.int64)
        self._present = np.zeros((size, extremes), np.uint8)
        self._rows_of_cell = self._view = np.zeros(0, np.int64)
        self._is_live = self._is_listed = np.zeros(0, np.bool_)
        self._head = self._tail = self._group_root = np.zeros(0, np.int64)
        self._pair_of_cell = np.zeros(0, np.int64)
        self._live_cells = np.zeros((distincts, 0), np.int64)
        self._tally = self._last_out = np.zeros(0, np.int64)
        self._span = np.zeros(3, np.int64)
        self._ranks = np.zeros(SMALLEST_RING, np.int64)
        self._links = np.zeros((SMALLEST_RING, 2), np.int32)
        self._row_heap, self._heap = HeapArena(), HeapArena()
        self._most_groups = 1
        self.room.fit(self.width)

    def reserve(self, groups: int, most_groups: int) -> None:
        """Make room for the structure's cells and codes, and for groups; so many may be live."""
        structure = self.structure
        cells, places = structure.cell_capacity, structure.nodes * structure.cell_capacity
        self._rows_of_cell = _grown(self._rows_of_cell, places, 0)
        self._view = _grown(self._view, structure.nodes * structure.code_capacity, 0)
        self._is_live = _flags(self._is_live, cells)
        self._is_listed = _flags(self._is_listed, cells * self.extremes)
        self._head = _grown(self._head, cells * self.extremes, EMPTY)
        self._tail = _grown(self._tail, cells * self.extremes, EMPTY)
        self._pair_of_cell = _grown(self._pair_of_cell, cells * self.distincts, NO_CODE)
        self._heap.reserve(cells * self.extremes)
        self._group_root = _grown(self._group_root, groups * self.extremes, EMPTY)
        self._tally = _grown(self._tally, groups * self.distincts, 0)
        self._last_out = _grown(self._last_out, groups, NOWHERE)
        self._most_groups = most_groups

    def place_pairs(self, distinct: int, cells: Codes, pairs: Codes, capacity: int) -> None:
        """Say of which group and value (NO_CODE: NULL) cells are; all pairs are below capacity."""
        self._pair_of_cell[self.distincts * cells.astype(np.int64) + distinct] = pairs
        if capacity > self._live_cells.shape[1]:
            more = np.zeros((self.distincts, capacity - self._live_cells.shape[1]), np.int64)
            self._live_cells = np.concatenate([self._live_cells, more], axis=1)

    def reserve_slots(self, slots: int) -> None:
        """Have room for rows with slots below this."""
        self._row_heap.reserve(slots * self.extremes)

    def read(self, side: int, first: int, size: int, rows: Vector, columns: ColumnWindow) -> None:
        """Number and ranks of a side's next events."""
        if side != self.structure.shape.root or not self.extremes:
            return
        whence = columns.base if self._slot_value == NO_CODE else ~self._slot_value
        extremes_kernels.gather_ranks(
            first, size, rows, columns.values, columns.valid, self._from_value, whence,
            self._number, self._rank, self._present,
        )  # fmt: skip

    def apply(self, size: int, order: NDArray[np.int32], events: EventColumns) -> None:
        """Run merged events."""
        self.room.reserve(size + self._most_groups)
        done = 0
        while True:
            done = extremes_kernels.apply_extremes(
                done, size, order, self._shift, events.at, events.sign, self.cells,
                self._number, self._rank, self._present, self._slot_value == NO_CODE,
                *self._tree(), *self._best(), *self._output(),
            )  # fmt: skip
            if done == size:
                return
            if self._span[extremes_kernels.TOO_SHORT]:
                self._lengthen()
            else:
                self.room.reserve(self.room.at.size + self._most_groups)

    def take(self, until: int) -> Touches:
        """The changes of extras that are due up to `until`."""
        touches = self.room.take(_NO_LANES, until)
        none = np.empty((touches.at.size, 0), np.int64)
        return Touches(touches.at, touches.group, touches.count, none, _NO_LANES, touches.lanes)

    def _lengthen(self) -> None:
        """Double the ring of queues."""
        size = 2 * self._ranks.size
        ranks, links = np.zeros(size, np.int64), np.zeros((size, 2), np.int32)
        oldest, after = (
            int(self._span[i]) * self.extremes
            for i in (extremes_kernels.OLDEST, extremes_kernels.NEXT)
        )
        move_queues(oldest, after, self._head, self._tail, self._ranks, self._links, ranks, links)
        self._ranks, self._links = ranks, links
        self._span[extremes_kernels.TOO_SHORT] = 0

    @property
    def width(self) -> int:
        """Extras of a group: tallies, ranks, and whether there is one."""
        return self.distincts + 2 * self.extremes

    @property
    def nbytes(self) -> int:
        """Bytes of the tree, its queues and heaps."""
        arrays = (
            *(
                self._rows_of_cell,
                self._view,
                self._is_live,
                self._is_listed,
                self._head,
                self._tail,
            ),
            *(self._group_root, self._pair_of_cell, self._live_cells, self._tally),
            *(self._last_out, self._ranks, self._links),
        )
        held = sum(array.nbytes for array in arrays)
        return held + self._row_heap.nbytes + self._heap.nbytes + self.structure.nbytes

    def _tree(self) -> tuple[Any, ...]:
        tree = self.structure
        shape = (tree.parent, tree.child_from, tree.children, self._rows_of_cell, self._view)
        lists = (tree.first_cell, tree.next_cell, tree.previous_cell, tree.group_of_cell)
        return (*shape, tree.up_of_cell, tree.down_of_cell, *lists)

    def _best(self) -> tuple[Any, ...]:
        queue = (self._span, self._head, self._tail, self._ranks, self._links)
        heaps = (self._row_heap.heap, self._is_listed, self._heap.heap, self._group_root)
        pairs = (self._pair_of_cell, self._live_cells, self._tally)
        return (self.extremes, self.distincts, self._is_live, *queue, *heaps, *pairs)

    def _output(self) -> tuple[Any, ...]:
        room = self.room
        output = (room.control, room.at, room.group, room.lanes)
        return (self._most_groups, self._last_out, *output)


def _grown(array: Vector, size: int, fill: int) -> Vector:
    if size <= array.size:
        return array
    return np.concatenate([array, np.full(size - array.size, fill, np.int64)])


def _flags(array: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    if size <= array.size:
        return array
    return np.concatenate([array, np.zeros(size - array.size, np.bool_)])
