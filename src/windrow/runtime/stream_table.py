"""session.streams(): the streams of a session as they were declared, and how far they have come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.schema import StreamSchema

__all__ = ["STREAM_SCHEMA", "StreamRow", "stream_table"]

STREAM_SCHEMA = pa.schema(
    [
        ("stream", pa.string()),
        ("columns", pa.list_(pa.struct([("name", pa.string()), ("type", pa.string())]))),
        ("time", pa.string()),  # the column of event time
        ("lateness", pa.duration("us")),
        ("complete", pa.timestamp("us", tz="UTC")),  # NULL: nothing has come, or it has ended
        ("rate", pa.float64()),  # rows a second of event time; NULL: not measured
    ]
)


@dataclass(frozen=True)
class StreamRow:
    """A stream, through when it is complete, and rows a second of event time."""

    schema: StreamSchema
    through_us: int | None
    rate: float | None


def stream_table(rows: Iterable[StreamRow]) -> pa.Table:
    """One row for each stream."""
    return pa.Table.from_pylist([_values(row) for row in rows], schema=STREAM_SCHEMA)


def _values(row: StreamRow) -> dict[str, object]:
    through_us = row.through_us
    is_known = through_us is not None and START_OF_TIME < through_us < END_OF_TIME
    schema = row.schema
    return {
        "stream": schema.name,
        "columns": [{"name": each.name, "type": str(each.type)} for each in schema.columns],
        "time": schema.time,
        "lateness": schema.lateness_us,
        "complete": through_us if is_known else None,
        "rate": row.rate,
    }
