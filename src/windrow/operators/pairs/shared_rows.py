"""Rows of one window by slot, where their words are those of rows that other queries read, too.

What is this query's own is the number of each slot's row in their order, and codes of texts. Of
numbers the low 32 bits are kept, as no more rows than that are held.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.lanes import Vector
from windrow.operators.pairs.index_kernels import LOW_BITS, gather_words
from windrow.operators.pairs.rows import SMALLEST, SlotRows, SlotWords
from windrow.rows.prepared_rows import PreparedColumns
from windrow.rows.shared_rows import RowReader
from windrow.windows.buffer import ColumnWindow
from windrow.windows.growing import enlarged

__all__ = ["SharedSlotRows"]

Flags = NDArray[np.uint8]


class SharedSlotRows(SlotRows):
    """The same; window: its rows are shared, and its codes are the slots."""

    def __init__(self, columns: PreparedColumns, reader: RowReader, window: ColumnWindow) -> None:
        super().__init__(columns, reader.held_names)
        self._word_of = {name: word for word, name in enumerate(reader.held_names)}
        self._had_null = dict.fromkeys(reader.held_names, False)
        self._window = window
        self._number = np.zeros(SMALLEST, np.uint32)

    def append(self, rows: pa.RecordBatch) -> Vector:
        """Have slots for rows that take part; place() says which of the shared ones they are."""
        slots = super().append(rows)
        for name in self._word_of:
            self._had_null[name] |= rows.column(name).null_count > 0
        return slots

    def place(self, first: int) -> None:
        """Note where the rows from this place on are: others may have come in between."""
        window = self._window
        slots = window.codes[first : window.end]
        live = np.flatnonzero(slots >= 0)
        self._number[slots[live]] = (window.base + first + live) & LOW_BITS

    def words(self, name: str, slots: NDArray[np.int32]) -> Vector:
        """The words of a column of numbers."""
        if name not in self._word_of:
            return super().words(name, slots)
        out = np.empty(slots.size, np.int64)
        gather_words(self._shared_words(name), self._places(slots), out)
        return out

    def valid(self, name: str, slots: NDArray[np.int32]) -> Flags | None:
        """Where the column of numbers is not NULL; None where it never was."""
        if name not in self._word_of:
            return super().valid(name, slots)
        if not self._had_null[name]:
            return None
        out = np.empty(slots.size, np.uint8)
        flags = self._window.store.valid[self._window.chosen[self._word_of[name]]]
        gather_words(flags, self._places(slots), out)
        return out

    def all_words(self, name: str) -> SlotWords | None:
        """The words of a column of numbers; None where some row had NULL."""
        if name not in self._word_of:
            return None  # its words are by slot, and those of others are not
        if self._had_null[name]:
            return None
        return SlotWords(self._shared_words(name), self._number, self._window.base)

    def _shared_words(self, name: str) -> Vector:
        words: Vector = self._window.store.values[self._window.chosen[self._word_of[name]]]
        return words

    def _places(self, slots: NDArray[np.int32]) -> NDArray[np.int32]:
        return ((self._number[slots].astype(np.int64) - self._window.base) & LOW_BITS).astype(
            np.int32
        )

    def _arrays(self) -> list[NDArray[Any]]:
        return [*super()._arrays(), self._number]

    def _lengthen(self, capacity: int) -> None:
        super()._lengthen(capacity)
        self._number = enlarged(self._number, capacity)
