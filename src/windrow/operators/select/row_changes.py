"""Rows of a select that came and went in a step, and the arrays in which kernels find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["FoundChanges", "RowChanges", "RowWords"]

Vector = NDArray[np.int64]
Signs = NDArray[np.int8]
Places = NDArray[np.int32]


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
    left: Places
    right: Places

    @classmethod
    def room(cls, size: int) -> FoundChanges:
        """Room for so many."""
        places = (np.empty(size, np.int32) for _ in range(2))
        return cls(np.empty(size, np.int64), np.empty(size, np.int8), *places)

    def first(self, count: int) -> FoundChanges:
        """The first of them."""
        at, sign, left, right = self
        return FoundChanges(at[:count], sign[:count], left[:count], right[:count])

    def doubled(self) -> FoundChanges:
        """With as much room again."""
        size = self.at.size
        more = FoundChanges.room(2 * size)
        more.at[:size], more.sign[:size] = self.at, self.sign
        more.left[:size], more.right[:size] = self.left, self.right
        return more


class RowWords(NamedTuple):
    """The rows of changes as words, a row of the matrix for each column of the select list.

    is_float: whether a word has the bits of a double. No flags of validity: nothing is NULL.
    """

    words: NDArray[np.int64]
    valid: NDArray[np.uint8]
    is_float: NDArray[np.bool_]
