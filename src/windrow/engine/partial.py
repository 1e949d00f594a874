"""What one shard gives for one step of the clock: its groups' states at every instant of change.

Partial results of several shards add up: states are exact sums over rows that no other shard has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.frames import pack, unpack
from windrow.joins.lanes import LaneLayout, Matrix, Vector

__all__ = ["Partial", "one_batch"]


@dataclass(frozen=True)
class Partial:
    """Touches in time order; `entity` numbers the rows of `groups` (group_count of them)."""

    at: Vector
    entity: NDArray[np.int32]
    count: Vector
    lanes: Matrix
    layout: LaneLayout
    groups: pa.RecordBatch
    group_count: int

    @property
    def size(self) -> int:
        """Touches."""
        return self.at.size

    def to_bytes(self) -> bytes:
        """Arrow IPC, to cross a process border."""
        header = {"layout": self.layout.to_json(), "group_count": self.group_count}
        columns = {"at": self.at, "entity": self.entity, "count": self.count}
        lanes = {f"lane{i}": np.ascontiguousarray(lane) for i, lane in enumerate(self.lanes.T)}
        touches = pa.RecordBatch.from_pydict({**columns, **lanes})
        return pack("partial", header, {"touches": touches, "groups": self.groups})

    @classmethod
    def from_bytes(cls, data: bytes) -> Partial:
        """Back from to_bytes()."""
        header, tables = unpack("partial", data)
        layout = LaneLayout.from_json(header["layout"])
        touches = [column.to_numpy() for column in tables["touches"].columns]
        size = tables["touches"].num_rows
        lanes = np.empty((size, layout.lane_count), np.int64)
        for index, lane in enumerate(touches[3:]):
            lanes[:, index] = lane
        groups = one_batch(tables["groups"])
        at, entity, count = touches[:3]
        return cls(at, entity, count, lanes, layout, groups, header["group_count"])


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """All rows of a table in one batch."""
    batches = table.combine_chunks().to_batches()
    if batches:
        return batches[0]
    arrays = [pa.array([], field.type) for field in table.schema]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)
