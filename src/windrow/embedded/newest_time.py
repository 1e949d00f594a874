"""The times of rows that come from a source, as far as they can be believed."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from windrow.embedded.stream_ingest import wall_clock_us
from windrow.event_time import END_OF_TIME
from windrow.schema import StreamSchema

__all__ = ["newest_time", "times_between"]


def newest_time(schema: StreamSchema, batch: pa.RecordBatch) -> int | None:
    """The time of the newest row; one that is set aside, as it is too far ahead, does not count."""
    between = times_between(schema, batch)
    return None if between is None else between[1]


def times_between(schema: StreamSchema, batch: pa.RecordBatch) -> tuple[int, int] | None:
    """The times of the oldest and of the newest row; None: no row has one."""
    times = batch.column(schema.time).cast(pa.int64())
    ahead_us = schema.most_ahead_us
    if ahead_us is not None:
        times = times.filter(pc.less_equal(times, wall_clock_us() + ahead_us))
    found = pc.min_max(times).as_py()
    if found["max"] is None:
        return None
    return found["min"], min(END_OF_TIME, found["max"])
