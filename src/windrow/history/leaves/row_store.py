"""The rows that leaves keep, of all groups: times, words of measures, flags of validity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.history.arrays import RowArrays
from windrow.history.cells import kernels
from windrow.history.cells.arena import Arena, Longs
from windrow.history.leaves.batch import Flags
from windrow.windows.undo_log import UndoLog

__all__ = ["RowStore"]


class RowStore:
    """Rows in order of time, series by group code; flags are kept once a NULL was seen."""

    def __init__(self, measures: int, log: UndoLog | None = None) -> None:
        self._measures = measures
        self.arena = Arena([(1 + measures, np.dtype(np.int64)), (0, np.dtype(np.uint8))], log)

    @property
    def times(self) -> Longs:
        """Times of rows."""
        times: Longs = self.arena.columns[0][0]
        return times

    @property
    def words(self) -> Longs:
        """Values, a row for each measure."""
        return self.arena.columns[0][1:]

    @property
    def values(self) -> NDArray[np.float64]:
        """The words seen as doubles."""
        return self.words.view(np.float64)

    @property
    def valid(self) -> Flags:
        """Flags of validity; without columns where all values are valid."""
        flags: Flags = self.arena.columns[1]
        return (
            flags if flags.shape[0] == self._measures else np.empty((self._measures, 0), np.uint8)
        )

    @property
    def arrays(self) -> RowArrays:
        """The rows, as kernels take them; as they are until rows are added."""
        return RowArrays(self.arena.series, self.times, self.words, self.values, self.valid)

    @property
    def has_flags(self) -> bool:
        """Whether a NULL was seen."""
        return self._measures > 0 and self.arena.columns[1].shape[0] > 0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.arena.nbytes

    def keep_flags(self) -> None:
        """From now on values may be NULL."""
        if not self.has_flags:
            self.arena.columns[1] = np.ones((self._measures, self.arena.capacity), np.uint8)

    def replace_tails(
        self, codes: Longs, keep: Longs, ends: Longs, times: Longs, words: Longs, valid: Flags
    ) -> None:
        """Series keep their first rows, and get those behind: ends[i] to ends[i + 1] of the new."""
        counts = np.diff(ends)
        self.arena.keep_tails(codes, keep)
        self.arena.resize(codes, keep + counts)
        targets = self.arena.first(codes) + keep
        kernels.move_rows(
            self.times.reshape(1, -1), times.reshape(1, -1), ends[:-1], targets, counts
        )
        kernels.move_rows(self.words, words, ends[:-1], targets, counts)
        if self.has_flags:
            kernels.move_rows(self.valid, valid, ends[:-1], targets, counts)
