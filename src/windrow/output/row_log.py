"""A log of result rows, addressed by number; rows that nobody refers to are dropped at times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.backlog import Backlog, joined_rows
from windrow.output import group_kernels

__all__ = ["Numbers", "RowLog", "renumbered", "taken_rows"]

# For fewer rows than this part of the log, only what is wanted is gathered from its pieces.
FEW_PARTS = 4
# For fewer references than this part of the log, not every row of it is looked at.
MANY_PARTS = 8
# What buffers may be larger than their rows without being copied.
SLACK_BYTES = 4096

Numbers = NDArray[np.int64]


class RowLog:
    """Rows of one schema, in pieces as they were appended."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: Backlog[pa.Table] = Backlog(joined_rows)

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, self._rows)

    @property
    def size(self) -> int:
        """Rows in the log."""
        return self._rows.end

    @property
    def nbytes(self) -> int:
        """Bytes of the rows."""
        return self._rows.nbytes

    def append(self, rows: pa.Table) -> int:
        """Add rows; returns the number of the first."""
        first = self.size
        # A slice would hold on to all of what it was cut from.
        is_slice = rows.get_total_buffer_size() > 2 * rows.nbytes + SLACK_BYTES
        self._rows.append(joined_rows([rows]) if is_slice else rows)
        return first

    def nbytes_of(self, numbers: Numbers) -> int:
        """Bytes of the rows of these numbers, each of which is named once."""
        numbers, total = np.sort(numbers), 0
        edges = np.cumsum([0, *(piece.num_rows for piece in self._rows.parts)])
        places = np.searchsorted(numbers, edges)
        for number, piece in enumerate(self._rows.parts):
            start, low, high = int(edges[number]), places[number], places[number + 1]
            if low < high:
                total += _row_bytes(piece, numbers[low:high] - start)
        return total

    def read(self, numbers: Numbers) -> pa.Table:
        """The rows of these numbers."""
        if numbers.size == 0:
            return self._schema.empty_table()
        if _is_sorted(numbers):
            return self._read_sorted(numbers)
        low, high = int(numbers.min()), int(numbers.max()) + 1
        if FEW_PARTS * numbers.size < high - low:
            different, places = np.unique(numbers, return_inverse=True)
            return self._read_sorted(different).take(pa.array(places)).combine_chunks()
        # From one piece: looking for the piece of every row costs more than putting them together.
        whole = joined_rows(self._rows.since(low, high))
        return whole.take(pa.array(numbers - low))

    def table(self) -> pa.Table:
        """All rows, by number."""
        return pa.concat_tables([self._schema.empty_table(), *self._rows.parts])

    def compact(self, references: Sequence[Numbers]) -> list[Numbers]:
        """Drop the rows that no array refers to; returns the arrays with the new numbers."""
        kept, renamed = renumbered(references, self.size)
        self._begin_with(self.read(kept))
        return renamed

    def keep(self, used: NDArray[np.bool_]) -> None:
        """Drop the rows that are not flagged; the others are renumbered, in the same order."""
        self._begin_with(self.table().filter(pa.array(used)))

    def _begin_with(self, rows: pa.Table) -> None:
        self._rows = Backlog(joined_rows)
        self.append(joined_rows([rows]))

    def _read_sorted(self, numbers: Numbers) -> pa.Table:
        # From the end: the newest are read most often.
        taken, after, high = [], self.size, numbers.size
        for piece in reversed(self._rows.parts):
            after -= piece.num_rows
            low = int(np.searchsorted(numbers[:high], after))
            if low < high:
                taken.append(taken_rows(piece, numbers[low:high] - after))
            high = low
            if not low:
                break
        return taken[0] if len(taken) == 1 else pa.concat_tables(taken[::-1])


def renumbered(references: Sequence[Numbers], size: int) -> tuple[Numbers, list[Numbers]]:
    """The numbers below `size` that arrays refer to, in order, and the arrays in terms of these."""
    if MANY_PARTS * sum(numbers.size for numbers in references) < size:
        kept = np.unique(np.concatenate(references))
        kept = kept[kept >= 0]
        return kept, [
            np.where(numbers < 0, numbers, np.searchsorted(kept, numbers)) for numbers in references
        ]
    used = np.zeros(size, np.uint8)
    for numbers in references:
        group_kernels.mark_used(numbers, used)
    new_number, kept = np.empty(size, np.int32), np.empty(size + 1, np.int64)
    count = group_kernels.number_used(used, new_number, kept)
    renamed = [np.empty_like(numbers) for numbers in references]
    for numbers, out in zip(references, renamed, strict=True):
        group_kernels.rename(numbers, new_number, out)
    return kept[:count], renamed


def _row_bytes(piece: pa.Table, places: Numbers) -> int:
    total = 0
    for column in piece.columns:
        if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
            lengths = pc.fill_null(pc.binary_length(column), 0).to_numpy()
            total += int(lengths[places].sum()) + 4 * places.size
        elif pa.types.is_nested(column.type):
            total += int(column.nbytes * places.size // max(1, len(column)))
        else:
            total += -(-column.type.bit_width * places.size // 8)
    return total


def taken_rows(piece: pa.Table, places: Numbers) -> pa.Table:
    """Rows in order of their places; those that lie side by side are not copied."""
    if places.size == 0:
        return piece.slice(0, 0)
    first, last = int(places[0]), int(places[-1])
    if last - first + 1 == places.size and bool(np.all(np.diff(places) == 1)):
        return piece.slice(first, places.size)
    return piece.take(pa.array(places))


def _is_sorted(numbers: Numbers) -> bool:
    return bool(np.all(numbers[1:] >= numbers[:-1]))
