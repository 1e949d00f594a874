"""The rows of a result in order, kept from one reading to the next: only what came is sorted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.output.row_log import RowLog
from windrow.output.selects import kernels
from windrow.output.selects.order_words import (
    Layout,
    Words,
    joined_layout,
    layout_of,
    order_of,
    row_order,
    words_of,
)

__all__ = ["SortedRows"]

Vector = NDArray[np.int64]


class SortedRows:
    """Numbers of the rows that were in the result when it was last read, in order, and the rows."""

    def __init__(self, schema: pa.Schema) -> None:
        self.rows = np.empty(0, np.int64)
        self.seen = 0  # rows of the log from this number on are new
        self._table = schema.empty_table()
        self._table_bytes = 0
        self._layout: Layout | None = layout_of(self._table)
        self._words: Words = np.empty((0, 0), np.int64)

    def update(self, log: RowLog, held: NDArray[np.int32]) -> pa.Table:
        """The rows that have copies now, in order; a row never comes back once it has none."""
        fresh = self.seen + np.flatnonzero(held[self.seen : log.size])
        came = log.read(fresh)
        stays = held[self.rows] > 0
        self.seen = log.size
        layout = layout_of(came)
        if layout is None or self._layout is None:
            self._sort_all(log, np.concatenate([self.rows[stays], fresh]))
        else:
            self._merge(stays, fresh, came, layout)
        self._table_bytes = self._table.nbytes
        return self._table

    @property
    def table(self) -> pa.Table:
        """The rows."""
        return self._table

    def renumber(self, used: NDArray[np.bool_], new_number: Vector) -> None:
        """The log keeps only rows that are used; the others have no copies."""
        stays = used[self.rows]
        self._restrict(stays)
        self.rows = new_number[self.rows[stays]]
        self.seen = int(np.count_nonzero(used[: self.seen]))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.rows.nbytes + self._words.nbytes + self._table_bytes)

    def _merge(
        self, stays: NDArray[np.bool_], fresh: Vector, came: pa.Table, layout: Layout
    ) -> None:
        assert self._layout is not None
        joined = joined_layout(self._layout, layout)
        if joined != self._layout or not self._words.size:
            self._layout, self._words = joined, words_of(self._table, joined)
        words = words_of(came, joined)
        order = order_of(words)
        words = words[order]
        count = int(np.count_nonzero(stays)) + order.size
        places, both_words = np.empty(count, np.int64), np.empty((count, words.shape[1]), np.int64)
        kernels.merge(self._words, stays, words, places, both_words)
        self._words = both_words
        self.rows = np.concatenate([self.rows, fresh[order]])[places]
        both = pa.concat_tables([self._table, came.take(pa.array(order))]).combine_chunks()
        self._table = both.take(pa.array(places))

    def _sort_all(self, log: RowLog, rows: Vector) -> None:
        """Texts too long for words: sort again."""
        table = log.read(rows).combine_chunks()
        order = row_order(table, np.array([0, rows.size]))
        self.rows, self._table = rows[order], table.take(pa.array(order))
        self._layout, self._words = layout_of(self._table), np.empty((0, 0), np.int64)

    def _restrict(self, stays: NDArray[np.bool_]) -> None:
        if stays.all():
            return
        self._table = self._table.filter(pa.array(stays))
        self._table_bytes = self._table.nbytes
        if self._words.size:
            self._words = self._words[stays]
