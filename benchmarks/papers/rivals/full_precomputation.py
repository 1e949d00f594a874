"""A rival of the adaptive tree: every level everywhere, nodes without rows too, and no rows."""

from __future__ import annotations

import numpy as np

from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import CellStore
from windrow.history.cells.kernels import SIZE, read_series
from windrow.history.leaves import leaf_kernels
from windrow.history.leaves.batch import Batch
from windrow.history.leaves.growth import ALL_DENSE, grow
from windrow.history.leaves.row_store import RowStore
from windrow.history.regions import Regions
from windrow.history.spec import HistorySpec
from windrow.history.state_kernels import ROWS
from windrow.history.storage import Nodes, Reading
from windrow.windows.undo_log import UndoLog

__all__ = ["FullPrecomputation"]


class FullPrecomputation:
    """A store for each level, from its horizon up to now; a region reads that of its level."""

    def __init__(self, spec: HistorySpec, log: UndoLog | None = None) -> None:
        self.regions = Regions(spec)
        self._steps = [np.array([step], np.int64) for step in spec.granularities_us]
        self._kinds = np.array(spec.kinds, np.int64)
        self.stores = [CellStore(len(spec.measures), log) for _ in self._steps]
        self._no_rows = RowStore(len(spec.measures))
        self._region_of_level = [
            max(place for place, each in enumerate(self.regions.levels) if each <= level)
            for level in range(len(self._steps))
        ]

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self.regions, *self.stores, *(store.arena for store in self.stores))

    def forget_blocks(self) -> None:
        """A step was taken back: what was made of the cells does not fit them any more."""
        for store in self.stores:
            store.forget_blocks()

    def add(self, batch: Batch) -> None:
        """Take rows into all levels."""
        for step, store in zip(self._steps, self.stores, strict=True):
            grow(batch, store, self._no_rows, step, self._kinds, ALL_DENSE, fills=True)

    def expire(self, now_us: int) -> list[Nodes]:
        """Each level drops what is too old for it."""
        regions = self.regions
        horizons = [regions.horizon_us(region, now_us) for region in range(len(regions.levels))]
        gone = []
        for level, store in enumerate(self.stores):
            region = self._region_of_level[level]
            if horizons[region] != regions.horizons_us[region]:
                nodes = self._take(store, level, horizons[region])
                if level == regions.levels[-1] and nodes.codes.size:
                    gone.append(nodes)
        regions.horizons_us[:] = horizons
        return gone

    def read(self, reading: Reading, since_us: int, until_us: int, target: int) -> None:
        """Add an interval, region by region."""
        rows = self._no_rows
        for region, since, until in self.regions.parts(since_us, until_us):
            level = self.regions.levels[region]
            store = self.stores[level]
            read_series(
                since, until, target, self._steps[level], self._kinds, store.arrays,
                store.blocks(), rows.arrays, reading.arrays,
            )  # fmt: skip

    def present(self) -> Longs:
        """The codes of groups with a node at any level."""
        codes = max(store.arena.series.shape[1] for store in self.stores)
        held = np.zeros(codes, np.bool_)
        for store in self.stores:
            held[: store.arena.series.shape[1]] |= store.arena.series[SIZE] > 0
        return np.flatnonzero(held)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(store.nbytes for store in self.stores)

    def _take(self, store: CellStore, level: int, horizon_us: int) -> Nodes:
        series, rows = store.arena.series, self._no_rows
        counts, no_counts = (np.zeros(series.shape[1], np.int64) for _ in range(2))
        leaf_kernels.measure_heads(store.arrays, rows.arrays, horizon_us, counts, no_counts)
        places = store.arena.places(counts)
        codes = np.repeat(np.arange(counts.size), counts)
        has_rows = store.whole[ROWS, places] > 0
        kept = places[has_rows]
        nodes = Nodes(level, codes[has_rows], store.whole[:, kept], store.real[:, kept])
        store.drop_heads(counts)
        return nodes
