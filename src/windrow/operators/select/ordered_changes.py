"""Changes of a select in the order in which they are told, with their values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.pairs.index_kernels import gather_words
from windrow.operators.select import netting_kernels
from windrow.operators.select.kept_columns import KeptColumns
from windrow.operators.select.row_changes import ColumnArrays, FoundChanges, RowChanges
from windrow.windows.row_store import NO_MATRIX, RowStore

__all__ = ["ShownColumn", "ordered_changes", "shown_columns"]

Words = NDArray[np.int64]
Flags = NDArray[np.uint8]
Places = NDArray[np.int64]
NO_FLAGS: Flags = np.empty(0, np.uint8)


class ShownColumn:
    """A column of the select list: the word of a row on the left (side 0) or on the right."""

    def __init__(self, side: int, kept: KeptColumns, name: str, store: RowStore) -> None:
        self.side, self._kept, self._store = side, kept, store
        self.place = kept.place(name)
        self.is_float = kept.is_float(self.place)
        self.is_coded = kept.is_coded(self.place)

    def words(self, places: Places) -> Words:
        """Its words at these places."""
        out = np.empty(places.size, np.int64)
        gather_words(self._store.values[self.place], places, out)
        return out

    def valid(self, places: Places) -> Flags:
        """Flags of what is not NULL; none where nothing is."""
        if not self._store.valid.size:
            return NO_FLAGS
        out = np.empty(places.size, np.uint8)
        gather_words(self._store.valid[self.place], places, out)
        return out

    def array(self, places: Places) -> pa.Array:
        """Its values at these places."""
        return self._kept.array(self.place, self.words(places), self.valid(places))

    def ordered_words(self, places: Places) -> tuple[Words, Flags]:
        """Words that order as its values do, and flags of what is not NULL."""
        if self.is_coded:
            return self._kept.ranks(self.place, self.words(places))
        valid = self.valid(places)
        return self.words(places), valid if valid.size else np.ones(places.size, np.uint8)


def ordered_changes(
    found: FoundChanges, shown: Sequence[ShownColumn], stores: Sequence[RowStore]
) -> RowChanges:
    """The changes of each instant in order, without those that cancel out."""
    out = FoundChanges.room(found.at.size)
    if any(column.is_coded for column in shown):
        numbers = np.arange(found.at.size)
        numbered = FoundChanges(found.at, found.sign, numbers, numbers)
        count = netting_kernels.net_instants(numbered, _own_words(found, shown), out)
        out = out.first(count)
        out = FoundChanges(out.at, out.sign, found.left[out.left], found.right[out.left])
    else:
        out = out.first(netting_kernels.net_instants(found, _words(shown, stores), out))
    return RowChanges(out.at, out.sign, shown_columns(shown, out.left, out.right))


def shown_columns(shown: Sequence[ShownColumn], left: Places, right: Places) -> list[pa.Array]:
    """The columns of rows at these places."""
    return [column.array(right if column.side else left) for column in shown]


def _words(shown: Sequence[ShownColumn], stores: Sequence[RowStore]) -> ColumnArrays:
    """The words where they are, in the windows."""
    left, right = stores[0], stores[-1]
    return ColumnArrays(
        np.array([column.side for column in shown], np.uint8),
        np.array([column.place for column in shown], np.int64),
        np.array([column.is_float for column in shown], np.bool_),
        *(left.values, left.valid if left.valid.size else NO_MATRIX),
        *(right.values, right.valid if right.valid.size else NO_MATRIX),
    )


def _own_words(found: FoundChanges, shown: Sequence[ShownColumn]) -> ColumnArrays:
    """Words of each change, where those of the windows are codes."""
    words = np.empty((len(shown), found.at.size), np.int64)
    valid = np.empty((len(shown), found.at.size), np.uint8)
    for number, column in enumerate(shown):
        places = found.right if column.side else found.left
        words[number], valid[number] = column.ordered_words(places)
    return ColumnArrays(
        np.zeros(len(shown), np.uint8),
        np.arange(len(shown)),
        np.array([column.is_float for column in shown], np.bool_),
        *(words, valid, words, valid),
    )
