"""Touches of several shards as touches of the whole: exact states of a group add up over shards.

Numbers of different values add up too (a value is in one shard only); extremes are the best of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.lanes import LaneLayout, Matrix, Vector, moved
from windrow.operators.touches import NO_EXTRAS
from windrow.output import kernels

__all__ = ["Combiner", "EntityTouches", "with_gone"]

# States in narrow lanes may be added over this many shards before a lane could run over.
NARROW_LIMIT = 1 << 52


@dataclass(frozen=True)
class EntityTouches:
    """States of entities (groups, by code) in time order."""

    at: Vector
    entity: NDArray[np.int32]
    count: Vector
    lanes: Matrix
    layout: LaneLayout
    extras: Matrix = field(default_factory=lambda: NO_EXTRAS)


def with_gone(touches: EntityTouches, alive: NDArray[np.int32], at: int) -> EntityTouches:
    """Touches whose states at an instant are all there are: others that were alive have gone."""
    first, end = np.searchsorted(touches.at, [at, at + 1])
    gone = np.setdiff1d(alive, touches.entity[first:end])
    if not gone.size:
        return touches
    zero = np.zeros(gone.size, np.int64)

    def widened(column: NDArray[Any], more: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([column[:end], more, column[end:]])

    def empty(matrix: Matrix) -> Matrix:
        return np.zeros((gone.size, matrix.shape[1]), np.int64)

    extras = touches.extras
    if extras.shape[1]:
        extras = widened(extras, empty(extras))
    return EntityTouches(
        widened(touches.at, zero + at),
        widened(touches.entity, gone.astype(np.int32)),
        widened(touches.count, zero),
        widened(touches.lanes, empty(touches.lanes)),
        touches.layout,
        extras,
    )


class Combiner:
    """Keeps the last state of every entity in every shard, so that the next one can replace it."""

    def __init__(self, layout: LaneLayout, tallies: int = 0, extremes: int = 0) -> None:
        self.layout = layout
        self._tallies, self._extremes = tallies, extremes
        self._buckets: list[int] = []
        self._last_count = np.zeros((0, 0), np.int64)  # bucket, entity
        self._last_lanes = np.zeros((0, 0, layout.lane_count), np.int64)
        self._last_extras = np.zeros((0, 0, tallies + 2 * extremes), np.int64)

    def combine(self, parts: Sequence[tuple[int, EntityTouches]]) -> EntityTouches:
        """One state per instant and entity, over all shards."""
        self._fit([touches for _, touches in parts])
        self._reserve(
            [bucket for bucket, _ in parts],
            max((int(touches.entity.max(initial=-1)) + 1 for _, touches in parts), default=0),
        )
        at, entity, count, lanes, extras, owner = self._joined(parts)
        entities = self._last_count.shape[1]
        total_count = self._last_count.sum(axis=0)
        total_lanes = self._last_lanes.sum(axis=0)
        out_at, out_count = np.empty(at.size, np.int64), np.empty(at.size, np.int64)
        out_entity = np.empty(at.size, np.int32)
        out_lanes = np.empty((at.size, lanes.shape[1]), np.int64)
        out_extras = np.empty((at.size, extras.shape[1]), np.int64)
        used = kernels.add_up(
            at, entity, owner, count, lanes, extras, self._tallies, self._extremes,
            self._last_count, self._last_lanes, self._last_extras,
            total_count, total_lanes, np.zeros(entities, np.bool_), np.empty(entities, np.int32),
            out_at, out_entity, out_count, out_lanes, out_extras,
        )  # fmt: skip
        return EntityTouches(
            out_at[:used], out_entity[:used], out_count[:used], out_lanes[:used], self.layout,
            out_extras[:used],
        )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """Bytes of the last states of all buckets."""
        return self._last_count.nbytes + self._last_lanes.nbytes + self._last_extras.nbytes

    def header(self) -> dict[str, Any]:
        """Layout and buckets, for saving."""
        return {
            "layout": self.layout.to_json(),
            "buckets": self._buckets,
            "tallies": self._tallies,
            "extremes": self._extremes,
        }

    def table(self, codes: NDArray[np.int32]) -> pa.Table:
        """The states of these entities in every shard, for saving: a row per entity."""
        columns = {}
        for place in range(len(self._buckets)):
            columns[f"count{place}"] = self._states(self._last_count[place][:, None], codes)[:, 0]
            lanes = self._states(self._last_lanes[place], codes)
            columns |= {f"lane{place}_{i}": lanes[:, i].copy() for i in range(lanes.shape[1])}
            extras = self._states(self._last_extras[place], codes)
            columns |= {f"extra{place}_{i}": extras[:, i].copy() for i in range(extras.shape[1])}
        return pa.table(columns)

    @classmethod
    def load(cls, header: Mapping[str, Any], table: pa.Table, codes: NDArray[np.int32]) -> Combiner:
        """Back from header() and table(); the entities of the rows have these codes now."""
        layout = LaneLayout.from_json(header["layout"])
        combiner = cls(layout, header["tallies"], header["extremes"])
        combiner._reserve(list(header["buckets"]), int(codes.max(initial=-1)) + 1)
        for place in range(len(header["buckets"])):
            combiner._last_count[place, codes] = table.column(f"count{place}").to_numpy()
            for lane in range(combiner.layout.lane_count):
                saved = table.column(f"lane{place}_{lane}").to_numpy()
                combiner._last_lanes[place, codes, lane] = saved
            for extra in range(combiner._last_extras.shape[2]):
                saved = table.column(f"extra{place}_{extra}").to_numpy()
                combiner._last_extras[place, codes, extra] = saved
        return combiner

    @staticmethod
    def _states(kept: Matrix, codes: NDArray[np.int32]) -> Matrix:
        out = np.zeros((codes.size, kept.shape[1]), np.int64)
        inside = codes < kept.shape[0]
        out[inside] = kept[codes[inside]]
        return out

    def alive_in(self, bucket: int) -> NDArray[np.int32]:
        """The entities that have rows in a shard."""
        if bucket not in self._buckets:
            return np.empty(0, np.int32)
        return np.flatnonzero(self._last_count[self._buckets.index(bucket)]).astype(np.int32)

    def alive(self) -> NDArray[np.bool_]:
        """Which entities have rows in some shard."""
        alive: NDArray[np.bool_] = (self._last_count != 0).any(axis=0)
        return alive

    def _joined(
        self, parts: Sequence[tuple[int, EntityTouches]]
    ) -> tuple[Vector, NDArray[np.int32], Vector, Matrix, Matrix, Vector]:
        at = np.concatenate([touches.at for _, touches in parts])
        sizes = [touches.at.size for _, touches in parts]
        stops = np.cumsum(sizes)
        order = np.empty(at.size, np.int64)
        kernels.merge_order(at, stops - sizes, stops, order)
        entity = np.concatenate([touches.entity for _, touches in parts])
        count = np.concatenate([touches.count for _, touches in parts])
        lanes = np.concatenate([self._in_layout(touches) for _, touches in parts])
        width = self._last_extras.shape[2]
        extras = np.empty((at.size, 0), np.int64)
        if width:
            extras = np.concatenate([touches.extras for _, touches in parts])
        owners = [self._buckets.index(bucket) for bucket, _ in parts]
        owner = np.repeat(np.array(owners, np.int64), sizes)
        states = (count[order], lanes[order], extras[order])
        return at[order], entity[order], *states, owner[order]

    def _in_layout(self, touches: EntityTouches) -> Matrix:
        if touches.layout == self.layout:
            return touches.lanes
        counts = np.repeat(touches.count[:, None], self.layout.value_count, axis=1)
        return moved(touches.lanes, counts, touches.layout, self.layout)

    def _fit(self, parts: Sequence[EntityTouches]) -> None:
        """Take a layout that holds what all parts hold."""
        layout = self.layout
        for part in parts:
            if part.layout.is_nullable:
                layout = layout.nullable()
            large = part.lanes.size and int(np.abs(part.lanes).max()) >= NARROW_LIMIT
            if part.layout.is_wide:
                high = part.layout.low_limb + part.layout.limb_count
                layout = layout.reaching(part.layout.low_limb, high)
            elif large and not layout.is_wide:
                layout = layout.reaching(0, 0)
        if layout == self.layout:
            return
        old, self.layout = self.layout, layout
        shape = self._last_lanes.shape
        counts = np.repeat(self._last_count.reshape(-1, 1), old.value_count, axis=1)
        flat = moved(self._last_lanes.reshape(self._last_count.size, shape[2]), counts, old, layout)
        self._last_lanes = flat.reshape(shape[0], shape[1], layout.lane_count)

    def _reserve(self, buckets: list[int], entities: int) -> None:
        new = [bucket for bucket in buckets if bucket not in self._buckets]
        size = self._last_count.shape[1]
        if not new and entities <= size:
            return
        size = max(64, 2 * entities) if entities > size else size
        self._buckets = self._buckets + new
        count = np.zeros((len(self._buckets), size), np.int64)
        lanes = np.zeros((len(self._buckets), size, self.layout.lane_count), np.int64)
        extras = np.zeros((*count.shape, self._last_extras.shape[2]), np.int64)
        rows, columns = self._last_count.shape
        count[:rows, :columns] = self._last_count
        lanes[:rows, :columns] = self._last_lanes
        extras[:rows, :columns] = self._last_extras
        self._last_count, self._last_lanes, self._last_extras = count, lanes, extras
