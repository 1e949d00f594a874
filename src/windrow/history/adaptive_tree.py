"""The adaptive tree of every group: leaves as fine as their rows are dense, coarser with age."""

from __future__ import annotations

import numpy as np

from windrow.history.arrays import NodeArrays
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import CellStore
from windrow.history.cells.kernels import DENSE, SIZE, read_series
from windrow.history.leaves import leaf_kernels
from windrow.history.leaves.batch import Batch
from windrow.history.leaves.growth import grow
from windrow.history.leaves.row_store import RowStore
from windrow.history.regions import Regions
from windrow.history.spec import HistorySpec
from windrow.history.storage import Nodes, Reading
from windrow.windows.undo_log import UndoLog

__all__ = ["AdaptiveTree"]


class AdaptiveTree:
    """A store of cells for each region; only the newest keeps rows.

    log: records what a step overwrites, so that it can be rolled back.
    """

    def __init__(self, spec: HistorySpec, log: UndoLog | None = None) -> None:
        self.regions = Regions(spec)
        self._granularities = np.array(spec.granularities_us, np.int64)
        self._kinds = np.array(spec.kinds, np.int64)
        self._most = spec.split_above
        self.stores = [CellStore(len(spec.measures), log) for _ in self.regions.levels]
        self.rows = RowStore(len(spec.measures), log)
        self._no_rows = RowStore(len(spec.measures))

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        arenas = (self.rows.arena, *(store.arena for store in self.stores))
        return (self.regions, self.rows, *self.stores, *arenas)

    def forget_blocks(self) -> None:
        """A step was rolled back: what was derived from the cells no longer matches them."""
        for store in self.stores:
            store.forget_blocks()

    def add(self, batch: Batch) -> None:
        """Take rows."""
        grow(batch, self.stores[0], self.rows, self._granularities, self._kinds, self._most)

    def expire(self, now_us: int) -> list[Nodes]:
        """Every region passes what is too old for it to the next one."""
        gone = []
        for region in range(len(self.stores)):
            horizon_us = self.regions.horizon_us(region, now_us)
            if horizon_us == self.regions.horizons_us[region]:
                continue
            nodes = self._take(region, horizon_us)
            self.regions.horizons_us[region] = horizon_us
            if nodes.codes.size == 0:
                continue
            if region + 1 < len(self.stores):
                _append(self.stores[region + 1], nodes)
            else:
                gone.append(nodes)
        return gone

    def read(self, reading: Reading, since_us: int, until_us: int, target: int) -> None:
        """Add an interval, region by region."""
        for region, since, until in self.regions.parts(since_us, until_us):
            store = self.stores[region]
            rows = self.rows if region == 0 else self._no_rows
            read_series(
                since, until, target, self._granularities, self._kinds, store.arrays,
                store.blocks(), rows.arrays, reading.arrays,
            )  # fmt: skip

    def present(self) -> Longs:
        """The codes of groups with a cell in any region."""
        codes = max(store.arena.series.shape[1] for store in self.stores)
        held = np.zeros(codes, np.bool_)
        for store in self.stores:
            held[: store.arena.series.shape[1]] |= store.arena.series[SIZE] > 0
        return np.flatnonzero(held)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.rows.nbytes + sum(store.nbytes for store in self.stores)

    def _take(self, region: int, horizon_us: int) -> Nodes:
        """Take what is before the horizon out of a region, summed up in nodes of the next one."""
        levels = self.regions.levels
        is_last = region + 1 == len(levels)
        level = levels[region] if is_last else levels[region + 1]
        store = self.stores[region]
        rows = self.rows if region == 0 else self._no_rows
        series = store.arena.series
        cell_counts, row_counts = (np.zeros(series.shape[1], np.int64) for _ in range(2))
        leaf_kernels.measure_heads(store.arrays, rows.arrays, horizon_us, cell_counts, row_counts)
        # Of each series the last of these cells may reach over the horizon; it is changed then.
        codes = np.flatnonzero(cell_counts)
        store.arena.keep_places(store.arena.first(codes) + cell_counts[codes] - 1)
        room = int(cell_counts.sum() + row_counts.sum())
        nodes = NodeArrays(
            codes=np.empty(room, np.int64),
            whole=np.empty((store.whole.shape[0], room), np.int64),
            real=np.empty((store.real.shape[0], room), np.float64),
            shape=np.empty(room, np.uint8),
        )
        counted = cell_counts.copy()
        made = leaf_kernels.take_heads(
            horizon_us, int(self._granularities[level]), level, self._kinds, store.arrays,
            rows.arrays, cell_counts, nodes,
        )  # fmt: skip
        store.drop_heads(cell_counts)
        if rows.arena.series.shape[1]:
            rows.arena.drop_heads(row_counts[: rows.arena.series.shape[1]])
        store.change_first_cells(np.flatnonzero(counted != cell_counts))
        return Nodes(level, nodes.codes[:made], nodes.whole[:, :made], nodes.real[:, :made])


def _append(store: CellStore, nodes: Nodes) -> None:
    ends = np.flatnonzero(np.diff(nodes.codes, prepend=-1, append=-1))
    codes = nodes.codes[ends[:-1]]
    store.arena.reserve(int(codes.max()) + 1)
    shape = np.full(nodes.codes.size, nodes.level | DENSE, np.uint8)
    keep = store.arena.series[SIZE, codes]
    store.replace_tails(codes, keep, ends, nodes.whole, nodes.real, shape)
