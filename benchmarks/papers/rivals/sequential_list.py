"""A rival of the adaptive tree: all rows in order of time, nothing computed before it is asked."""

from __future__ import annotations

import numpy as np

from papers.rivals.kernels import add_listed_rows
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import CellStore
from windrow.history.cells.kernels import SIZE
from windrow.history.leaves.batch import Batch, Flags
from windrow.history.leaves.growth import ALL_DENSE, grow
from windrow.history.leaves.row_store import RowStore
from windrow.history.regions import Regions
from windrow.history.spec import HistorySpec
from windrow.history.storage import Nodes, Reading
from windrow.windows.undo_log import UndoLog

__all__ = ["SequentialList"]


class SequentialList:
    """Rows in order of time, of all groups together; every answer reads them."""

    def __init__(self, spec: HistorySpec, log: UndoLog | None = None) -> None:
        del log  # nothing is ever written over in place
        self.regions = Regions(spec)
        self._kinds = np.array(spec.kinds, np.int64)
        self._step = np.array([spec.granularities_us[self.regions.levels[-1]]], np.int64)
        self._times = np.empty(0, np.int64)
        self._codes = np.empty(0, np.int64)
        self._words = np.empty((len(spec.measures), 0), np.int64)
        self._valid: Flags = np.empty((len(spec.measures), 0), np.uint8)

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, self.regions)

    def forget_blocks(self) -> None:
        """There are none."""

    def add(self, batch: Batch) -> None:
        """Merge rows into the list."""
        codes = np.repeat(batch.codes, np.diff(batch.firsts))
        valid = batch.valid if batch.valid.shape[1] else np.ones(batch.words.shape, np.uint8)
        times = np.concatenate([self._times, batch.times])
        order = np.argsort(times, kind="stable")
        self._times = times[order]
        self._codes = np.concatenate([self._codes, codes])[order]
        self._words = np.concatenate([self._words, batch.words], axis=1)[:, order]
        self._valid = np.concatenate([self._valid, valid], axis=1)[:, order]

    def expire(self, now_us: int) -> list[Nodes]:
        """Drop what is older than the last horizon, summed up in nodes of the last region."""
        horizons = [
            self.regions.horizon_us(region, now_us) for region in range(len(self.regions.levels))
        ]
        self.regions.horizons_us[:] = horizons
        count = int(np.searchsorted(self._times, horizons[-1]))
        if count == 0:
            return []
        nodes = self._summed_up(count)
        self._times, self._codes = self._times[count:].copy(), self._codes[count:].copy()
        self._words, self._valid = self._words[:, count:].copy(), self._valid[:, count:].copy()
        return [nodes]

    def read(self, reading: Reading, since_us: int, until_us: int, target: int) -> None:
        """Add all rows of an interval."""
        first, end = np.searchsorted(self._times, [since_us, until_us])
        place = np.full(int(max(reading.codes.max(initial=0), self._codes.max(initial=0))) + 1, -1)
        place[reading.codes] = np.arange(reading.codes.size)
        add_listed_rows(
            place, self._codes, self._kinds, self._words, self._words.view(np.float64), self._valid,
            int(first), int(end), target, reading.whole, reading.real,
        )  # fmt: skip

    def present(self) -> Longs:
        """The codes of all rows."""
        return np.unique(self._codes)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        arrays = (self._times, self._codes, self._words, self._valid)
        return sum(array.nbytes for array in arrays)

    def _summed_up(self, count: int) -> Nodes:
        order = np.argsort(self._codes[:count], kind="stable")
        codes = self._codes[:count][order]
        firsts = np.flatnonzero(np.diff(codes, prepend=-1, append=-1))
        batch = Batch(
            codes[firsts[:-1]], firsts, self._times[:count][order],
            np.ascontiguousarray(self._words[:, :count][:, order]),
            np.ascontiguousarray(self._valid[:, :count][:, order]),
        )  # fmt: skip
        store, rows = CellStore(self._kinds.size), RowStore(self._kinds.size)
        grow(batch, store, rows, self._step, self._kinds, ALL_DENSE)
        sizes = store.arena.series[SIZE]
        places = store.arena.places(sizes)
        level = self.regions.levels[-1]
        owners = np.repeat(np.arange(sizes.size), sizes)
        return Nodes(level, owners, store.whole[:, places], store.real[:, places])
