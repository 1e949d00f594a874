"""A chain of three windows whose joined rows are counted: its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import Vector
from windrow.operators.operator import NeedsCellsError
from windrow.operators.tree import chain_kernels
from windrow.operators.tree.arrays import SumArrays, TermEvents
from windrow.operators.tree.code_queues import CodeQueues
from windrow.operators.tree.linear_kernels import gather_codes
from windrow.operators.tree.linear_tree import NOWHERE, LinearTree
from windrow.operators.tree.structure import TreeShape
from windrow.operators.tree.terms import TermLayout
from windrow.operators.tree.unfolded import UnfoldedStructure
from windrow.windows.buffer import ColumnWindow
from windrow.windows.growing import enlarged, enlarging_bytes
from windrow.windows.window import EventColumns, Window

__all__ = ["ChainTree"]


class ChainTree(LinearTree):
    """COUNT(*) of a chain; second_word: the middle's own word of the key towards the end."""

    def __init__(
        self,
        shape: TreeShape,
        layout: TermLayout,
        kinds: tuple[tuple[int, ...], ...],
        second_word: int,
        chunk: int,
    ) -> None:
        super().__init__(shape, layout, kinds, chunk)
        nodes = shape.chain
        assert nodes is not None
        self.nodes, self._second_word = nodes, second_word
        self.structure: UnfoldedStructure = UnfoldedStructure(shape)
        self.queues = CodeQueues()
        self._ends = np.zeros((0, 2), np.int64)
        self._far = np.zeros(0, np.int64)
        self._second = np.empty(self.cells.size, np.int32)

    def reserve(self, groups: int, _most_groups: int) -> None:
        """Reserve space for codes of keys."""
        near, far = self._capacities(self.structure.capacity)
        self._ends, self._far = enlarged(self._ends, near), enlarged(self._far, far)
        self.queues.reserve(far)
        payload, view, rows_of_cell, group_terms, last_out = self.sums
        self.sums = SumArrays(
            payload,
            view,
            rows_of_cell,
            enlarged(group_terms, groups),
            enlarged(last_out, groups, NOWHERE),
        )

    def growth_bytes(self, rows: int, capacity: Mapping[int, int], groups: int) -> int:
        """Peak of additional bytes while so many rows come; capacity: of sources, and of groups."""
        near, far = self._capacities(capacity)
        more = enlarging_bytes((self._ends,), near) + enlarging_bytes((self._far,), far)
        by_group = (self.sums.group_terms, self.sums.last_out)
        return more + self.queues.growth_bytes(rows, far) + enlarging_bytes(by_group, groups)

    def change_layout(self, layout: TermLayout) -> None:
        """Counts are words here: where they do not suffice, the tree must have cells."""
        if layout.is_wide:
            raise NeedsCellsError
        super().change_layout(layout)

    def run_plain(self, _windows: Sequence[Window], _until: int, _grid_us: int) -> bool:
        """A chain is run by events."""
        return False

    def read(
        self, input_index: int, first: int, size: int, rows: Vector, columns: ColumnWindow
    ) -> None:
        """The second keys of the middle's next events."""
        if input_index == self.nodes[1]:
            gather_codes(first, size, rows, columns.codes_in(self._second_word), self._second)

    def apply(self, size: int, order: NDArray[np.int32], events: EventColumns) -> None:
        """Run merged events."""
        self.room.reserve(size + 1)
        weighed = TermEvents(events.at, events.sign, self.cells, self._share)
        head = (size, order, self._shift, weighed, self._second, self.nodes)
        sums, done = self.sums, 0
        while True:
            state = (self._ends, self._far, self.queues.arrays, sums.group_terms, sums.last_out)
            done = chain_kernels.apply_chain(done, *head, *state, self.room.arrays)
            if done == size:
                return
            self.queues.grow()

    @property
    def nbytes(self) -> int:
        """Bytes of counts and queues."""
        return super().nbytes + self._ends.nbytes + self._far.nbytes + self.queues.nbytes

    def _capacities(self, capacity: Mapping[int, int]) -> tuple[int, int]:
        """What the keys of root and middle, and those of middle and end, are below."""
        edges = self.structure.shape.edges
        return capacity[edges[self.nodes[1]]], capacity[edges[self.nodes[2]]]
