"""Converted rows on their way into a stream, and which of them were pushed together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["PushedRows"]


class PushedRows(NamedTuple):
    """Rows in order of arrival; pushes: the number of the push of each, None: all are of one.

    Rows with numbers were gathered, and stay so until they are taken.

    >>> rows = PushedRows(pa.record_batch({"ts": [3, 1, 2]}))
    >>> rows.cut_to(2, "ts").slice(0, 2).batch["ts"].to_pylist()
    [1, 2]
    """

    batch: pa.RecordBatch
    pushes: NDArray[np.int64] | None = None

    @property
    def is_gathered(self) -> bool:
        """Whether they wait in the stream until they are taken."""
        return self.pushes is not None

    @property
    def size(self) -> int:
        """How many they are."""
        return int(self.batch.num_rows)

    def slice(self, start: int, count: int | None = None) -> PushedRows:
        """So many rows from `start` on; all of them without a count."""
        batch = self.batch.slice(start, count)
        if self.pushes is None:
            return PushedRows(batch)
        return PushedRows(batch, self.pushes[start : start + batch.num_rows])

    def cut_to(self, count: int, time: str) -> PushedRows:
        """The same rows, such that a first slice of `count` makes none of the others late.

        There is no room for all at once: those of one push are taken in the order of their times.
        """
        if count >= self.size or self.is_gathered:
            return self
        order = pc.sort_indices(self.batch.column(time))
        return PushedRows(self.batch.take(order))

    def whole_pushes(self, count: int) -> int:
        """At most `count` of them, no push of gathered rows cut in two unless it is the first."""
        if self.pushes is None or not 0 < count < self.size:
            return count
        first = int(np.searchsorted(self.pushes, self.pushes[count], side="left"))
        return first or count
