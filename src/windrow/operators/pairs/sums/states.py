"""The states of groups of joined rows, and what is put out of them at every instant of change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.operators.code_tuples import SweptTuples
from windrow.operators.extremes.arena import HeapArena
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.operators.lanes import LaneLayout, Matrix, Vector, moved
from windrow.operators.pairs.block import JoinedRows
from windrow.operators.pairs.sums.kernels import add_counts, write_states
from windrow.operators.touches import NO_EXTRAS, Touches
from windrow.windows.codes import Codes
from windrow.windows.kernels import EMPTY

__all__ = ["GroupStates", "grown", "in_layout"]

SMALLEST_OUTPUT = 1024
# The place of a group's last output when there is none.
NOWHERE = -1


class GroupStates:
    """Counts, lanes, tallies of different values and heaps of extremes, per group."""

    def __init__(self, layout: LaneLayout, distincts: int, extremes: int) -> None:
        self.layout = layout
        self.arena = HeapArena()
        self.count = np.zeros(0, np.int64)
        self.lanes = np.zeros((0, layout.lane_count), np.int64)
        self.tallies = np.zeros((0, distincts), np.int64)
        self.roots = np.full((0, extremes), EMPTY, np.int64)
        self._last_out = np.zeros(0, np.int64)
        self._values = [SweptTuples(2) for _ in range(distincts)]
        self.tally_count = np.zeros((distincts, 0), np.int64)
        self._control = np.zeros(4, np.int64)
        self._control[NOW] = np.iinfo(np.int64).min
        self._at = np.empty(SMALLEST_OUTPUT, np.int64)
        self._group = np.empty(SMALLEST_OUTPUT, np.int32)
        self._out_count = np.empty(SMALLEST_OUTPUT, np.int64)
        self._out_lanes = np.empty((SMALLEST_OUTPUT, layout.lane_count), np.int64)
        self._out_extras = np.empty((SMALLEST_OUTPUT, distincts + 2 * extremes), np.int64)

    def reserve_groups(self, groups: int) -> None:
        """Have room for group codes below this."""
        if groups <= self.count.size:
            return
        groups = max(groups, 2 * self.count.size)
        self.count = grown(self.count, groups, 0)
        self.lanes = grown(self.lanes, groups, 0)
        self.tallies = grown(self.tallies, groups, 0)
        self.roots = grown(self.roots, groups, EMPTY)
        self._last_out = grown(self._last_out, groups, NOWHERE)

    def reserve_touches(self, more: int) -> None:
        """Have room for so many touches more than there are."""
        used = self._used
        if used + more < self._at.size:
            return
        size = max(2 * self._at.size, used + more + 1)
        self._at = grown(self._at, size, 0)
        self._group = grown(self._group, size, 0)
        self._out_count = grown(self._out_count, size, 0)
        self._out_lanes = grown(self._out_lanes, size, 0)
        self._out_extras = grown(self._out_extras, size, 0)

    def tally_codes(self, rows: JoinedRows) -> NDArray[np.int32]:
        """A code for each row's value in its group, per distinct; EMPTY for NULL."""
        out = np.full(rows.values.shape, EMPTY, np.int32)
        for number, values in enumerate(rows.values):
            present = values != EMPTY
            group = rows.group[present] if rows.group.size else np.zeros(present.sum(), np.int32)
            codes = self._values[number]
            out[number, present] = codes.encode([group, values[present]])
            if codes.capacity() > self.tally_count.shape[1]:
                more = codes.capacity() - self.tally_count.shape[1]
                self.tally_count = np.pad(self.tally_count, ((0, 0), (0, more)))
        return out

    def sweep(self) -> None:
        """Forget values that no joined row has any more, when they may be many."""
        for number, codes in enumerate(self._values):
            if codes.is_due:
                codes.sweep(np.flatnonzero(self.tally_count[number]).astype(np.int32))

    def live_values(self, number: int) -> Codes:
        """The values that joined rows have, of one distinct."""
        live = np.flatnonzero(self.tally_count[number]).astype(np.int32)
        return self._values[number].parts(live)[1]

    def change_layout(self, layout: LaneLayout) -> None:
        """Move all lanes to another layout, those put out already too."""
        old, self.layout = self.layout, layout
        self.lanes = in_layout(self.lanes, self.count, old, layout)
        self._out_lanes = in_layout(self._out_lanes, self._out_count, old, layout)

    def touch_all(self, at: int) -> None:
        """Put out every live group at this later instant."""
        self._write()
        live = np.flatnonzero(self.count).astype(np.int32)
        if self._control[NOW] == at:
            live = live[self._last_out[live] < self._control[NOW_FROM]]
        else:
            self._control[NOW] = at
            self._control[NOW_FROM] = self._control[USED]
        self.reserve_touches(live.size)
        used = self._used
        self._at[used : used + live.size] = at
        self._group[used : used + live.size] = live
        self._last_out[live] = self._control[USED] + np.arange(live.size)
        self._control[USED] += live.size

    def add_counts(self, at: Vector, group: Codes, delta: Vector, *, is_distinct: bool) -> None:
        """Groups without measures: their counts change by delta, in order of time.

        is_distinct: only the first and the last of equal rows show.
        """
        assert not self.lanes.shape[1] + self._out_extras.shape[1], "only counts are kept here"
        self.reserve_touches(at.size)
        add_counts(
            at, group, delta, is_distinct, self.count, self._last_out, self._control,
            self._at, self._group, self._out_count,
        )  # fmt: skip

    def take(self, until: int) -> Touches:
        """What was put out for instants up to `until`; later ones stay, to be written again."""
        self._write()
        used = self._used
        done = used
        if self._control[NOW] > until:
            done = int(self._control[NOW_FROM] - self._control[FIRST])
        columns: list[NDArray[Any]] = [
            *(self._at, self._group, self._out_count, self._out_lanes, self._out_extras)
        ]
        at, group, count, lanes, extras = (column[:done].copy() for column in columns)
        for column in columns:
            column[: used - done] = column[done:used].copy()
        self._control[FIRST] += done
        self._control[NOW_FROM] = max(self._control[NOW_FROM], self._control[FIRST])
        return Touches(
            at, group, count, lanes, self.layout, extras if extras.shape[1] else NO_EXTRAS
        )

    def waiting(self) -> Codes:
        """The groups that are to be put out at a later instant."""
        groups: Codes = self._group[: self._used].copy()
        return groups

    def arrays(self) -> tuple[Any, ...]:
        """States and output, in the order of the kernels."""
        output = (self._at, self._group, self._out_count, self._out_lanes, self._out_extras)
        states = (self.count, self.lanes, self.tallies, self.roots, self.arena.heap)
        return (*states, self._last_out, self._control, *output)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        tables = sum(values.nbytes for values in self._values) + self.tally_count.nbytes
        return tables + sum(int(array.nbytes) for array in self.arrays())

    @property
    def _used(self) -> int:
        return int(self._control[USED] - self._control[FIRST])

    def _write(self) -> None:
        *states, _, control, _, group, count, lanes, extras = self.arrays()
        write_states(*states, control, group, count, lanes, extras)


def in_layout(lanes: Matrix, count: Vector, old: LaneLayout, new: LaneLayout) -> Matrix:
    """Lanes of states with these counts, in another layout."""
    return moved(lanes, np.repeat(count[:, None], old.value_count, axis=1), old, new)


def grown(array: NDArray[Any], size: int, fill: int) -> NDArray[Any]:
    """The array with more rows, new ones filled."""
    out = np.full((size, *array.shape[1:]), fill, array.dtype)
    out[: array.shape[0]] = array
    return out
