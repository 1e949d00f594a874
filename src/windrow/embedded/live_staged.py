"""Rows of sources that a session has and does not apply yet, where its clock moves by arrival.

There a row makes all older ones late, of every stream. So while streams catch up with their past,
their rows are applied in the order of time, a few of one and a few of another, whatever the
batches are in which they came.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME

__all__ = ["StagedTimes", "times_of"]


class StagedTimes:
    """The times of rows that are staged, of one stream, in order of arrival.

    >>> staged = StagedTimes(np.array([3, 1, 5, 9]))
    >>> staged.oldest_us, staged.count_through(5)
    (3, 3)
    >>> staged.drop(3)
    >>> staged.oldest_us, staged.count_through(100)
    (9, 1)
    """

    def __init__(self, times_us: NDArray[np.int64]) -> None:
        # A row goes no sooner than those before it.
        self._latest = np.maximum.accumulate(times_us) if times_us.size else times_us

    @property
    def count(self) -> int:
        """How many rows there are."""
        return int(self._latest.size)

    @property
    def oldest_us(self) -> int:
        """The time of the first row."""
        return int(self._latest[0])

    def count_through(self, instant_us: int) -> int:
        """How many of the first rows are not after an instant; at least one."""
        return max(1, int(np.searchsorted(self._latest, instant_us, side="right")))

    def newest_of(self, count: int) -> int:
        """The time of the newest of so many rows."""
        return int(self._latest[count - 1])

    def drop(self, count: int) -> None:
        """So many rows were applied."""
        self._latest = self._latest[count:]


def times_of(batch: pa.RecordBatch, time: str) -> NDArray[np.int64]:
    """The times of rows; one without any goes at once."""
    column = batch.column(time).cast(pa.int64()).fill_null(START_OF_TIME)
    found: NDArray[np.int64] = column.to_numpy(zero_copy_only=False)
    return found
