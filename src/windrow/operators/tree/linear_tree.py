"""A view tree that counts and sums: its state, and the kernel that serves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.exact.kernels import DOUBLE
from windrow.operators.lanes import LaneLayout, Matrix, Vector
from windrow.operators.touches import OutputRoom, Touches
from windrow.operators.tree import linear_kernels, wide_kernels
from windrow.operators.tree.structure import NOTHING, TreeShape, TreeStructure
from windrow.operators.tree.terms import ROLES, TermLayout, moved_terms, term_columns
from windrow.windows.buffer import ColumnWindow
from windrow.windows.window import EventColumns

__all__ = ["LinearTree"]

# Terms up to this number are loops that the compiler unrolls; each number is compiled for itself.
UNROLLED_TERMS = 4
# The place of a group's last output when there is none.
NOWHERE = -1


class LinearTree:
    """COUNT and SUM per group. kinds: of every value of every side; chunk: events of a side."""

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
        self._payload = self._view = self._group_terms = np.zeros((0, layout.width), np.int64)
        self._rows_of_cell = np.zeros(0, np.int64)
        self._last_out = np.zeros(0, np.int64)
        self._most_groups = 1
        self._is_star = shape.is_star and not layout.is_wide
        self._fit()

    @property
    def lanes(self) -> LaneLayout:
        """The layout of lanes that it puts out."""
        return self._layout.lanes

    def reserve(self, groups: int, most_groups: int) -> None:
        """Make room for the structure's cells and codes, and for groups; so many may be live."""
        structure, nodes = self.structure, self.structure.nodes
        self._payload = _grown(self._payload, nodes * structure.cell_capacity)
        self._rows_of_cell = _grown(self._rows_of_cell, nodes * structure.cell_capacity)
        # In a star the sums of all nodes are here, also those of the root by cell.
        codes = max(structure.code_capacity, structure.cell_capacity if self._is_star else 0)
        self._view = _grown(self._view, nodes * codes)
        if groups > self._last_out.size:
            self._group_terms = _grown(self._group_terms, groups)
            fresh = np.full(groups - self._last_out.size, NOWHERE, np.int64)
            self._last_out = np.concatenate([self._last_out, fresh])
        self._most_groups = most_groups

    def change_layout(self, layout: TermLayout) -> None:
        """Have the sums in another layout, which holds all that this one holds."""
        old = self._layout
        if layout == old:
            return
        if self._is_star and layout.is_wide:
            self._leave_star()
        if layout.is_wide and not old.is_wide:
            self._rows_of_cell = self._payload[:, 0].copy()
        self._layout = layout
        shape, nodes = self.structure.shape, self.structure.nodes
        payload, view = self._payload, self._view
        self._payload = np.zeros((payload.shape[0], layout.width), np.int64)
        self._view = np.zeros((view.shape[0], layout.width), np.int64)
        everything = shape.subtree(shape.root)
        for node in range(nodes):
            own, below = frozenset([node]), shape.subtree(node)
            of_view = own if self._is_star else below
            self._payload[node::nodes] = moved_terms(payload[node::nodes], old, layout, own)
            self._view[node::nodes] = moved_terms(view[node::nodes], old, layout, of_view)
        self._group_terms = moved_terms(self._group_terms, old, layout, everything)
        waiting = self.room.used
        moved = moved_terms(self.room.lanes[:waiting], old, layout, everything)
        self._fit()
        self.room.lanes[:waiting] = moved

    def read(self, side: int, first: int, size: int, rows: Vector, columns: ColumnWindow) -> None:
        """The weights of a side's next events."""
        layout, count = self._layout, len(self._kinds[side])
        if not self._share.shape[1]:
            return
        values, valid = columns.values[:count], columns.valid[:count]
        column, guards, lows = term_columns(layout, side, count)
        place = (first, size, rows, values, valid, column)
        if not layout.is_wide:
            linear_kernels.weigh(*place, guards, self._share)
            return
        is_double = np.array([c >= 0 and self._kinds[side][c] == DOUBLE for c in column])
        role = np.array([ROLES.index(t.role) if t.role in ROLES else 0 for t in layout.terms])
        wide_kernels.weigh_wide(
            *place, is_double, np.array(lows), role, guards,
            layout.first_digit, layout.digit_count, self._share,
        )  # fmt: skip

    def apply(self, size: int, order: NDArray[np.int32], events: EventColumns) -> None:
        """Run merged events."""
        self.room.reserve(size + self._most_groups)
        head = (size, order, self._shift, events.at, events.sign, self.cells, self._share)
        if self._is_star:
            by_key = int(self.structure.shape.group != NOTHING)
            fixed = (0,) * self.structure.nodes, self._fixed()
            linear_kernels.apply_star(*head, *fixed, self._view, by_key, *self._output())
            return
        done = 0
        while True:
            if self._layout.is_wide:
                digits = (self._layout.first_digit, self._layout.digit_count)
                tree = (*self._tree(), self._rows_of_cell, *self._scratch())
                done = wide_kernels.apply_tree_wide(done, *head, *digits, *tree, *self._output())
            else:
                tree = (*self._tree(), *self._scratch())
                done = linear_kernels.apply_tree(done, *head, self._fixed(), *tree, *self._output())
            if done == size:
                return
            self.room.reserve(self.room.at.size + self._most_groups)

    def take(self, until: int) -> Touches:
        """What is due up to `until`; the lanes are those of the layout."""
        touches = self.room.take(self._layout.lanes, until)
        count, lanes = self._layout.read(touches.lanes)
        return Touches(touches.at, touches.group, count, lanes, self._layout.lanes)

    def touch_all(self, at: int) -> None:
        """Put out every live group at this later instant."""
        live = np.flatnonzero(self._layout.words(self._group_terms, 0)).astype(np.int32)
        live, rows = self.room.add_all(live, self._last_out, at)
        self.room.lanes[rows] = self._group_terms[live]

    @property
    def joined_rows(self) -> int:
        """Joined rows that the groups count."""
        return int(self._layout.words(self._group_terms, 0).sum())

    @property
    def nbytes(self) -> int:
        """Bytes of the tree and its sums."""
        arrays = (self._payload, self._view, self._group_terms, self._rows_of_cell, self._last_out)
        return sum(array.nbytes for array in arrays) + self.structure.nbytes

    def _fit(self) -> None:
        """Room for the layout's terms in what is not state."""
        width = self._layout.width
        share = width if self._layout.is_wide else width - 1
        self._share = np.zeros((self.cells.size, share), np.int64)
        self._work = np.zeros((wide_kernels.SCRATCH_ROWS, width), np.int64)
        self.room.fit(width)

    def _leave_star(self) -> None:
        """Make the lists that a star does without, and keep the root's sums apart."""
        structure = self.structure
        root, nodes = structure.shape.root, structure.nodes
        sums = self._view[root::nodes]
        self._payload[root::nodes][: sums.shape[0]] = sums
        self._view[root::nodes] = 0
        linear_kernels.link_all(
            root, nodes, self._payload, structure.child_from, structure.children,
            structure.down_of_cell, structure.first_cell, structure.next_cell,
            structure.previous_cell,
        )  # fmt: skip
        self._is_star = False

    def _fixed(self) -> tuple[int, ...]:
        terms = len(self._layout.terms)
        return (0,) * terms if terms <= UNROLLED_TERMS else ()

    def _tree(self) -> tuple[Any, ...]:
        tree = self.structure
        shape = (tree.parent, tree.child_from, tree.children, self._payload, self._view)
        lists = (tree.first_cell, tree.next_cell, tree.previous_cell, tree.group_of_cell)
        return (*shape, tree.up_of_cell, tree.down_of_cell, *lists)

    def _scratch(self) -> tuple[Matrix, int]:
        return self._work, self._most_groups

    def _output(self) -> tuple[Any, ...]:
        room = self.room
        output = (room.control, room.at, room.group, room.lanes)
        return (self._group_terms, self._last_out, *output)


def _grown(array: Matrix, size: int) -> Matrix:
    if size <= array.shape[0]:
        return array
    out = np.zeros((size, *array.shape[1:]), np.int64)
    out[: array.shape[0]] = array
    return out
