"""Rows of a stream that are kept for a while, for queries to come and for questions about now."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from windrow.backlog import Backlog, joined_rows
from windrow.event_time import START_OF_TIME
from windrow.rows.shared_rows import StreamRows, cast_times

__all__ = ["KeptRows"]

# Rows are looked through for those that are too old each time so large a part of the span is over.
PARTS_BETWEEN = 8


class KeptRows:
    """Rows in order of arrival; those up to `dropped_us` may be missing."""

    def __init__(self, time: str, span_us: int) -> None:
        self._time, self._span_us = time, span_us
        self.rows: Backlog[pa.Table] = Backlog(joined_rows)
        self.dropped_us = self._looked_us = START_OF_TIME

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows."""
        return self.rows.nbytes

    def add(self, rows: StreamRows, through_us: int) -> None:
        """Keep rows, and let those go that are too old for a stream that is complete so far."""
        if rows.times.size:
            self.rows.append(joined_rows([pa.Table.from_batches([rows.batch])]))
        oldest_us = through_us - self._span_us
        if oldest_us - self._looked_us > self._span_us // PARTS_BETWEEN:
            self._looked_us = oldest_us
            self._drop(oldest_us)

    def _drop(self, oldest_us: int) -> None:
        """Let rows up to that time go that no newer ones came before."""
        dropped = 0
        for part in self.rows.parts:
            is_new = pc.greater(part.column(self._time).cast(pa.int64()), oldest_us)
            first_new = pc.index(is_new, True).as_py()
            dropped += part.num_rows if first_new < 0 else first_new
            if first_new >= 0:
                break
        if dropped:
            self.dropped_us = oldest_us
            self.rows.drop_before(self.rows.first + dropped)

    def batch(self) -> StreamRows | None:
        """All rows that are kept, if there are any."""
        if not self.rows.parts:
            return None
        (batch,) = pa.concat_tables(self.rows.parts).combine_chunks().to_batches()
        return cast_times(batch, self._time)
