"""The newest row of each key, in Arrow columns.

Rows are appended, and a dict has the place of the newest one of each key: an upsert costs O(1) and
its part of copying. Places of rows that others have replaced are dead until all is compacted, which
happens when they are as many as the others.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["Columns", "Key", "NewestRows", "keys_of"]

Columns = tuple[pa.Array, ...]
Key = Hashable
Places = NDArray[np.int64]

# While so few places are dead, nothing is compacted.
DEAD_LET_BE = 1_024
# Bytes of a key in the dict beside the dict itself: a small object, or a text and its header.
_KEY_BYTES = 64
# All NaN are one key, as they are one value.
_NAN = "NaN"


def keys_of(columns: Sequence[pa.Array]) -> list[Key]:
    """The keys of rows, by their key columns: equal where the values are."""
    values = [_values(column) for column in columns]
    return values[0] if len(values) == 1 else list(zip(*values, strict=True))


def _values(column: pa.Array) -> list[Key]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())  # many times as fast as dates
    found: list[Key] = column.to_pylist()
    if pa.types.is_floating(column.type):
        return [(_NAN,) if isinstance(x, float) and math.isnan(x) else x for x in found]
    return found


class NewestRows:
    """Rows with columns of these types; what changes them is computed before it is done.

    places: the place of the newest row of each key.
    """

    def __init__(self, types: Iterable[pa.DataType]) -> None:
        self._types = list(types)
        self.places: dict[Key, int] = {}
        self.chunks: tuple[Columns, ...] = ()
        self._starts = np.zeros(1, np.int64)

    @property
    def size(self) -> int:
        """How many places there are, dead ones included."""
        return int(self._starts[-1])

    def columns(self, places: Places) -> Columns:
        """The rows at these places, in their order."""
        if not places.size:
            return tuple(pa.array([], kind) for kind in self._types)
        chunk_of = np.searchsorted(self._starts, places, side="right") - 1
        order = np.argsort(chunk_of, kind="stable")
        found: list[Columns] = []
        for number in np.unique(chunk_of).tolist():
            inside = places[chunk_of == number] - self._starts[number]
            index = pa.array(inside)
            found.append(tuple(column.take(index) for column in self.chunks[number]))
        if len(found) == 1:
            return found[0]
        back = np.empty(order.size, np.int64)
        back[order] = np.arange(order.size)
        index = pa.array(back)
        joined = (pa.concat_arrays([part[i] for part in found]) for i in range(len(self._types)))
        return tuple(column.take(index) for column in joined)

    def all(self) -> Columns:
        """The newest row of each key."""
        return self.columns(np.sort(np.fromiter(self.places.values(), np.int64, len(self.places))))

    def appended(self, columns: Columns) -> tuple[Columns, ...]:
        """The chunks with more rows at the end."""
        chunks, last = list(self.chunks), columns
        if not len(columns[0]):
            return self.chunks
        # From the last to the first chunk each is larger by half at least: few, however many came.
        while chunks and 2 * len(chunks[-1][0]) <= 3 * len(last[0]):
            before = chunks.pop()
            last = tuple(pa.concat_arrays(pair) for pair in zip(before, last, strict=True))
        return (*chunks, last)

    def change(self, chunks: tuple[Columns, ...], places: Mapping[Key, int | None]) -> None:
        """Have these chunks, and newest rows at these places; None: no row. Twice is as once."""
        gone = [key for key, place in places.items() if place is None]
        self.chunks = chunks
        self._starts = np.cumsum([0, *(len(chunk[0]) for chunk in chunks)])
        self.places.update((key, place) for key, place in places.items() if place is not None)
        for key in gone:
            self.places.pop(key, None)

    @property
    def is_sparse(self) -> bool:
        """Whether so many places are dead that it should be compacted."""
        return self.size > 2 * len(self.places) + DEAD_LET_BE

    def compacted(self) -> NewestRows:
        """The same rows without dead places."""
        found = NewestRows(self._types)
        ordered = sorted(self.places, key=self.places.__getitem__)
        found.change((self.all(),) if ordered else (), {key: i for i, key in enumerate(ordered)})
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of rows, dead ones included, and of keys."""
        rows = sum(int(column.nbytes) for chunk in self.chunks for column in chunk)
        return rows + sys.getsizeof(self.places) + _KEY_BYTES * len(self.places)
