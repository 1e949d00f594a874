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

_NO_GROUPS = pa.RecordBatch.from_arrays([], schema=pa.schema([]))


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
        """A header and two sections, for a frame that crosses a process border.

        The updates are words, column after column: the driver reads them of every shard in every
        batch, and to open an Arrow stream takes longer than to read the few that most of them have.
        """
        columns = [self.at, self.group, self.count, *self.lanes.T]
        if self.extras.shape[1]:
            columns += [*self.extras.T]
        header = {
            "layout": self.layout.to_json(),
            "group_count": self.group_count,
            "complete_at": self.complete_at,
            "columns": len(columns),
        }
        groups = table_bytes(self.groups) if self.groups.num_columns else b""
        return Parts(header, [np.array(columns, np.int64).tobytes(), groups])

    @classmethod
    def from_parts(cls, header: Mapping[str, Any], sections: Sequence[Section]) -> Partial:
        """Back from to_parts()."""
        words, found_groups = sections
        updates = np.frombuffer(words, np.int64).reshape(header["columns"], -1)
        layout = LaneLayout.from_json(header["layout"])
        lanes, extras = updates[3 : 3 + layout.lane_count], updates[3 + layout.lane_count :]
        group = updates[1].astype(np.int32)
        group.flags.writeable = False  # as the others are, which lie in the frame
        return cls(
            updates[0],
            group,
            updates[2],
            np.array(lanes.T, order="C"),
            layout,
            one_batch(table_of(found_groups)) if len(found_groups) else _NO_GROUPS,
            header["group_count"],
            np.array(extras.T, order="C") if len(extras) else NO_EXTRAS,
            header["complete_at"],
        )


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


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """All rows of a table in one batch."""
    batches = table.combine_chunks().to_batches()
    if batches:
        return batches[0]
    arrays = [pa.array([], field.type) for field in table.schema]
    return pa.RecordBatch.from_arrays(arrays, schema=table.schema)
