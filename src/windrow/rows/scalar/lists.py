"""Columns of lists and maps as entries with lengths: what functions of arrays are made of.

A function of arrays is a choice of entries and of how many each row has, so it works on whole
columns, whatever the entries are. Equal entries have equal codes; NULL is an entry like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.rows.nested_columns import list_of
from windrow.windows.order_bytes import order_bytes
from windrow.windows.value_bytes import bytes_of_values, list_parts

__all__ = ["Entries", "codes_of", "entries_of", "flags_of_null", "lists_with", "ranks_of"]

Vector = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Entries:
    """The lists of a column: how many entries each has, all entries, and which lists are NULL.

    children: one column of an array, the keys and the values of a map.
    """

    lengths: Vector
    children: tuple[pa.Array, ...]
    missing: Flags

    @property
    def size(self) -> int:
        """How many lists there are."""
        return self.lengths.size

    @property
    def values(self) -> pa.Array:
        """The entries of an array, or the keys of a map."""
        return self.children[0]

    @cached_property
    def starts(self) -> Vector:
        """The place of the first entry of each list."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def rows(self) -> Vector:
        """The list that each entry is in."""
        return np.repeat(np.arange(self.size), self.lengths)

    @cached_property
    def places(self) -> Vector:
        """The place of each entry within its list, from 0."""
        return np.arange(self.rows.size) - self.starts[self.rows]


def entries_of(column: pa.Array) -> Entries:
    """The entries of a column of lists or maps."""
    lengths, children = list_parts(column)
    return Entries(lengths, tuple(children), flags_of_null(column))


def flags_of_null(column: pa.Array) -> Flags:
    """Where the column is NULL."""
    if not column.null_count:
        return np.zeros(len(column), np.bool_)
    missing: Flags = column.is_null().to_numpy(zero_copy_only=False)
    return missing


def lists_with(
    kind: pa.DataType,
    children: Sequence[pa.Array],
    chosen: Vector,
    rows: Vector,
    missing: Flags,
) -> pa.Array:
    """Lists of chosen entries, which stand in the order of their rows; NULL where missing."""
    lengths = np.bincount(rows, minlength=missing.size).astype(np.int64)
    if missing.any():
        kept = ~missing[rows]
        chosen = chosen[kept]
        lengths[missing] = 0
    index = pa.array(chosen)
    return list_of(kind, lengths, [child.take(index) for child in children], missing)


def codes_of(column: pa.Array) -> Vector:
    """A number for each value, the same for equal ones; NULL has one, too."""
    data = column if pa.types.is_string(column.type) else bytes_of_values(column)
    encoded = pc.dictionary_encode(data, null_encoding="encode")
    found: Vector = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def ranks_of(column: pa.Array) -> Vector:
    """A number for each value that orders as the values do; -1 for NULL."""
    ranks = pc.rank(order_bytes(column), "ascending", tiebreaker="dense").to_numpy()
    found: Vector = ranks.astype(np.int64)
    found[flags_of_null(column)] = -1
    return found
