"""A view tree for the extremes and different values of its root input: its state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME
from windrow.operators.extremes import kernels
from windrow.operators.extremes.arena import empty_heap, grown_heap
from windrow.operators.group_updates import GroupUpdates, OutputRoom
from windrow.operators.lanes import LaneLayout, Matrix, Vector
from windrow.operators.tree import extremes_kernels
from windrow.operators.tree.arrays import ExtremeArrays, RankEvents
from windrow.operators.tree.linear_tree import NOWHERE
from windrow.operators.tree.structure import TreeShape, TreeStructure
from windrow.windows.buffer import ColumnWindow
from windrow.windows.codes import NO_CODE, Codes
from windrow.windows.growing import enlarged, enlarging_bytes, next_size
from windrow.windows.kernels import EMPTY
from windrow.windows.window import EventColumns

__all__ = ["ExtremesTree"]

_NO_LANES = LaneLayout(((),))


class ExtremesTree:
    """Ranks and tallies per group.

    The root's own words begin with the ranks; behind the last one are the links of queues.
    slot_word: the own word that holds the row's slot; NO_CODE where rows leave in order of arrival.
    """

    def __init__(
        self,
        shape: TreeShape,
        extremes: int,
        distincts: int,
        slot_word: int,
        chunk: int,
    ) -> None:
        self.structure = TreeStructure(shape)
        self.room = OutputRoom()
        self.extremes, self.distincts = extremes, distincts
        self._slot_word = slot_word
        self._shift = chunk.bit_length() - 1
        size = chunk * len(shape.parents)
        self.cells = np.empty(size, np.int32)
        self._number = np.zeros(size, np.int64)
        self._rank = np.zeros((size, extremes), np.int64)
        self._present = np.zeros((size, extremes), np.uint8)
        none, no_flags, no_heap = np.zeros(0, np.int64), np.zeros(0, np.bool_), empty_heap(0)
        self.state = ExtremeArrays(
            rows_of_cell=none,
            view=none,
            is_live=no_flags,
            head=none,
            tail=none,
            ranks=np.zeros((extremes, 0), np.int64),
            links=np.zeros((extremes, 0, 2), np.int32),
            base=0,
            row_heap=no_heap,
            is_listed=no_flags,
            heap=no_heap,
            group_root=none,
            pair_of_cell=none,
            live_cells=np.zeros((distincts, 0), np.int64),
            tally=none,
            last_out=none,
        )
        self._most_groups = 1
        self.room.fit(self.width)

    def reserve(self, groups: int, most_groups: int) -> None:
        """Reserve space for cells, codes and groups, of which at most `most_groups` are live."""
        structure, state = self.structure, self.state
        cells, places = structure.cell_capacity, structure.nodes * structure.cell_capacity
        self.state = state._replace(
            rows_of_cell=_grown(state.rows_of_cell, places, 0),
            view=_grown(state.view, structure.nodes * structure.code_capacity, 0),
            is_live=_flags(state.is_live, cells),
            is_listed=_flags(state.is_listed, cells * self.extremes),
            head=_grown(state.head, cells * self.extremes, EMPTY),
            tail=_grown(state.tail, cells * self.extremes, EMPTY),
            pair_of_cell=_grown(state.pair_of_cell, cells * self.distincts, NO_CODE),
            heap=grown_heap(state.heap, cells * self.extremes),
            group_root=_grown(state.group_root, groups * self.extremes, EMPTY),
            tally=_grown(state.tally, groups * self.distincts, 0),
            last_out=_grown(state.last_out, groups, NOWHERE),
        )
        self._most_groups = most_groups

    def growth_bytes(self, rows: int, capacity: Mapping[int, int], groups: int) -> int:
        """Peak of additional bytes while so many rows come; capacity: of sources, and of groups."""
        structure, state = self.structure, self.state
        cells, codes = structure.sizes_after(rows, capacity)
        more = structure.growth_bytes(rows, cells, codes)
        by_extreme = (state.is_listed, state.head, state.tail)
        more += enlarging_bytes((state.rows_of_cell,), structure.nodes * cells)
        more += enlarging_bytes((state.view,), structure.nodes * codes)
        more += enlarging_bytes((state.is_live,), cells)
        more += enlarging_bytes(by_extreme, cells * self.extremes)
        more += enlarging_bytes((state.pair_of_cell,), cells * self.distincts)
        more += enlarging_bytes((state.group_root,), groups * self.extremes)
        more += enlarging_bytes((state.tally,), groups * self.distincts)
        more += enlarging_bytes((state.last_out,), groups)
        members = next_size(state.heap.shape[0], cells * self.extremes)
        if cells * self.extremes > state.heap.shape[0]:
            more += enlarging_bytes((state.heap,), members)
        pairs = max(capacity.values(), default=1)
        if self.distincts and pairs > state.live_cells.shape[1]:
            more += self.distincts * pairs * state.live_cells.itemsize
        return more

    def place_pairs(self, distinct: int, cells: Codes, pairs: Codes, capacity: int) -> None:
        """Say of which group and value (NO_CODE: NULL) cells are; all pairs are below capacity."""
        pair_of_cell, live_cells = self.state.pair_of_cell, self.state.live_cells
        pair_of_cell[self.distincts * cells.astype(np.int64) + distinct] = pairs
        if capacity > live_cells.shape[1]:
            more = np.zeros((self.distincts, capacity - live_cells.shape[1]), np.int64)
            live_cells = np.concatenate([live_cells, more], axis=1)
            self.state = self.state._replace(live_cells=live_cells)

    def reserve_slots(self, slots: int) -> None:
        """Have room for rows with slots below this."""
        heap = grown_heap(self.state.row_heap, slots * self.extremes)
        self.state = self.state._replace(row_heap=heap)

    def slot_growth(self, slots: int) -> int:
        """Peak of additional bytes while there is made room for slots below this."""
        heap = self.state.row_heap
        if slots * self.extremes <= heap.shape[0]:
            return 0
        return enlarging_bytes((heap,), next_size(heap.shape[0], slots * self.extremes))

    def read(
        self, input_index: int, first: int, size: int, rows: Vector, columns: ColumnWindow
    ) -> None:
        """Number and ranks of an input's next events."""
        if input_index != self.structure.shape.root or not self.extremes:
            return
        whence = ~self._slot_word
        if self.leaves_in_order:
            whence = columns.base
            self.read_queues(columns)
        extremes_kernels.gather_ranks(
            first, size, rows, columns.own_words, columns.own_flags, whence,
            self._number, self._rank, self._present,
        )  # fmt: skip

    def read_queues(self, columns: ColumnWindow) -> None:
        """Have ranks and links where the root's rows are now."""
        words, count = columns.own_words, self.extremes
        links = words[count : 2 * count].view(np.int32)
        self.state = self.state._replace(
            ranks=words[:count],
            links=links.reshape(count, words.shape[1], 2),
            base=columns.base,
        )

    def apply(self, size: int, order: NDArray[np.int32], events: EventColumns) -> None:
        """Run merged events."""
        self.room.reserve(size + self._most_groups)
        ranked = RankEvents(
            events.at, events.sign, self.cells, self._number, self._rank, self._present
        )
        in_order, tree = self.leaves_in_order, self.structure.arrays
        done = 0
        while True:
            done = extremes_kernels.apply_extremes(
                done, size, order, self._shift, in_order, ranked, tree, self.state,
                self._most_groups, self.room.arrays,
            )  # fmt: skip
            if done == size:
                return
            self.room.reserve(self.room.at.size + self._most_groups)

    def drain(self, until: int) -> GroupUpdates:
        """The changes of extras that are due up to `until`."""
        updates = self.room.drain(_NO_LANES, until)
        none = np.empty((updates.at.size, 0), np.int64)
        return GroupUpdates(
            updates.at, updates.group, updates.count, none, _NO_LANES, updates.lanes
        )

    def take_counts(self, counts: Vector) -> None:
        """Cells have so many rows (place nodes * cell + node): let all that follows be so.

        For a tree of two nodes whose cells are the codes of one key, and only for that.
        """
        structure, state, nodes = self.structure, self.state, self.structure.nodes
        root = structure.shape.root
        child = 1 - root
        size = min(counts.size, state.rows_of_cell.size, state.view.size)
        own, other = counts[root:size:nodes], counts[child:size:nodes]
        state.rows_of_cell[:size] = counts[:size]
        state.view[child:size:nodes] = other != 0
        state.is_live[: own.size] = (own != 0) & (other != 0)
        arrays, cells = structure.arrays, np.arange(own.size)
        arrays.first_cell[child:size:nodes] = np.where(own != 0, cells, NO_CODE)
        arrays.next_cell[child::nodes] = NO_CODE
        arrays.previous_cell[child::nodes] = NO_CODE

    def extras_of(self, group: int) -> Matrix:
        """The extremes of a group as they are, in one row: words, then whether there are any."""
        tops = self.state.group_root[self.extremes * group :][: self.extremes]
        words = np.where(tops != EMPTY, self.state.heap[tops, kernels.VALUE], 0)
        return np.concatenate([words, tops != EMPTY])[None, :]

    def forget_changes(self) -> None:
        """Changes that wait to be put out are not needed: whoever asks reads extras_of()."""
        self.room.drain(_NO_LANES, END_OF_TIME)

    @property
    def leaves_in_order(self) -> bool:
        """Whether rows leave as they came."""
        return self._slot_word == NO_CODE

    @property
    def width(self) -> int:
        """Extras of a group: tallies, ranks, and whether there is one."""
        return self.distincts + 2 * self.extremes

    @property
    def nbytes(self) -> int:
        """Bytes of the tree and its heaps; the queues are in the window."""
        arrays = [each for each in self.state if isinstance(each, np.ndarray)]
        queues = self.state.ranks.nbytes + self.state.links.nbytes
        return sum(each.nbytes for each in arrays) - queues + self.structure.nbytes


def _grown(array: Vector, size: int, fill: int) -> Vector:
    return enlarged(array, size, fill)


def _flags(array: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    return enlarged(array, size)
