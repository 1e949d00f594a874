"""Rows on their way to the front of new arrays, one array after the other, piece by piece.

So no more than one ordinary array exists twice at any moment, and of arrays on reserved addresses
no more than a piece: the pages of a piece that has moved are given back. A move that is broken off
continues where it was: what was moved is noted before the old pages go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windrow.windows.reserved import give_back, memory_of

__all__ = ["PIECE", "ColumnMove", "Move", "MoveDown", "Places", "row_count"]

PIECE = 1 << 12  # rows of a column that are moved at once

Places = NDArray[np.int64] | slice


class ColumnMove:
    """One column on its way: the rows at `kept` to the front of another array.

    out: on reserved addresses; None: an ordinary array of that capacity is made.
    """

    def __init__(
        self, column: NDArray[Any], kept: Places, capacity: int, out: NDArray[Any] | None
    ) -> None:
        self._column, self._kept = column, kept
        self.out = _emptied(column, capacity) if out is None else out
        self._moved = 0  # entries, row after row of a matrix

    @property
    def nbytes(self) -> int:
        """Bytes of the other array beside those that are given back for it."""
        piece = PIECE * self.out.itemsize
        return self.out.nbytes if memory_of(self.out) is None else min(piece, self.out.nbytes)

    def finish(self) -> None:
        """Move what has not moved yet."""
        count = row_count(self._kept)
        if not self._column.size or not count:
            return
        old = self._column.reshape(-1, self._column.shape[-1])
        new = self.out.reshape(-1, self.out.shape[-1])
        while self._moved < count * old.shape[0]:
            row, first = divmod(self._moved, count)
            end = min(first + PIECE, count)
            new[row, first:end] = old[row, _part(self._kept, first, end)]
            # One number, set before the pages go: whenever it is broken off, nothing is lost.
            self._moved = row * count + end
            begin = _place(self._kept, first) if first else 0
            give_back(old, begin, _place(self._kept, end - 1) + 1, slice(row, row + 1))


class Move:
    """All columns of a store and of its windows on their way.

    reserved: an array on reserved addresses for each column that has entries; none: they become
    ordinary arrays.
    """

    def __init__(
        self,
        columns: Sequence[tuple[object, str]],
        kept: Places,
        capacity: int,
        reserved: Sequence[NDArray[Any] | None],
    ) -> None:
        self._columns, self._kept, self._capacity = columns, kept, capacity
        self._reserved = reserved or [None] * len(columns)
        self._moves: list[ColumnMove] = []

    @property
    def nbytes(self) -> int:
        """Bytes of the array that a column is on its way to; none where its owner has it."""
        if not self._moves:
            return 0
        owner, name = self._columns[len(self._moves) - 1]
        return 0 if getattr(owner, name) is self._moves[-1].out else self._moves[-1].nbytes

    def finish(self) -> None:
        """Move what has not moved yet."""
        for number, (owner, name) in enumerate(self._columns):
            if len(self._moves) == number:
                column: NDArray[Any] = getattr(owner, name)
                out = self._reserved[number]
                self._moves.append(ColumnMove(column, self._kept, self._capacity, out))
            move = self._moves[number]
            move.finish()
            setattr(owner, name, move.out)


class MoveDown:
    """One column on its way down within its own array, by so many places.

    What is moved at once is no longer than the way: no entry is written over before it has moved,
    so that a piece that was broken off can be moved again.
    """

    def __init__(self, column: NDArray[Any], kept: slice, places: int) -> None:
        self._column, self._kept, self._places = column, kept, places
        self._next = kept.start  # the first row that has not moved

    def finish(self) -> None:
        """Move what has not moved yet."""
        while self._next < self._kept.stop:
            first, end = self._next, min(self._next + self._places, self._kept.stop)
            to = slice(first - self._places, end - self._places)
            self._column[..., to] = self._column[..., first:end]
            self._next = end


def row_count(places: Places) -> int:
    """How many rows are at these places."""
    return places.stop - places.start if isinstance(places, slice) else places.size


def _part(places: Places, first: int, end: int) -> Places:
    if isinstance(places, slice):
        return slice(places.start + first, places.start + end)
    return places[first:end]


def _place(places: Places, number: int) -> int:
    return int(places.start + number if isinstance(places, slice) else places[number])


def _emptied(column: NDArray[Any], capacity: int) -> NDArray[Any]:
    """A new array of that capacity; columns without entries stay so, but have a width."""
    if not column.size:
        is_wide = column.ndim == 2 and column.shape[1]
        return np.empty((0, capacity), column.dtype) if is_wide else column
    return np.empty((*column.shape[:-1], capacity), column.dtype)
