"""Exact counts and sums of groups from which rows may leave again.

Lanes are laid out as in windows: narrow while no sum can leave 62 bits, wide from then on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.exact.kernels import limb_range
from windrow.operators.lanes import LaneLayout, Matrix, ValueLanes, Vector, moved, read_value
from windrow.operators.relations.aggregates import kernels
from windrow.operators.relations.aggregates.places import Places
from windrow.operators.relations.aggregates.shape import ALL_ROWS, Measure
from windrow.windows.codes import Codes
from windrow.windows.column_words import ValueWords
from windrow.windows.kernels import largest_magnitude

__all__ = ["NARROW_LIMIT", "GroupSums", "SumStates"]

# A narrow lane never comes to this.
NARROW_LIMIT = 1 << 62


@dataclass(frozen=True)
class SumStates:
    """States of groups: how many rows they have, and their sums."""

    counts: Vector
    lanes: Matrix
    layout: LaneLayout

    def value(self, index: int) -> ValueLanes:
        """One value of each state."""
        read = read_value(self.lanes, self.counts, self.layout, index)
        assert isinstance(read, ValueLanes)  # the layout has no digits
        return read


class GroupSums:
    """Counts of rows and sums of measures, by group."""

    def __init__(self, measures: tuple[Measure, ...]) -> None:
        self._kinds = np.array([each.kind for each in measures], np.int64)
        self._weight_of = np.array([each.weights for each in measures], np.int64)
        layout = LaneLayout.smallest((tuple(each.kind for each in measures),))
        if any(each.weights != ALL_ROWS for each in measures):
            # Of different values there are not as many as rows: they are counted from the start.
            layout = layout.nullable()
        self._layout = layout
        self._reached = 0  # no narrow lane can be larger
        self.counts = np.zeros(0, np.int64)
        self._lanes = np.zeros((0, layout.lane_count), np.int64)

    def advance(
        self, groups: Codes, weights: Matrix, values: ValueWords, places: Places
    ) -> SumStates:
        """Add changes; the states of the different groups before them, then those of places.

        weights: of rows, then of the different values of each distinct.
        """
        words, valid = values
        self._admit(words, valid, weights[ALL_ROWS])
        known = places.groups.size
        counts = np.empty(known + places.size, np.int64)
        lanes = np.empty((counts.size, self._layout.lane_count), np.int64)
        counts[:known] = self.counts[places.groups]
        lanes[:known] = self._lanes[places.groups]
        changes = (groups, weights, places.place, places.last_change)
        parts = (words, valid, self._kinds, self._weight_of)
        sums, out = (self.counts, self._lanes), (counts[known:], lanes[known:])
        layout = self._layout
        if layout.is_wide:
            form = (layout.counters, layout.limb_count, layout.low_limb)
            kernels.add_wide(changes, parts, form, sums, out)
        else:
            kernels.add_narrow(changes, parts, layout.is_nullable, sums, out)
        return SumStates(counts, lanes, layout)

    def reserve(self, groups: int) -> None:
        """Make room for codes of groups below this."""
        more = groups - self.counts.size
        if more > 0:
            self.counts = np.pad(self.counts, (0, more))
            self._lanes = np.pad(self._lanes, ((0, more), (0, 0)))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.counts.nbytes + self._lanes.nbytes

    @property
    def lane_count(self) -> int:
        """Lanes of a state."""
        return self._layout.lane_count

    def _admit(self, words: Matrix, valid: NDArray[np.uint8], weight: Vector) -> None:
        """Make the layout fit changes."""
        layout = self._layout
        if not words.size:
            return
        if valid.size and not layout.is_nullable:
            layout = layout.nullable()
        if not layout.is_wide and self._may_leave(words, weight):
            layout = layout.reaching(0, 0)
        if layout.is_wide:
            layout = self._reaching(layout, words, valid)
        if layout != self._layout:
            counts = np.repeat(self.counts[:, None], layout.value_count, axis=1)
            self._lanes = moved(self._lanes, counts, self._layout, layout)
            self._layout = layout

    def _may_leave(self, words: Matrix, weight: Vector) -> bool:
        """Whether a narrow lane may come to the limit."""
        largest = max(1, -int(largest_magnitude(words)))
        added = largest * max(1, -int(largest_magnitude(weight[None, :]))) * weight.size
        if self._reached + added >= NARROW_LIMIT:
            # Much of what was added may have been taken away again: look how large they are.
            self._reached = -int(largest_magnitude(self._lanes))
        self._reached += added
        return self._reached >= NARROW_LIMIT

    def _reaching(self, layout: LaneLayout, words: Matrix, valid: NDArray[np.uint8]) -> LaneLayout:
        found = np.array([1 << 30, -1, 0], np.int64)
        none = np.empty(0, np.uint8)
        for value, kind in enumerate(self._kinds.tolist()):
            limb_range(words[value], valid[value] if valid.size else none, kind, found)
        low, high, special = (int(each) for each in found)
        return (layout.nullable() if special else layout).reaching(low, high)
