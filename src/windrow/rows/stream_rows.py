"""Rows of a stream with their times in microseconds: the time column is cast once, here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["StreamRows", "cast_times"]

_WORD = pa.int64()


class StreamRows(NamedTuple):
    """Rows in order of arrival; times[i] is that of row i."""

    batch: pa.RecordBatch
    times: NDArray[np.int64]

    def filtered(self, kept: NDArray[np.bool_]) -> StreamRows:
        """The flagged rows."""
        if kept.all():
            return self
        return StreamRows(self.batch.filter(pa.array(kept)), self.times[kept])

    def part(self, start: int, count: int) -> StreamRows:
        """So many rows from `start` on."""
        return StreamRows(self.batch.slice(start, count), self.times[start : start + count])


def cast_times(batch: pa.RecordBatch, time: str) -> StreamRows:
    """The rows with their times; none of these is NULL.

    >>> cast_times(pa.record_batch({"ts": [5, 7]}), "ts").times.tolist()
    [5, 7]
    """
    return StreamRows(batch, batch.column(time).cast(_WORD).to_numpy(zero_copy_only=False))
