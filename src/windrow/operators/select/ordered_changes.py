"""Changes of a select in the order in which they are told, with their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.pairs.index_kernels import gather_words
from windrow.operators.select import netting_kernels
from windrow.operators.select.kept_columns import KeptColumns
from windrow.operators.select.row_changes import FoundChanges, RowChanges, RowWords
from windrow.windows.row_store import NO_MATRIX, RowStore

__all__ = ["ShownColumn", "ordered_changes", "shown_columns"]

Words = NDArray[np.int64]
Flags = NDArray[np.uint8]
Places = NDArray[np.int32]
NO_FLAGS: Flags = np.empty(0, np.uint8)


class ShownColumn:
    """A column of the select list: the word of a row on the left (side 0) or on the right."""

    def __init__(self, side: int, kept: KeptColumns, name: str, store: RowStore) -> None:
        self.side, self.kept, self._store = side, kept, store
        self.place = kept.place(name)
        self.is_float, self.is_coded = kept.is_float(self.place), kept.is_coded(self.place)

    @property
    def may_lack(self) -> bool:
        """Whether a value may be NULL, other than by its code."""
        return bool(self._store.valid.size)

    def read(self, left: Places, right: Places, words: Words, valid: Flags) -> None:
        """Write its words of rows, and flags of what is not NULL where there is room for them."""
        places = right if self.side else left
        gather_words(self._store.values[self.place], places, words)
        if valid.size and self.may_lack:
            gather_words(self._store.valid[self.place], places, valid)


def ordered_changes(found: FoundChanges, shown: Sequence[ShownColumn]) -> RowChanges:
    """The changes of each instant in order, without those that cancel out."""
    rows, size = _words(shown, found.left, found.right), found.at.size
    change, sign = np.empty(size, np.int32), np.empty(size, np.int8)
    ranked = _ranked(rows, shown)
    count = int(netting_kernels.net_instants(found.at, found.sign, ranked, change, sign))
    change = change[:count]
    at = np.empty(count, np.int64)
    gather_words(found.at, change, at)
    words, valid = _taken(rows.words, change), _taken(rows.valid, change)
    return RowChanges(at, sign[:count], _arrays(shown, words, valid))


def shown_columns(shown: Sequence[ShownColumn], left: Places, right: Places) -> list[pa.Array]:
    """The columns of rows at these places."""
    rows = _words(shown, left, right)
    return _arrays(shown, rows.words, rows.valid)


def _words(shown: Sequence[ShownColumn], left: Places, right: Places) -> RowWords:
    """The words of all columns, next to each other: windows are read once, and in one go."""
    shape = (len(shown), left.size)
    words, valid = np.empty(shape, np.int64), NO_MATRIX
    if any(column.may_lack for column in shown):
        valid = np.ones(shape, np.uint8)
    for number, column in enumerate(shown):
        column.read(left, right, words[number], valid[number] if valid.size else NO_FLAGS)
    return RowWords(words, valid, np.array([column.is_float for column in shown], np.bool_))


def _ranked(rows: RowWords, shown: Sequence[ShownColumn]) -> RowWords:
    """The same with words that order as the values do in the place of codes."""
    if not any(column.is_coded for column in shown):
        return rows
    words = rows.words.copy()
    valid = rows.valid.copy() if rows.valid.size else np.ones(words.shape, np.uint8)
    for number, column in enumerate(shown):
        if column.is_coded:
            words[number], valid[number] = column.kept.ranks(column.place, words[number])
    return RowWords(words, valid, rows.is_float)


def _taken(matrix: NDArray[Any], change: Places) -> NDArray[Any]:
    if not matrix.size:
        return matrix[:, :0] if matrix.shape[0] else matrix
    out = np.empty((matrix.shape[0], change.size), matrix.dtype)
    for number, column in enumerate(matrix):
        gather_words(column, change, out[number])
    return out


def _arrays(shown: Sequence[ShownColumn], words: Words, valid: Flags) -> list[pa.Array]:
    return [
        column.kept.array(column.place, words[number], valid[number] if valid.size else NO_FLAGS)
        for number, column in enumerate(shown)
    ]
