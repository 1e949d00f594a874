"""Group updates of several shards as those of the whole: exact states add up over shards.

Numbers of different values add up too (a value is in one shard only); extremes are the best of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.exact.kernels import HEADROOM_LIMBS
from windrow.operators.group_updates import NO_EXTRAS
from windrow.operators.lanes import LaneLayout, Matrix, Vector, moved
from windrow.output import kernels
from windrow.windows.marks import Copies, set_back

__all__ = ["CodedUpdates", "Combiner", "with_gone"]

# States in narrow lanes may be added over this many shards before a lane could run over.
NARROW_LIMIT = 1 << 52


@dataclass(frozen=True)
class CodedUpdates:
    """States of groups in time order, by the codes of KnownGroups."""

    at: Vector
    group: NDArray[np.int32]
    count: Vector
    lanes: Matrix
    layout: LaneLayout
    extras: Matrix = field(default_factory=lambda: NO_EXTRAS)


def with_gone(updates: CodedUpdates, alive: NDArray[np.int32], at: int) -> CodedUpdates:
    """Updates whose states at an instant are all there are: others that were alive have gone."""
    first, end = np.searchsorted(updates.at, [at, at + 1])
    gone = np.setdiff1d(alive, updates.group[first:end])
    if not gone.size:
        return updates
    zero = np.zeros(gone.size, np.int64)

    def widened(column: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([column[:end], more, column[end:]])

    def empty(matrix: Matrix) -> Matrix:
        return np.zeros((gone.size, matrix.shape[1]), np.int64)

    extras = updates.extras
    if extras.shape[1]:
        extras = widened(extras, empty(extras))
    return CodedUpdates(
        widened(updates.at, zero + at),
        widened(updates.group, gone.astype(np.int32)),
        widened(updates.count, zero),
        widened(updates.lanes, empty(updates.lanes)),
        updates.layout,
        extras,
    )


class UpdateColumns(NamedTuple):
    """Updates of groups in time order, as kernels take and give them."""

    at: Vector
    group: NDArray[np.int32]
    row_count: Vector
    lanes: Matrix
    extras: Matrix


class LastStates(NamedTuple):
    """The last state by bucket and group."""

    row_count: Matrix
    lanes: NDArray[np.int64]
    extras: NDArray[np.int64]


class Combiner:
    """Keeps the last state of every group in every shard, so that the next one can replace it."""

    def __init__(self, layout: LaneLayout, tallies: int = 0, extremes: int = 0) -> None:
        self.layout = layout
        self._tallies, self._extremes = tallies, extremes
        self._buckets: list[int] = []
        self._last = LastStates(
            np.zeros((0, 0), np.int64),
            np.zeros((0, 0, layout.lane_count), np.int64),
            np.zeros((0, 0, tallies + 2 * extremes), np.int64),
        )
        self.derive()
        self._written: Copies | None = None  # what a step has written over, if it may be undone

    def derive(self) -> None:
        """What follows from the last states: totals, and room for the groups of an instant."""
        groups = self._last.row_count.shape[1]
        self._totals = (self._last.row_count.sum(axis=0), self._last.lanes.sum(axis=0))
        self._is_updated = np.zeros(groups, np.bool_)
        self._updated = np.empty(groups, np.int32)

    def begin_step(self) -> None:
        """What a step writes over is noted from now on."""
        self._written = []

    def undo_step(self) -> None:
        """Write back what a step has written over."""
        set_back((self._written or [])[::-1])

    def _note_old(self, groups: NDArray[np.int32]) -> None:
        if self._written is None:
            return
        for states in self._last:
            self._written.append((states, (slice(None), groups), states[:, groups]))

    def combine(self, parts: Sequence[tuple[int, CodedUpdates]]) -> CodedUpdates:
        """One state per instant and group, over all shards."""
        self._fit([updates for _, updates in parts])
        self._reserve(
            [bucket for bucket, _ in parts],
            max((int(updates.group.max(initial=-1)) + 1 for _, updates in parts), default=0),
        )
        updates, owner = self._joined(parts)
        size = updates.at.size
        self._note_old(np.unique(updates.group))
        out = UpdateColumns(
            np.empty(size, np.int64),
            np.empty(size, np.int32),
            np.empty(size, np.int64),
            np.empty(updates.lanes.shape, np.int64),
            np.empty(updates.extras.shape, np.int64),
        )
        used = kernels.add_up(
            updates, owner, self._tallies, self._extremes, self._last, self._totals,
            self._is_updated, self._updated, out,
        )  # fmt: skip
        states = (out.row_count[:used], out.lanes[:used], self.layout, out.extras[:used])
        return CodedUpdates(out.at[:used], out.group[:used], *states)

    @property
    def nbytes(self) -> int:
        """Bytes of the last states of all buckets."""
        beside = (*self._totals, self._is_updated, self._updated)
        return sum(array.nbytes for array in (*self._last, *beside))

    def header(self) -> dict[str, Any]:
        """Layout and buckets, for saving."""
        return {
            "layout": self.layout.to_json(),
            "buckets": self._buckets,
            "tallies": self._tallies,
            "extremes": self._extremes,
        }

    def table(self, codes: NDArray[np.int32]) -> pa.Table:
        """The states of these groups in every shard, for saving: a row per group."""
        columns = {}
        for place in range(len(self._buckets)):
            counts = self._states(self._last.row_count[place][:, None], codes)
            columns[f"count{place}"] = counts[:, 0]
            lanes = self._states(self._last.lanes[place], codes)
            columns |= {f"lane{place}_{i}": lanes[:, i].copy() for i in range(lanes.shape[1])}
            extras = self._states(self._last.extras[place], codes)
            columns |= {f"extra{place}_{i}": extras[:, i].copy() for i in range(extras.shape[1])}
        return pa.table(columns)

    @classmethod
    def load(cls, header: Mapping[str, Any], table: pa.Table, codes: NDArray[np.int32]) -> Combiner:
        """Back from header() and table(); the groups of the rows have these codes now."""
        layout = LaneLayout.from_json(header["layout"])
        combiner = cls(layout, header["tallies"], header["extremes"])
        combiner._reserve(list(header["buckets"]), int(codes.max(initial=-1)) + 1)
        for place in range(len(header["buckets"])):
            combiner._last.row_count[place, codes] = table.column(f"count{place}").to_numpy()
            for lane in range(combiner.layout.lane_count):
                saved = table.column(f"lane{place}_{lane}").to_numpy()
                combiner._last.lanes[place, codes, lane] = saved
            for extra in range(combiner._last.extras.shape[2]):
                saved = table.column(f"extra{place}_{extra}").to_numpy()
                combiner._last.extras[place, codes, extra] = saved
        combiner.derive()
        return combiner

    @staticmethod
    def _states(kept: Matrix, codes: NDArray[np.int32]) -> Matrix:
        out = np.zeros((codes.size, kept.shape[1]), np.int64)
        inside = codes < kept.shape[0]
        out[inside] = kept[codes[inside]]
        return out

    def alive_in(self, bucket: int) -> NDArray[np.int32]:
        """The groups that have rows in a shard."""
        if bucket not in self._buckets:
            return np.empty(0, np.int32)
        return np.flatnonzero(self._last.row_count[self._buckets.index(bucket)]).astype(np.int32)

    def alive(self) -> NDArray[np.bool_]:
        """Which groups have rows in some shard."""
        alive: NDArray[np.bool_] = (self._last.row_count != 0).any(axis=0)
        return alive

    def _joined(self, parts: Sequence[tuple[int, CodedUpdates]]) -> tuple[UpdateColumns, Vector]:
        at = np.concatenate([updates.at for _, updates in parts])
        sizes = [updates.at.size for _, updates in parts]
        stops = np.cumsum(sizes)
        order = np.empty(at.size, np.int64)
        kernels.merge_order(at, stops - sizes, stops, order)
        group = np.concatenate([updates.group for _, updates in parts])
        count = np.concatenate([updates.count for _, updates in parts])
        lanes = np.concatenate([self._in_layout(updates) for _, updates in parts])
        width = self._last.extras.shape[2]
        extras = np.empty((at.size, 0), np.int64)
        if width:
            extras = np.concatenate([updates.extras for _, updates in parts])
        owners = [self._buckets.index(bucket) for bucket, _ in parts]
        owner = np.repeat(np.array(owners, np.int64), sizes)
        states = (count[order], lanes[order], extras[order])
        return UpdateColumns(at[order], group[order], *states), owner[order]

    def _in_layout(self, updates: CodedUpdates) -> Matrix:
        if updates.layout == self.layout:
            return updates.lanes
        counts = np.repeat(updates.count[:, None], self.layout.value_count, axis=1)
        return moved(updates.lanes, counts, updates.layout, self.layout)

    def _fit(self, parts: Sequence[CodedUpdates]) -> None:
        """Take a layout that holds what all parts hold."""
        layout = self.layout
        for part in parts:
            if part.layout.is_nullable:
                layout = layout.nullable()
            large = part.lanes.size and int(np.abs(part.lanes).max()) >= NARROW_LIMIT
            if part.layout.is_wide:
                high = part.layout.low_limb + part.layout.limb_count
                layout = layout.reaching(part.layout.low_limb, high)
            elif part.layout.forms:
                low, high = part.layout.limb_span
                layout = layout.reaching(low, high + HEADROOM_LIMBS)
            elif large and not layout.is_wide:
                layout = layout.reaching(0, 0)
        if layout == self.layout:
            return
        old, self.layout = self.layout, layout
        row_count, shape = self._last.row_count, self._last.lanes.shape
        counts = np.repeat(row_count.reshape(-1, 1), old.value_count, axis=1)
        flat = moved(self._last.lanes.reshape(row_count.size, shape[2]), counts, old, layout)
        lanes = flat.reshape(shape[0], shape[1], layout.lane_count)
        self._last = self._last._replace(lanes=lanes)
        self.derive()

    def _reserve(self, buckets: list[int], groups: int) -> None:
        new = [bucket for bucket in buckets if bucket not in self._buckets]
        size = self._last.row_count.shape[1]
        if not new and groups <= size:
            return
        size = max(64, 2 * groups) if groups > size else size
        self._buckets = self._buckets + new
        count = np.zeros((len(self._buckets), size), np.int64)
        lanes = np.zeros((len(self._buckets), size, self.layout.lane_count), np.int64)
        extras = np.zeros((*count.shape, self._last.extras.shape[2]), np.int64)
        rows, columns = self._last.row_count.shape
        count[:rows, :columns] = self._last.row_count
        lanes[:rows, :columns] = self._last.lanes
        extras[:rows, :columns] = self._last.extras
        self._last = LastStates(count, lanes, extras)
        self.derive()
