"""A view tree that counts and sums: its state, and the kernel that serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from windrow.exact.kernels import DOUBLE
from windrow.operators.group_updates import GroupUpdates, OutputRoom
from windrow.operators.lanes import LaneLayout, Matrix, Vector
from windrow.operators.tree import linear_kernels, shallow_kernels, star_kernels, wide_kernels
from windrow.operators.tree.arrays import SumArrays, TermEvents
from windrow.operators.tree.structure import NOTHING, TreeShape, TreeStructure
from windrow.operators.tree.terms import ROLES, TermLayout, moved_terms, term_columns
from windrow.windows.buffer import ColumnWindow
from windrow.windows.growing import enlarged, enlarging_bytes
from windrow.windows.window import EventColumns, Window, WindowArrays

__all__ = ["LinearTree"]

# Terms up to this number are loops that the compiler unrolls; each number is compiled for itself.
UNROLLED_TERMS = 4
# The place of a group's last output when there is none.
NOWHERE = -1
# A tree without groups that is no deeper is walked without a stack.
SHALLOW = 2
# A star of so many windows is run straight from them.
FEWEST_WINDOWS = 2
MOST_WINDOWS = 3


class LinearTree:
    """COUNT and SUM per group. kinds: of every value of every input; chunk: events of an input."""

    def __init__(
        self, shape: TreeShape, layout: TermLayout, kinds: tuple[tuple[int, ...], ...], chunk: int
    ) -> None:
        self.structure = TreeStructure(shape)
        self.room = OutputRoom()
        self._kinds = kinds
        self._layout = layout
        self._shift = chunk.bit_length() - 1
        size = chunk * len(kinds)
        self.cells = np.empty(size, np.int32)
        self._share = np.zeros((size, 0), np.int64)
        no_terms, none = np.zeros((0, layout.width), np.int64), np.zeros(0, np.int64)
        self.sums = SumArrays(no_terms, no_terms, none, no_terms, none)
        self._most_groups = 1
        self._is_star = shape.is_star and not layout.is_wide
        self._is_shallow = shape.group == NOTHING and shape.depth <= SHALLOW
        self._fit()

    @property
    def lanes(self) -> LaneLayout:
        """The layout of lanes that it puts out."""
        return self._layout.lanes

    def reserve(self, groups: int, most_groups: int) -> None:
        """Reserve space for cells, codes and groups, of which at most `most_groups` are live."""
        structure, nodes = self.structure, self.structure.nodes
        payload, view, rows_of_cell, group_terms, last_out = self.sums
        # In a star the sums of all nodes are in the view, also those of the root by cell.
        codes = max(structure.code_capacity, structure.cell_capacity if self._is_star else 0)
        self.sums = SumArrays(
            enlarged(payload, nodes * structure.cell_capacity),
            enlarged(view, nodes * codes),
            enlarged(rows_of_cell, nodes * structure.cell_capacity),
            enlarged(group_terms, groups),
            enlarged(last_out, groups, NOWHERE),
        )
        self._most_groups = most_groups

    def growth_bytes(self, rows: int, capacity: Mapping[int, int], groups: int) -> int:
        """Peak of additional bytes while so many rows come; capacity: of sources, and of groups."""
        structure, sums = self.structure, self.sums
        cells, codes = structure.sizes_after(rows, capacity)
        more = structure.growth_bytes(rows, cells, codes)
        places = structure.nodes * max(codes, cells if self._is_star else 0)
        more += enlarging_bytes((sums.payload, sums.rows_of_cell), structure.nodes * cells)
        more += enlarging_bytes((sums.view,), places)
        return more + enlarging_bytes((sums.group_terms, sums.last_out), groups)

    def change_layout(self, layout: TermLayout) -> None:
        """Have the sums in another layout, which holds all that this one holds."""
        old = self._layout
        if layout == old:
            return
        if self._is_star and layout.is_wide:
            self._leave_star()
        self._layout = layout
        shape, nodes = self.structure.shape, self.structure.nodes
        sums, everything = self.sums, shape.subtree(shape.root)
        has_rows = layout.is_wide and not old.is_wide
        self.sums = SumArrays(
            payload=np.zeros((sums.payload.shape[0], layout.width), np.int64),
            view=np.zeros((sums.view.shape[0], layout.width), np.int64),
            rows_of_cell=sums.payload[:, 0].copy() if has_rows else sums.rows_of_cell,
            group_terms=moved_terms(sums.group_terms, old, layout, everything),
            last_out=sums.last_out,
        )
        for node in range(nodes):
            every, own, below = slice(node, None, nodes), frozenset([node]), shape.subtree(node)
            of_view = own if self._is_star else below
            self.sums.payload[every] = moved_terms(sums.payload[every], old, layout, own)
            self.sums.view[every] = moved_terms(sums.view[every], old, layout, of_view)
        waiting = self.room.used
        moved = moved_terms(self.room.lanes[:waiting], old, layout, everything)
        self._fit()
        self.room.lanes[:waiting] = moved

    def read(
        self, input_index: int, first: int, size: int, rows: Vector, columns: ColumnWindow
    ) -> None:
        """The weights of an input's next events."""
        layout = self._layout
        if not self._share.shape[1]:
            return
        column, guards, lows = self._term_columns(input_index)
        values, valid = columns.store.values, columns.store.valid
        is_double = np.array([c >= 0 and self._kinds[input_index][c] == DOUBLE for c in column])
        if columns.is_shared:
            column, guards = _among_shared(columns.chosen, values.shape[0], column, guards)
        place = (first, size, rows, values, valid, column)
        if not layout.is_wide:
            linear_kernels.weigh(*place, guards, self._share)
            return
        role = np.array([ROLES.index(t.role) if t.role in ROLES else 0 for t in layout.terms])
        wide_kernels.weigh_wide(
            *place, is_double, np.array(lows), role, guards,
            layout.first_digit, layout.digit_count, self._share,
        )  # fmt: skip

    def run_plain(self, windows: Sequence[Window], until: int, grid_us: int) -> bool:
        """Run a star straight from closed time windows, all words plain and no NULL.

        False: not so, and nothing was done.
        """
        found, count = self.plain_windows(windows), len(windows)
        if found is None:
            return False
        self.room.reserve(sum(each.most_events(until) for each in found))
        padded = (*found, *(WindowArrays.without_rows() for _ in range(MOST_WINDOWS - count)))
        by_key = int(self.structure.shape.group != NOTHING)
        head = (padded, (0,) * count, *self.weighing(count), until, grid_us, by_key)
        star_kernels.run_star(*head, self.sums, self.room.arrays)
        return True

    def plain_windows(self, windows: Sequence[Window]) -> list[WindowArrays] | None:
        """The arrays of windows that can be run without events; None where they cannot."""
        is_plain = self._is_star and not self._layout.lanes.is_nullable
        if not is_plain or not FEWEST_WINDOWS <= len(windows) <= MOST_WINDOWS:
            return None
        found = [arrays for each in windows if (arrays := each.plain_arrays()) is not None]
        return found if len(found) == len(windows) else None

    def weighing(self, inputs: int) -> tuple[tuple[int, ...], Matrix]:
        """What kernels need for the weights of rows: the terms, and which value each input adds."""
        return self._fixed(), np.stack([self._term_columns(each)[0] for each in range(inputs)])

    def apply(self, size: int, order: NDArray[np.int32], events: EventColumns) -> None:
        """Run merged events."""
        self.room.reserve(size + self._most_groups)
        weighed = TermEvents(events.at, events.sign, self.cells, self._share)
        head = (size, order, self._shift, weighed)
        if self._is_star:
            by_key = int(self.structure.shape.group != NOTHING)
            nodes = (0,) * self.structure.nodes
            linear_kernels.apply_star(
                *head, nodes, self._fixed(), by_key, self.sums, self.room.arrays
            )
            return
        if self._is_shallow and not self._layout.is_wide:
            tree = (self.structure.arrays, self.sums, self._work)
            shallow_kernels.apply_shallow(*head, self._fixed(), *tree, self.room.arrays)
            return
        done = 0
        deep = (self.structure.arrays, self.sums, self._work, self._most_groups)
        while True:
            if self._layout.is_wide:
                digits = (self._layout.first_digit, self._layout.digit_count)
                done = wide_kernels.apply_tree_wide(done, *head, *digits, *deep, self.room.arrays)
            else:
                done = linear_kernels.apply_tree(
                    done, *head, self._fixed(), *deep, self.room.arrays
                )
            if done == size:
                return
            self.room.reserve(self.room.at.size + self._most_groups)

    def drain(self, until: int) -> GroupUpdates:
        """What is due up to `until`; the lanes are those of the layout."""
        updates = self.room.drain(self._layout.lanes, until)
        count, lanes = self._layout.read(updates.lanes)
        return GroupUpdates(updates.at, updates.group, count, lanes, self._layout.lanes)

    def put_out_all(self, at: int) -> None:
        """Put out every live group at this later instant."""
        group_terms = self.sums.group_terms
        live = np.flatnonzero(self._layout.words(group_terms, 0)).astype(np.int32)
        live, rows = self.room.add_all(live, self.sums.last_out, at)
        self.room.lanes[rows] = group_terms[live]

    @property
    def joined_rows(self) -> int:
        """Joined rows that the groups count."""
        return int(self._layout.words(self.sums.group_terms, 0).sum())

    @property
    def nbytes(self) -> int:
        """Bytes of the tree and its sums."""
        return sum(array.nbytes for array in self.sums) + self.structure.nbytes

    def _fit(self) -> None:
        """Room for the layout's terms in what is not state."""
        width = self._layout.width
        share = width if self._layout.is_wide else width - 1
        self._share = np.zeros((self.cells.size, share), np.int64)
        self._work = np.zeros((wide_kernels.SCRATCH_ROWS, width), np.int64)
        self.room.fit(width)
        self._columns: dict[int, tuple[Vector, Matrix, Sequence[int]]] = {}

    def _leave_star(self) -> None:
        """Make the lists that a star does without, and keep the root's sums apart."""
        structure = self.structure
        root, nodes = structure.shape.root, structure.nodes
        payload, view = self.sums.payload, self.sums.view
        sums = view[root::nodes]
        payload[root::nodes][: sums.shape[0]] = sums
        view[root::nodes] = 0
        linear_kernels.link_all(root, payload, structure.arrays)
        self._is_star = False

    def _term_columns(self, input_index: int) -> tuple[Vector, Matrix, Sequence[int]]:
        """For each term, what a row of the input brings to it; the same while the layout is."""
        if input_index not in self._columns:
            count = len(self._kinds[input_index])
            self._columns[input_index] = term_columns(self._layout, input_index, count)
        return self._columns[input_index]

    def _fixed(self) -> tuple[int, ...]:
        terms = len(self._layout.terms)
        return (0,) * terms if terms <= UNROLLED_TERMS else ()


def _among_shared(
    chosen: Vector, words: int, column: Vector, guards: Matrix
) -> tuple[Vector, Matrix]:
    """The same by the numbers that the values have among so many words of shared rows."""
    found = column.copy()
    found[column >= 0] = chosen[column[column >= 0]]
    wide = np.zeros((guards.shape[0], words), np.int64)
    for value, word in enumerate(chosen):
        wide[:, word] |= guards[:, value]
    return found, wide
