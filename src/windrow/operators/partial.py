"""The output of one shard for one step of the clock: its groups' states at every instant of change.

Partial results of several shards add up: states are exact sums over rows that no other shard has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.group_updates import NO_EXTRAS
from windrow.operators.lanes import LaneLayout, Matrix, Vector
from windrow.operators.select.row_changes import RowChanges
from windrow.rows.frames import Parts, Section, table_bytes, table_of

__all__ = ["Partial", "one_batch"]


@dataclass(frozen=True)
class Partial:
    """Group updates in time order; `group` numbers the rows of `groups` (group_count of them).

    extras: as in GroupUpdates; no rows where there are no such columns. complete_at: the
    updates at this instant name every group that the shard holds rows of; any other has gone.
    codes: what the shard itself calls each of the groups, in the process of the shard only; a code
    means the same group until an update says that the group is gone.
    also: what other shards of the same query give for the step, in this process only.
    rows: of a select that is followed by its changes these, and no groups; in this process only.
    """

    at: Vector
    group: NDArray[np.int32]
    count: Vector
    lanes: Matrix
    layout: LaneLayout
    groups: pa.RecordBatch
    group_count: int
    extras: Matrix = field(default_factory=lambda: NO_EXTRAS)
    complete_at: int | None = None
    codes: NDArray[np.int32] | None = None
    also: tuple[Partial, ...] = ()
    rows: RowChanges | None = None

    @property
    def size(self) -> int:
        """How many updates of groups, or changes of rows."""
        return self.at.size if self.rows is None else self.rows.at.size

    def to_parts(self) -> Parts:
        """A header and two sections of Arrow IPC, for a frame that crosses a process border."""
        header = {
            "layout": self.layout.to_json(),
            "group_count": self.group_count,
            "complete_at": self.complete_at,
        }
        columns = {"at": self.at, "entity": self.group, "count": self.count}
        lanes = {f"lane{i}": np.ascontiguousarray(lane) for i, lane in enumerate(self.lanes.T)}
        extras = {f"extra{i}": np.ascontiguousarray(part) for i, part in enumerate(self.extras.T)}
        updates = pa.RecordBatch.from_pydict({**columns, **lanes, **extras})
        return Parts(header, [table_bytes(updates), table_bytes(self.groups)])

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], sections: Sequence[Section]) -> Partial:
        """Back from to_parts()."""
        table, found_groups = map(table_of, sections)
        layout = LaneLayout.from_json(header["layout"])
        updates = [column.to_numpy() for column in table.columns]
        size, extra_from = table.num_rows, 3 + layout.lane_count
        lanes = _matrix(updates[3:extra_from], size)
        extras = _matrix(updates[extra_from:], size) if updates[extra_from:] else NO_EXTRAS
        groups = one_batch(found_groups)
        at, group, count = updates[:3]
        named = (header["group_count"], extras, header["complete_at"])
        return cls(at, group, count, lanes, layout, groups, *named)


def final_states(partial: Partial, at: int) -> Partial:
    """The last state of each group that has rows, as if it had come about at that instant."""
    backwards = partial.group[::-1]
    _, first = np.unique(backwards, return_index=True)
    last = np.sort(partial.size - 1 - first)
    last = last[partial.count[last] != 0]
    return replace(
        partial,
        at=np.full(last.size, at, np.int64),
        group=partial.group[last],
        count=partial.count[last],
        lanes=partial.lanes[last],
        extras=partial.extras[last] if partial.extras.size else partial.extras,
        complete_at=None,
        codes=None,
    )


def _matrix(columns: list[Vector], size: int) -> Matrix:
    out = np.empty((size, len(columns)), np.int64)
    for index, column in enumerate(columns):
        out[:, index] = column
    return out


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """All rows of a table in one batch."""
    batches = table.combine_chunks().to_batches()
    if batches:
        return batches[0]
    arrays = [pa.array([], field.type) for field in table.schema]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)
