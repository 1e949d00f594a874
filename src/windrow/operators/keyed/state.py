"""The state of the factorised aggregate as kernels take it: one structure of arrays a thing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.operators.group_updates import OutputArrays
from windrow.operators.lanes import Matrix, Vector
from windrow.windows.codes import Codes, WordTables
from windrow.windows.window import WindowArrays

__all__ = ["CellArrays", "EventArrays", "KeyedState", "StepArrays"]


class KeyedState(NamedTuple):
    """All that is known of rows that have entered and not left.

    counts, lanes: of the rows of a cell, both inputs interleaved (place 2 * code + input).
    group_count, group_lanes: of the joined rows of a group. last_out: where the group's last state
    stands in the output.
    """

    counts: Vector
    lanes: Matrix
    group_count: Vector
    group_lanes: Matrix
    last_out: Vector

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(array.nbytes for array in self)


class StepArrays(NamedTuple):
    """All that one row of a join without groups may change."""

    left: WindowArrays
    right: WindowArrays
    keys: WordTables
    state: KeyedState
    output: OutputArrays


class EventArrays(NamedTuple):
    """Rows that enter and leave: when, how often they count (negative: they leave), where, what."""

    at: Vector
    times: NDArray[np.int8] | Vector
    cell: Codes
    share: Matrix


class CellArrays(NamedTuple):
    """The lists of cells under each key, both inputs interleaved: place 2 * code + input."""

    key_of_cell: Codes
    group_of_cell: Codes
    first_cell: Codes
    next_cell: Codes
    previous_cell: Codes
    cells_of_key: NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(array.nbytes for array in self)
