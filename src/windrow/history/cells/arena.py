"""Rows of columns for many series: each series lies in one piece, in order of time.

    series   BASE [room: HEAD [its SIZE rows) spare)

A series is appended to at its end and loses rows at its head. One that outgrows its room moves to a
larger one behind all others; when there is no space left, all are repacked into larger columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.history.cells import kernels
from windrow.history.cells.kernels import BASE, HEAD, ROOM, SIZE
from windrow.windows.undo_log import UndoLog, runs_of

__all__ = ["Arena", "Longs"]

Longs = NDArray[np.int64]
SMALLEST_ROOM = 4
SHRINK_PARTS = 3
SMALLEST_TO_SHRINK = 1 << 10
# One part in four of a series is spare: it is copied some four times in its life.
SPARE_PARTS = 4


class Arena:
    """Matrices with one column for each row of each series; log: notes what is written over.

    >>> arena = Arena([(1, np.dtype(np.int64))])
    >>> moved = arena.resize(np.array([2]), np.array([3]))
    >>> arena.series[SIZE].tolist()
    [0, 0, 3]
    """

    def __init__(
        self, layout: Sequence[tuple[int, np.dtype[Any]]], log: UndoLog | None = None
    ) -> None:
        self._log = UndoLog() if log is None else log
        self.columns = [np.empty((rows, 0), kind) for rows, kind in layout]
        self.series = np.zeros((kernels.SERIES_FACTS, 0), np.int64)
        self._end = 0

    @property
    def capacity(self) -> int:
        """Rows that there is place for."""
        return int(self.columns[0].shape[1])

    @property
    def size(self) -> int:
        """Rows of all series."""
        return int(self.series[SIZE].sum())

    @property
    def nbytes(self) -> int:
        """Bytes held, spare ones too."""
        return sum(column.nbytes for column in self.columns) + self.series.nbytes

    def reserve(self, codes: int) -> None:
        """Have series for codes below this."""
        known = self.series.shape[1]
        if codes > known:
            wider = np.zeros((kernels.SERIES_FACTS, codes), np.int64)
            wider[:, :known] = self.series
            self.series = wider

    def first(self, codes: Longs) -> Longs:
        """Where the first row of each series is."""
        firsts: Longs = self.series[BASE, codes] + self.series[HEAD, codes]
        return firsts

    def places(self, counts: Longs) -> Longs:
        """Where the first rows of all series are, this many of each, one series after the other."""
        return runs_of(self.first(np.arange(counts.size)), counts)

    def keep_tails(self, codes: Longs, keep: Longs) -> None:
        """What stands behind the first rows of series is about to be written over."""
        if self._log.is_open:
            self.reserve(int(codes.max(initial=-1)) + 1)
            behind = self.series[SIZE, codes] - keep
            self.keep_places(runs_of(self.first(codes) + keep, behind))

    def keep_places(self, places: Longs) -> None:
        """These places of all columns are about to be written over."""
        for column in self.columns if places.size else ():
            self._log.keep(column, (slice(None), places))

    def resize(self, codes: Longs, sizes: Longs) -> Longs:
        """Give different series these sizes, at their ends; returns those that moved."""
        if codes.size == 0:
            return codes
        self.reserve(int(codes.max()) + 1)
        series = self.series
        self._log.keep(series, (slice(None), codes))
        is_empty = series[SIZE, codes] == 0
        self._keep_rooms(codes[is_empty])
        series[HEAD, codes[is_empty]] = 0
        short = series[HEAD, codes] + sizes > series[ROOM, codes]
        moving: Longs = codes[short]
        series[SIZE, codes[~short]] = sizes[~short]
        if moving.size == 0:
            return moving
        wanted = sizes[short]
        # A series that has lost as much at its head as would be spare for it stays in its room.
        stays = wanted + wanted // SPARE_PARTS <= series[ROOM, moving]
        if stays.any():
            bases, sizes = series[BASE, moving[stays]], wanted[stays]
            self._keep_rooms(moving[stays])
            self._move(moving[stays], bases, sizes)
        if not stays.all():
            moved = self._give_room(moving[~stays], wanted[~stays])
            return np.union1d(moving[stays], moved)
        return moving

    def _keep_rooms(self, codes: Longs) -> None:
        """Series start over in front, where rows that left them in this step still are."""
        if self._log.is_open:
            self.keep_places(runs_of(self.series[BASE, codes], self.series[ROOM, codes]))

    def drop_heads(self, counts: Longs) -> None:
        """Take rows off the heads of all series; columns that are mostly empty get smaller."""
        series = self.series.copy()
        series[HEAD] += counts
        series[SIZE] -= counts
        self.series = series
        if self.capacity > SMALLEST_TO_SHRINK and SHRINK_PARTS * self.size < self.capacity:
            none = np.empty(0, np.int64)
            self._pack(none, none)

    def _give_room(self, codes: Longs, sizes: Longs) -> Longs:
        rooms = sizes + np.maximum(sizes // SPARE_PARTS, SMALLEST_ROOM - 1)
        wanted = int(rooms.sum())
        series = self.series
        if self._end + wanted > self.capacity:
            return self._pack(codes, sizes)
        self._move(codes, self._end + np.cumsum(rooms) - rooms, sizes)
        series[ROOM, codes] = rooms
        self._end += wanted
        return codes

    def _move(self, codes: Longs, bases: Longs, sizes: Longs) -> None:
        """Move series to new bases, and give them new sizes."""
        series = self.series
        sources, counts = self.first(codes), np.minimum(series[SIZE, codes], sizes)
        for column in self.columns:
            kernels.move_rows(column, column, sources, bases, counts)
        series[BASE, codes], series[HEAD, codes], series[SIZE, codes] = bases, 0, sizes

    def _pack(self, codes: Longs, sizes: Longs) -> Longs:
        """All series into new columns, the named ones with their new sizes."""
        series = self.series
        new_sizes = series[SIZE].copy()
        new_sizes[codes] = sizes
        live = np.flatnonzero(new_sizes)
        kept = new_sizes[live]
        spare = np.maximum(kept // SPARE_PARTS, min(SMALLEST_ROOM - 1, 1 + live.size))
        rooms = kept + spare
        bases = np.cumsum(rooms) - rooms
        total = int(rooms.sum())
        # With many series there is place behind them for those that grow first.
        capacity = total + (total // SPARE_PARTS if live.size > 1 else 0)
        sources, counts = self.first(live), np.minimum(series[SIZE, live], kept)
        for place, column in enumerate(self.columns):
            # Zeros: the blocks look at spare places too.
            packed = np.zeros((column.shape[0], capacity), column.dtype)
            kernels.move_rows(packed, column, sources, bases, counts)
            self.columns[place] = packed
        self.series = series = np.zeros_like(series)
        series[BASE, live], series[ROOM, live], series[SIZE, live] = bases, rooms, kept
        self._end = total
        return live
