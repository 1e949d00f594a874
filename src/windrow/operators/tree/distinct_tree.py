"""One COUNT(DISTINCT) over a star of windows: its state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import Vector
from windrow.operators.tree import distinct_kernels
from windrow.operators.tree.code_queues import CodeQueues
from windrow.operators.tree.extremes_tree import ExtremesTree
from windrow.operators.tree.linear_kernels import gather_codes
from windrow.operators.tree.linear_tree import NOWHERE
from windrow.operators.tree.structure import TreeShape
from windrow.operators.tree.unfolded import UnfoldedStructure
from windrow.windows.buffer import ColumnWindow
from windrow.windows.codes import NO_CODE, Codes
from windrow.windows.growing import enlarged, enlarging_bytes
from windrow.windows.window import EventColumns

__all__ = ["DistinctTree"]


class DistinctTree(ExtremesTree):
    """A tally of values; second_word: what holds their codes, NO_CODE for the row's own code."""

    def __init__(self, shape: TreeShape, second_word: int, chunk: int) -> None:
        super().__init__(shape, 0, 1, NO_CODE, chunk)
        self.structure: UnfoldedStructure = UnfoldedStructure(shape)
        self.queues = CodeQueues()
        self._second_word = second_word
        (self._value_source,) = set(shape.identities[shape.root]) - {self._key_source}
        self._rows = np.zeros(0, np.int64)
        self._live_rows = np.zeros(0, np.int32)
        self._second = np.empty(self.cells.size, np.int32)
        self._tally, self._last_out = np.zeros(1, np.int64), np.full(1, NOWHERE, np.int64)

    def reserve(self, _groups: int, _most_groups: int) -> None:
        """Reserve space for codes of keys and values."""
        keys, values = self._capacities(self.structure.capacity)
        self._rows = enlarged(self._rows, self.structure.nodes * keys)
        self._live_rows = enlarged(self._live_rows, values)
        if self.structure.nodes > 1:
            self.queues.reserve(keys)

    def growth_bytes(self, rows: int, capacity: Mapping[int, int], _groups: int) -> int:
        """Peak of additional bytes while so many rows come; capacity: of sources, and of groups."""
        keys, values = self._capacities(capacity)
        more = enlarging_bytes((self._rows,), self.structure.nodes * keys)
        more += enlarging_bytes((self._live_rows,), values)
        return more + (self.queues.growth_bytes(rows, keys) if self.structure.nodes > 1 else 0)

    def place_pairs(self, distinct: int, cells: Codes, pairs: Codes, capacity: int) -> None:
        """There are no cells of a value."""

    def read(
        self, input_index: int, first: int, size: int, rows: Vector, columns: ColumnWindow
    ) -> None:
        """The values of the root's next events."""
        if input_index == self.structure.shape.root:
            gather_codes(first, size, rows, columns.codes_in(self._second_word), self._second)

    def apply(self, size: int, order: NDArray[np.int32], events: EventColumns) -> None:
        """Run merged events."""
        self.room.reserve(size + 1)
        shape, own = self.structure.shape, (events.at, events.sign, self.cells)
        nodes = (0,) * self.structure.nodes
        head = (size, order, self._shift, own, self._second, nodes, shape.root)
        done = 0
        while True:
            state = (self._rows, self._live_rows, self.queues.arrays, self._tally, self._last_out)
            done = distinct_kernels.apply_distinct(done, *head, *state, self.room.arrays)
            if done == size:
                return
            self.queues.grow()

    @property
    def nbytes(self) -> int:
        """Bytes of counts and queues."""
        return super().nbytes + self._rows.nbytes + self._live_rows.nbytes + self.queues.nbytes

    @property
    def _key_source(self) -> int:
        return self.structure.first_source(self.structure.shape.root)

    def _capacities(self, capacity: Mapping[int, int]) -> tuple[int, int]:
        """What the codes of keys and of values are below."""
        return capacity.get(self._key_source, 1), capacity[self._value_source]
