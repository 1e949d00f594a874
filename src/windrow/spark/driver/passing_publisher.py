"""Rows that pass become changes: each came, at its own instant, and none ever goes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.event_time import END_OF_TIME
from windrow.output.feed_columns import timestamps
from windrow.output.publish import Publisher
from windrow.output.selects.tied_rows import order_in_instants
from windrow.plan.model import QueryPlan
from windrow.rows.frames import read_frame, table_of, write_frame
from windrow.rows.prepared_names import GROUP, TIME, column_name
from windrow.spark.checkpoint.owner import result_not_kept
from windrow.spark.worker.shard_output import ShardOutput
from windrow.windows.value_bytes import bytes_of_values, values_of_bytes

__all__ = ["PassingPublisher"]

_KIND = "passing"


class PassingPublisher:
    """Takes the rows of all buckets of a batch; it remembers nothing."""

    first_instant = END_OF_TIME

    def __init__(self, plan: QueryPlan) -> None:
        self._plan = plan
        self._nothing = Publisher(plan).changes().slice(0, 0)

    def published(
        self, outputs: Sequence[ShardOutput], feeds: Sequence[str]
    ) -> dict[str, pa.Table]:
        """What a batch produces: changes, where they are wanted."""
        assert set(feeds) <= {"changes"}, "no result is kept"
        if not feeds:
            return {}
        sections = [each for output in outputs for each in output.partial.sections]
        if not sections:
            return {"changes": self._nothing}
        return {"changes": self._changes(pa.concat_tables(map(table_of, sections)))}

    def _changes(self, rows: pa.Table) -> pa.Table:
        times = rows.column(TIME).to_numpy()
        if (times[1:] < times[:-1]).any():
            order = np.argsort(times, kind="stable")
            times, rows = times[order], rows.take(pa.array(order))
        schema = self._nothing.schema
        names = [column_name(GROUP, number) for number in range(len(schema) - 2)]
        columns = [_without_signs_of_zero(rows.column(name)) for name in names]
        shown = pa.Table.from_arrays(columns, names=schema.names[2:])
        order = order_in_instants(times, lambda places: shown.take(pa.array(places)))
        if order.size:  # instants stay: rows move within theirs
            shown = shown.take(pa.array(order))
        came = pa.array(np.ones(times.size, np.int8))
        columns = [timestamps(times), came, *shown.columns]
        return pa.Table.from_arrays(columns, names=schema.names).cast(schema)

    def empty(self) -> pa.Table:
        """A table without rows that has the columns of the changes."""
        return self._nothing

    def result(self) -> pa.Table:
        """Refused: nothing is kept."""
        raise result_not_kept()

    def snapshot(self) -> bytes:
        """Nothing but its kind."""
        return write_frame(_KIND, {})

    @classmethod
    def restore(cls, plan: QueryPlan, data: bytes) -> PassingPublisher:
        """The publisher that snapshot() saved."""
        read_frame(_KIND, data, "publication of rows that pass")
        return cls(plan)


def _without_signs_of_zero(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """0.0 for -0.0, as kept rows have it: equal values are one."""
    kind = column.type
    if pa.types.is_floating(kind):
        return pc.add(column, pa.scalar(0.0, kind))
    if not pa.types.is_nested(kind):
        return column
    chunks = [values_of_bytes(bytes_of_values(each), kind) for each in column.chunks]
    return pa.chunked_array(chunks, kind)
