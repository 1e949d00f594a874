"""Rows of a task that cannot be held: they are set aside where they come in, and counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.errors import DataError
from windrow.event_time import MAX_EVENT_TIME, MIN_EVENT_TIME
from windrow.rows.bad_rows import BadRow, BadRows, cut, shown_rows
from windrow.rows.damaged_values import damaged_rows, is_sound
from windrow.rows.frames import table_bytes
from windrow.schema import StreamSchema
from windrow.spark.shuffle.hidden_columns import given_rows

__all__ = ["BAD_BYTES_PER_TASK", "BadValues", "in_stream_types"]

BAD_TIME = "it has no time, or an implausible one"

# Of the bad rows of a task the newest go to the driver, up to so much.
BAD_BYTES_PER_TASK = 64 << 10


class BadValues:
    """The bad rows of one task, since the last packets were taken."""

    def __init__(self, stream: StreamSchema) -> None:
        self._stream = stream
        self.count = 0
        self._kept = BadRows(BAD_BYTES_PER_TASK)

    def taken(self, given: pa.RecordBatch, names: Sequence[str] = ()) -> pa.RecordBatch:
        """The rows that can be held, in the stream's types; names: of these columns (all)."""
        rows = given_rows(given)
        self.add([BadRow("it cannot be read", row=cut(text)) for text in rows.unread])
        batch = rows.batch.select(names) if names else rows.batch
        return self._without_damage(in_stream_types(batch, self._stream))

    def placed(self, times_us: NDArray[np.int64], now_us: int | None) -> NDArray[np.bool_]:
        """Which of these times can be believed in a batch that began then."""
        latest, ahead_us = MAX_EVENT_TIME - 1, self._stream.most_ahead_us
        if now_us is not None and ahead_us is not None:
            latest = min(latest, now_us + ahead_us)
        placed: NDArray[np.bool_] = (times_us >= MIN_EVENT_TIME) & (times_us <= latest)
        return placed

    def show(self, rows: pa.RecordBatch) -> None:
        """Keeps some rows whose time cannot be believed; they are counted elsewhere."""
        self._kept.add(
            BadRow(BAD_TIME, self._stream.time, row=cut(repr(row))) for row in shown_rows(rows)
        )

    def _without_damage(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if is_sound(batch):
            return batch
        found = damaged_rows(batch)
        if self._stream.on_bad_row == "fail":
            raise self._refused(*next(iter(found.values()))[1:])
        rows = shown_rows(batch.take(pa.array(list(found))))
        found_in = zip(rows, found.values(), strict=True)
        self.add([BadRow(why, name, row=cut(repr(row))) for row, (_, name, why) in found_in])
        kept = np.ones(batch.num_rows, np.bool_)
        kept[list(found)] = False
        return batch.filter(pa.array(kept))

    def add(self, rows: list[BadRow]) -> None:
        """Sets rows aside."""
        self.count += len(rows)
        self._kept.add(rows)

    def to_bytes(self) -> memoryview | None:
        """Those that are kept; None where there are none."""
        return table_bytes(self._kept.table()) if self._kept.nbytes else None

    def _refused(self, name: str, why: str) -> DataError:
        return DataError(
            "WD420",
            f"column {name!r} of stream {self._stream.name!r}: in one row, {why}",
            hint="fix the source, or declare the stream with on_bad_row='set aside'",
        )


def in_stream_types(batch: pa.RecordBatch, stream: StreamSchema) -> pa.RecordBatch:
    """The batch with the Arrow types that the stream's columns have.

    Spark labels timestamps with the session's zone, and those without zone count as UTC.
    """
    fields = [pa.field(name, stream.column(name).type.arrow) for name in batch.schema.names]
    columns = [
        column if column.type == wanted.type else pc.cast(column, wanted.type)
        for column, wanted in zip(batch.columns, fields, strict=True)
    ]
    return pa.record_batch(columns, schema=pa.schema(fields))
