"""A log of result rows, addressed by number; rows that nobody refers to are dropped now and then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["RowLog"]

# Below this many rows nothing is dropped: it would cost more than it gives.
SMALLEST_COMPACTION = 65_536
MOST_PIECES = 64


class RowLog:
    """Rows of one schema."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._tables: list[pa.Table] = [schema.empty_table()]
        self._size = 0
        self._next_compaction = SMALLEST_COMPACTION

    def append(self, rows: pa.Table) -> int:
        """Add rows; returns the number of the first."""
        first = self._size
        self._tables.append(rows)
        self._size += rows.num_rows
        return first

    def take(self, numbers: NDArray[np.int64]) -> pa.Table:
        """The rows of these numbers."""
        table = self._whole()
        if numbers.size and _is_run(numbers):
            return table.slice(int(numbers[0]), numbers.size)
        return table.take(pa.array(numbers))

    def table(self) -> pa.Table:
        """All rows, by number."""
        return self._whole()

    def compact(self, references: Sequence[NDArray[np.int64]]) -> None:
        """Drop the rows that no array refers to; the numbers in the arrays are changed in place."""
        if self._size < self._next_compaction:
            return
        used = np.zeros(self._size, np.bool_)
        for numbers in references:
            used[numbers[numbers >= 0]] = True
        new_number = np.cumsum(used) - 1
        for numbers in references:
            present = numbers >= 0
            numbers[present] = new_number[numbers[present]]
        kept = self._whole().filter(pa.array(used)).combine_chunks()
        self._tables = [kept]
        self._size = kept.num_rows
        self._next_compaction = max(SMALLEST_COMPACTION, 2 * self._size)

    def _whole(self) -> pa.Table:
        if len(self._tables) > 1:
            whole = pa.concat_tables(self._tables)
            # Taking rows from very many pieces is slow; joining them at every call would be, too.
            pieces = whole.column(0).num_chunks
            self._tables = [whole.combine_chunks() if pieces > MOST_PIECES else whole]
        return self._tables[0]


def _is_run(numbers: NDArray[np.int64]) -> bool:
    return int(numbers[-1]) - int(numbers[0]) + 1 == numbers.size and bool(
        np.all(np.diff(numbers) == 1)
    )
