"""Rows of a select that came and went in a step, and the arrays in which kernels find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["ColumnArrays", "FoundChanges", "RowChanges"]

Vector = NDArray[np.int64]
Signs = NDArray[np.int8]


@dataclass(frozen=True)
class RowChanges:
    """When rows came (+1) and went (-1), in time order; those of an instant in order of the rows.

    columns: the values of the select list, constants left out. At an instant a row has only the net
    of its changes, once for each copy.
    """

    at: Vector
    sign: Signs
    columns: list[pa.Array]


class FoundChanges(NamedTuple):
    """The same as kernels find them: left, right: the places of the rows in their windows."""

    at: Vector
    sign: Signs
    left: Vector
    right: Vector

    @classmethod
    def room(cls, size: int) -> FoundChanges:
        """Room for so many."""
        places = (np.empty(size, np.int64) for _ in range(2))
        return cls(np.empty(size, np.int64), np.empty(size, np.int8), *places)

    def first(self, count: int) -> FoundChanges:
        """The first of them."""
        return FoundChanges(*(each[:count] for each in self))

    def doubled(self) -> FoundChanges:
        """With as much room again."""
        more = FoundChanges.room(self.at.size)
        return FoundChanges(*map(np.concatenate, zip(self, more, strict=True)))


class ColumnArrays(NamedTuple):
    """Where a kernel finds the words of columns: of the left or the right row, in which matrix.

    is_float: whether a word has the bits of a double. No flags of validity: nothing is NULL.
    """

    side: NDArray[np.uint8]
    word: Vector
    is_float: NDArray[np.bool_]
    left_words: Vector
    left_valid: NDArray[np.uint8]
    right_words: Vector
    right_valid: NDArray[np.uint8]
