"""Versions of rows on their way into a table: what takes effect when, and which wins.

A version is a row, or the news that a key has none, with an instant from which it holds and the
time by which it is newer than others of its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.changes import Vector

__all__ = ["Versions", "joined_versions", "no_versions"]

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Versions:
    """at: from when each holds; time: its own, by which it is newer; gone: that its key has no row.

    columns: rows; of one that is gone only the key counts.
    """

    at: Vector
    time: Vector
    gone: Flags
    columns: tuple[pa.Array, ...]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.at)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        vectors = self.at.nbytes + self.time.nbytes + self.gone.nbytes
        return int(vectors) + sum(int(column.nbytes) for column in self.columns)

    def part(self, begin: int, end: int) -> Versions:
        """Those from one place to another."""
        columns = tuple(column.slice(begin, end - begin) for column in self.columns)
        return Versions(self.at[begin:end], self.time[begin:end], self.gone[begin:end], columns)

    def sorted(self) -> Versions:
        """In the order of their instants; of one instant by their own times, then as they came."""
        if self.size < 2:
            return self
        order = np.lexsort((self.time, self.at))
        if bool(np.all(order[1:] > order[:-1])):
            return self
        index = pa.array(order)
        columns = tuple(column.take(index) for column in self.columns)
        return Versions(self.at[order], self.time[order], self.gone[order], columns)


def no_versions(types: Sequence[pa.DataType]) -> Versions:
    """None, of rows with columns of these types."""
    empty = np.empty(0, np.int64)
    columns = tuple(pa.array([], kind) for kind in types)
    return Versions(empty, empty, np.empty(0, np.bool_), columns)


def joined_versions(first: Versions, second: Versions) -> Versions:
    """Both, in order."""
    if not first.size or not second.size:
        return (first if first.size else second).sorted()
    columns = tuple(
        pa.concat_arrays(pair) for pair in zip(first.columns, second.columns, strict=True)
    )
    return Versions(
        np.concatenate([first.at, second.at]),
        np.concatenate([first.time, second.time]),
        np.concatenate([first.gone, second.gone]),
        columns,
    ).sorted()
