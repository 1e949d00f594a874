"""The states of groups of joined rows, and what is put out of them at every instant of change."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.operators.code_tuples import SweptTuples
from windrow.operators.extremes.arena import empty_heap, grown_heap
from windrow.operators.group_updates import NO_EXTRAS, GroupUpdates
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.operators.lanes import LaneLayout, Matrix, Vector, moved
from windrow.operators.pairs.arrays import GroupArrays, UpdateArrays
from windrow.operators.pairs.block import JoinedRows
from windrow.operators.pairs.sums.kernels import add_counts, write_states
from windrow.windows.codes import Codes
from windrow.windows.growing import enlarged
from windrow.windows.kernels import EMPTY

__all__ = ["GroupStates", "grown", "in_layout"]

SMALLEST_OUTPUT = 1024
# The place of a group's last output when there is none.
NOWHERE = -1


class GroupStates:
    """Counts, lanes, tallies of different values and heaps of extremes, per group."""

    def __init__(self, layout: LaneLayout, distincts: int, extremes: int) -> None:
        self.layout = layout
        self.extremes, self.distincts = extremes, distincts
        self.arrays = GroupArrays(
            row_count=np.zeros(0, np.int64),
            lanes=np.zeros((0, layout.lane_count), np.int64),
            masks=layout.masks,
            tallies=np.zeros((0, distincts), np.int64),
            roots=np.full((0, extremes), EMPTY, np.int64),
            heap=empty_heap(0),
            last_out=np.zeros(0, np.int64),
            tally_count=np.zeros((distincts, 0), np.int64),
        )
        self._values = [SweptTuples(2) for _ in range(distincts)]
        self.output = UpdateArrays(
            control=np.zeros(4, np.int64),
            at=np.empty(SMALLEST_OUTPUT, np.int64),
            group=np.empty(SMALLEST_OUTPUT, np.int32),
            row_count=np.empty(SMALLEST_OUTPUT, np.int64),
            lanes=np.empty((SMALLEST_OUTPUT, layout.lane_count), np.int64),
            extras=np.empty((SMALLEST_OUTPUT, distincts + 2 * extremes), np.int64),
        )
        self.output.control[NOW] = np.iinfo(np.int64).min

    @property
    def count(self) -> Vector:
        """Joined rows of each group."""
        return self.arrays.row_count

    def reserve_groups(self, groups: int) -> None:
        """Have room for group codes below this."""
        arrays = self.arrays
        if groups <= arrays.row_count.size:
            return
        groups = max(groups, 2 * arrays.row_count.size)
        self.arrays = arrays._replace(
            row_count=grown(arrays.row_count, groups, 0),
            lanes=grown(arrays.lanes, groups, 0),
            tallies=grown(arrays.tallies, groups, 0),
            roots=grown(arrays.roots, groups, EMPTY),
            last_out=grown(arrays.last_out, groups, NOWHERE),
        )

    def reserve_members(self, members: int) -> None:
        """Have room in the heaps for members below this number."""
        self.arrays = self.arrays._replace(heap=grown_heap(self.arrays.heap, members))

    def reserve_updates(self, more: int) -> None:
        """Reserve space for this many more updates."""
        output, used = self.output, self._used
        if used + more >= output.at.size:
            size = max(2 * output.at.size, used + more + 1)
            self.output = UpdateArrays(
                output.control, *(grown(each, size, 0) for each in _columns(output))
            )

    def tally_codes(self, rows: JoinedRows) -> NDArray[np.int32]:
        """A code for each row's value in its group, per distinct; EMPTY for NULL."""
        out = np.full(rows.values.shape, EMPTY, np.int32)
        for number, values in enumerate(rows.values):
            present = values != EMPTY
            group = rows.group[present] if rows.group.size else np.zeros(present.sum(), np.int32)
            codes = self._values[number]
            out[number, present] = codes.encode([group, values[present]])
            tally_count = self.arrays.tally_count
            if codes.capacity() > tally_count.shape[1]:
                more = codes.capacity() - tally_count.shape[1]
                tally_count = np.pad(tally_count, ((0, 0), (0, more)))
                self.arrays = self.arrays._replace(tally_count=tally_count)
        return out

    def sweep(self) -> None:
        """Forget values that no joined row has any more, when they may be many."""
        for number, codes in enumerate(self._values):
            if codes.is_due:
                codes.sweep(np.flatnonzero(self.arrays.tally_count[number]).astype(np.int32))

    def live_values(self, number: int) -> Codes:
        """The values that joined rows have, of one distinct."""
        live = np.flatnonzero(self.arrays.tally_count[number]).astype(np.int32)
        return self._values[number].parts(live)[1]

    def change_layout(self, layout: LaneLayout) -> None:
        """Move all lanes to another layout, those put out already too."""
        old, self.layout = self.layout, layout
        lanes = in_layout(self.arrays.lanes, self.arrays.row_count, old, layout)
        self.arrays = self.arrays._replace(lanes=lanes, masks=layout.masks)
        lanes = in_layout(self.output.lanes, self.output.row_count, old, layout)
        self.output = self.output._replace(lanes=lanes)

    def put_out_all(self, at: int) -> None:
        """Put out every live group at this later instant."""
        self._write()
        control, last_out = self.output.control, self.arrays.last_out
        live = np.flatnonzero(self.count).astype(np.int32)
        if control[NOW] == at:
            live = live[last_out[live] < control[NOW_FROM]]
        else:
            control[NOW] = at
            control[NOW_FROM] = control[USED]
        self.reserve_updates(live.size)
        rows = slice(self._used, self._used + live.size)
        self.output.at[rows], self.output.group[rows] = at, live
        last_out[live] = control[USED] + np.arange(live.size)
        control[USED] += live.size

    def add_counts(self, at: Vector, group: Codes, delta: Vector, *, is_distinct: bool) -> None:
        """Groups without measures: their counts change by delta, in order of time.

        is_distinct: only the first and the last of equal rows show.
        """
        kept = self.arrays.lanes.shape[1] + self.output.extras.shape[1]
        assert not kept, "only counts are kept here"
        self.reserve_updates(at.size)
        add_counts(at, group, delta, is_distinct, self.arrays, self.output)

    def drain(self, until: int) -> GroupUpdates:
        """What was put out for instants up to `until`; later ones stay, to be written again."""
        self._write()
        control, columns = self.output.control, _columns(self.output)
        used = done = self._used
        if control[NOW] > until:
            done = int(control[NOW_FROM] - control[FIRST])
        at, group, count, lanes, extras = (column[:done].copy() for column in columns)
        for column in columns:
            column[: used - done] = column[done:used].copy()
        control[FIRST] += done
        control[NOW_FROM] = max(control[NOW_FROM], control[FIRST])
        return GroupUpdates(
            at, group, count, lanes, self.layout, extras if extras.shape[1] else NO_EXTRAS
        )

    def waiting(self) -> Codes:
        """The groups that are to be put out at a later instant."""
        groups: Codes = self.output.group[: self._used].copy()
        return groups

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        tables = sum(values.nbytes for values in self._values)
        return tables + sum(int(array.nbytes) for array in (*self.arrays, *self.output))

    @property
    def _used(self) -> int:
        return int(self.output.control[USED] - self.output.control[FIRST])

    def _write(self) -> None:
        write_states(self.arrays, self.output)


def _columns(output: UpdateArrays) -> list[NDArray[Any]]:
    return [output.at, output.group, output.row_count, output.lanes, output.extras]


def in_layout(lanes: Matrix, count: Vector, old: LaneLayout, new: LaneLayout) -> Matrix:
    """Lanes of states with these counts, in another layout."""
    return moved(lanes, np.repeat(count[:, None], old.value_count, axis=1), old, new)


def grown(array: NDArray[Any], size: int, fill: int) -> NDArray[Any]:
    """The array with more rows, new ones filled."""
    return enlarged(array, size, fill)
