"""What the kernels of joins work on: structures of arrays, each one argument of a kernel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.operators.relations.changes import Vector
from windrow.windows.codes import Codes

__all__ = ["EventArrays", "InputArrays", "JoinedArrays", "MatchArrays", "PairArrays"]

Flags = NDArray[np.uint8]


class EventArrays(NamedTuple):
    """Changes of both inputs in one order: when, of which input, which row, how many copies."""

    at: Vector
    input: Flags
    code: Codes
    weight: Vector

    @classmethod
    def of_size(cls, size: int) -> EventArrays:
        """Room for that many."""
        at, weight = np.empty(size, np.int64), np.empty(size, np.int64)
        return cls(at, np.empty(size, np.uint8), np.empty(size, np.int32), weight)


class InputArrays(NamedTuple):
    """Rows of an input by their codes, and the list of those with each key.

    counts: as in HeldRows. first_row is by key, the others by row.
    """

    counts: NDArray[np.int64]
    key_of_row: Codes
    first_row: Codes
    next_row: Codes
    previous_row: Codes


class PairArrays(NamedTuple):
    """Pairs: by which event, of which rows, and how many copies there are of the one it met."""

    event: Vector
    left: Codes
    right: Codes
    copies: Vector

    @classmethod
    def of_size(cls, size: int) -> PairArrays:
        """Room for that many."""
        event, copies = np.empty(size, np.int64), np.empty(size, np.int64)
        return cls(event, np.empty(size, np.int32), np.empty(size, np.int32), copies)

    def taken(self, places: slice | NDArray[np.bool_]) -> PairArrays:
        """Some of them."""
        codes = self.left[places], self.right[places]
        return PairArrays(self.event[places], *codes, self.copies[places])


class MatchArrays(NamedTuple):
    """Rows of an input whose matches count, by their codes; noted: codes, in any order."""

    held: Vector
    matches: Vector
    shown: Vector
    is_noted: Flags
    noted: Codes

    @classmethod
    def of_size(cls, size: int) -> MatchArrays:
        """None held, with room for that many."""
        held, matches, shown = np.zeros((3, size), np.int64)
        return cls(held, matches, shown, np.zeros(size, np.uint8), np.zeros(size, np.int32))


class JoinedArrays(NamedTuple):
    """Changes of the join: of a pair, or of a row alone (the other one is EMPTY)."""

    at: Vector
    weight: Vector
    left: Codes
    right: Codes

    @classmethod
    def of_size(cls, size: int) -> JoinedArrays:
        """Room for that many."""
        at, weight = np.empty(size, np.int64), np.empty(size, np.int64)
        return cls(at, weight, np.empty(size, np.int32), np.empty(size, np.int32))

    def first(self, size: int) -> JoinedArrays:
        """The first ones."""
        return JoinedArrays(self.at[:size], self.weight[:size], self.left[:size], self.right[:size])
