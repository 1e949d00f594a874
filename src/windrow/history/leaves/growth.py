"""A batch of rows added to the series of a region."""

from __future__ import annotations

import numpy as np

from windrow.history.arrays import BatchArrays, LeafArrays, LeafRows
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import CellStore
from windrow.history.cells.kernels import BASE, HEAD, SIZE
from windrow.history.leaves import leaf_kernels
from windrow.history.leaves.batch import Batch
from windrow.history.leaves.leaf_kernels import (
    CELLS_BEHIND,
    CELLS_KEPT,
    ROWS_BEHIND,
    ROWS_KEPT,
)
from windrow.history.leaves.row_store import RowStore
from windrow.history.state_kernels import START

__all__ = ["ALL_DENSE", "grow"]

ALL_DENSE = -1


def grow(
    batch: Batch, cells: CellStore, rows: RowStore, granularities: Longs, kinds: Longs, most: int,
    *, fills: bool = False,
) -> None:  # fmt: skip
    """Add a batch; leaves have at most `most` rows, or, with ALL_DENSE, keep none.

    fills: cells without rows are made between those that have some.
    """
    if batch.size == 0:
        return
    codes = int(batch.codes.max()) + 1
    cells.arena.reserve(codes)
    rows.arena.reserve(codes)
    if batch.valid.shape[1] and most > 0:
        rows.keep_flags()
    tails = _tails(batch, cells, rows, granularities)
    new = np.diff(batch.firsts)
    room = int((tails[CELLS_BEHIND] + tails[ROWS_BEHIND] + new).sum())
    if fills:
        room += _gaps(batch, cells, int(granularities[0]))
    both = int((tails[ROWS_BEHIND] + new).max()) if most >= 0 else 0
    _build(batch, cells, rows, tails, granularities, kinds, most, fills, room, both)


def _tails(batch: Batch, cells: CellStore, rows: RowStore, granularities: Longs) -> Longs:
    tails = np.empty((leaf_kernels.TAIL_FACTS, batch.codes.size), np.int64)
    leaf_kernels.find_tails(
        batch.codes, batch.arrays, cells.arrays, rows.arrays, granularities, tails
    )
    return tails


def _build(
    batch: Batch, cells: CellStore, rows: RowStore, tails: Longs, granularities: Longs,
    kinds: Longs, most: int, fills: bool, room: int, both: int,
) -> None:  # fmt: skip
    measures, flags, series = kinds.size, rows.has_flags, batch.codes.size
    # Room for the worst case: pages that nothing is written to cost nothing.
    leaves = LeafArrays(
        ends=np.empty(series + 1, np.int64),
        whole=np.empty((cells.whole.shape[0], room), np.int64),
        real=np.empty((cells.real.shape[0], room), np.float64),
        shape=np.empty(room, np.uint8),
    )
    row_room = room if most >= 0 else 0
    leaf_rows = LeafRows(
        ends=np.empty(series + 1, np.int64),
        times=np.empty(row_room, np.int64),
        words=np.empty((measures, row_room), np.int64),
        valid=np.empty((measures, row_room if flags else 0), np.uint8),
    )
    words = np.empty((measures, both), np.int64)
    valid = np.empty((measures, both if flags else 0), np.uint8)
    merged = BatchArrays(
        batch.firsts, np.empty(both, np.int64), words, words.view(np.float64), valid
    )
    leaf_kernels.build_tails(
        batch.codes, tails, most, fills, granularities, kinds, batch.arrays, cells.arrays,
        rows.arrays, merged, leaves, leaf_rows,
    )  # fmt: skip
    cells.replace_tails(batch.codes, tails[CELLS_KEPT], *leaves)
    if most >= 0:
        rows.replace_tails(batch.codes, tails[ROWS_KEPT], *leaf_rows)


def _gaps(batch: Batch, cells: CellStore, granularity: int) -> int:
    """No more cells than these lie between the rows of a batch and those that are there."""
    series = cells.arena.series
    first_times, last_times = batch.times[batch.firsts[:-1]], batch.times[batch.firsts[1:] - 1]
    low, high = first_times.copy(), last_times.copy()
    held = np.flatnonzero(series[SIZE, batch.codes])
    codes = batch.codes[held]
    firsts = series[BASE, codes] + series[HEAD, codes]
    lasts = firsts + series[SIZE, codes] - 1
    low[held] = np.minimum(low[held], cells.whole[START, lasts])
    high[held] = np.maximum(high[held], cells.whole[START, firsts])
    return int(((high - low) // granularity + 2).sum())
