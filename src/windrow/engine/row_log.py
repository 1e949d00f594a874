"""A log of result rows, addressed by number; rows that nobody refers to are dropped at times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["RowLog"]

# Taking rows out of more pieces than this is slower than joining the pieces first.
MOST_PIECES = 32

Numbers = NDArray[np.int64]


class RowLog:
    """Rows of one schema, in pieces as they were appended."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._pieces: list[pa.Table] = []
        self._starts = np.zeros(1, np.int64)  # the number of each piece's first row, then the size

    @property
    def size(self) -> int:
        """Rows in the log."""
        return int(self._starts[-1])

    def append(self, rows: pa.Table) -> int:
        """Add rows; returns the number of the first."""
        first = self.size
        if rows.num_rows:
            self._pieces.append(rows)
            self._starts = np.append(self._starts, first + rows.num_rows)
            if len(self._pieces) > MOST_PIECES:
                self._join()
        return first

    def take(self, numbers: Numbers) -> pa.Table:
        """The rows of these numbers."""
        if numbers.size == 0:
            return self._schema.empty_table()
        if _is_sorted(numbers):
            return self._take_sorted(numbers)
        return self.table().take(pa.array(numbers)).combine_chunks()

    def table(self) -> pa.Table:
        """All rows, by number."""
        return pa.concat_tables([self._schema.empty_table(), *self._pieces])

    def compact(self, references: Sequence[Numbers]) -> list[Numbers]:
        """Drop the rows that no array refers to; returns the arrays with the new numbers."""
        if 8 * sum(numbers.size for numbers in references) < self.size:
            return self._keep_few(references)
        used = np.zeros(self.size, np.bool_)
        for numbers in references:
            used[numbers[numbers >= 0]] = True
        new_number = np.cumsum(used) - 1
        self.keep(used)
        return [np.where(numbers < 0, numbers, new_number[numbers]) for numbers in references]

    def keep(self, used: NDArray[np.bool_]) -> None:
        """Drop the rows that are not flagged; the others are numbered anew, in the same order."""
        self._begin_with(self.table().filter(pa.array(used)))

    def _keep_few(self, references: Sequence[Numbers]) -> list[Numbers]:
        """The same without looking at every row of the log."""
        kept = np.unique(np.concatenate(references))
        kept = kept[kept >= 0]
        self._begin_with(self.take(kept))
        return [
            np.where(numbers < 0, numbers, np.searchsorted(kept, numbers)) for numbers in references
        ]

    def _begin_with(self, rows: pa.Table) -> None:
        self._pieces, self._starts = [], np.zeros(1, np.int64)
        self.append(rows.combine_chunks())

    def _take_sorted(self, numbers: Numbers) -> pa.Table:
        edges = np.searchsorted(numbers, self._starts)
        taken = []
        for piece, start, low, high in zip(
            self._pieces, self._starts, edges[:-1], edges[1:], strict=False
        ):
            if low < high:
                places = numbers[low:high] - start
                taken.append(_taken(piece, places))
        return taken[0] if len(taken) == 1 else pa.concat_tables(taken)

    def _join(self) -> None:
        self._pieces = [self.table().combine_chunks()]
        self._starts = np.array([0, self._pieces[0].num_rows], np.int64)


def _taken(piece: pa.Table, places: Numbers) -> pa.Table:
    first, last = int(places[0]), int(places[-1])
    if last - first + 1 == places.size and bool(np.all(np.diff(places) == 1)):
        return piece.slice(first, places.size)
    return piece.take(pa.array(places))


def _is_sorted(numbers: Numbers) -> bool:
    return bool(np.all(numbers[1:] >= numbers[:-1]))
