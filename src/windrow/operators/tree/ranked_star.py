"""Extremes of one of two windows next to counts and sums, straight from the windows.

The state is that of the trees which events go through where windows are not plain: only what the
counts of keys say as well is not kept, and made up for before events come.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.operators.group_updates import GroupUpdates
from windrow.operators.lanes import Matrix
from windrow.operators.tree import ranked_kernels
from windrow.operators.tree.distinct_tree import DistinctTree
from windrow.operators.tree.extremes_tree import ExtremesTree
from windrow.operators.tree.linear_tree import LinearTree
from windrow.operators.tree.structure import NOTHING
from windrow.windows.window import Window

__all__ = ["RankedStar"]

INPUTS = 2


class RankedStar:
    """Runs a linear tree and one of extremes together, where both have keys as their cells."""

    def __init__(self, linear: LinearTree, extremes: ExtremesTree) -> None:
        self._linear, self._tree = linear, extremes
        self._extras: Matrix = np.zeros((0, extremes.width), np.int64)
        self._is_ahead = False  # whether the tree of extremes lacks what counts say

    @classmethod
    def of(cls, linear: LinearTree, extremes: Sequence[ExtremesTree]) -> RankedStar | None:
        """The runner of such trees; None for others."""
        if len(extremes) != 1 or isinstance(extremes[0], DistinctTree):
            return None
        shape, tree = linear.structure.shape, extremes[0]
        is_fit = len(shape.parents) == INPUTS and shape.is_star and shape.group == NOTHING
        if not is_fit or tree.distincts or tree.structure.shape.identities != shape.identities:
            return None
        return cls(linear, tree) if tree.leaves_in_order else None

    def run(self, windows: Sequence[Window], until: int, grid_us: int) -> bool:
        """Run the windows, if they are plain; False: they are not, and nothing was done."""
        root = self._tree.structure.shape.root
        plain = self._linear.plain_windows(windows)
        if plain is None or windows[root].columns.own_flags.size:
            return False
        if not self._linear.sums.last_out.size:  # no row has come yet
            return False
        linear, tree, room = self._linear, self._tree, self._linear.room
        room.reserve(sum(each.most_events(until) for each in plain))
        if self._extras.shape[0] < room.at.size:
            self._extras = np.zeros((room.at.size, tree.width), np.int64)
        # What waits for an instant to come is the state as it is.
        self._extras[: room.used] = tree.extras_of(0)
        self._is_ahead = True
        tree.forget_changes()
        sums, head = linear.sums, (plain[root], plain[1 - root], root, *linear.weighing(INPUTS))
        tree.read_queues(windows[root].columns)
        state = (sums.view, sums.group_terms, sums.last_out, tree.state)
        ranked = (0,) * tree.extremes
        ranked_kernels.run_ranked(*head, ranked, until, grid_us, *state, room.arrays, self._extras)
        return True

    def leave(self) -> Matrix | None:
        """Make the tree of extremes ready for events; the extras as they are, if it was not."""
        if not self._is_ahead:
            return None
        self._tree.take_counts(self._linear.sums.view[:, 0])
        self._is_ahead = False
        return self._tree.extras_of(0)

    def drain(self, until: int) -> GroupUpdates:
        """What is due up to `until`, with extras."""
        updates = self._linear.drain(until)
        extras = self._extras[: updates.at.size].copy()
        states = (updates.count, updates.lanes, updates.layout)
        return GroupUpdates(updates.at, updates.group, *states, extras)
