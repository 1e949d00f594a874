"""Cells: the rows of one join key and one group of an input, as dense codes.

Needed only where GROUP BY names columns other than the join key; elsewhere a cell is a key.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.keyed.state import CellArrays
from windrow.windows.codes import NO_CODE, NO_FLAGS, Codes, WordCodes
from windrow.windows.growing import enlarged, enlarging_bytes

__all__ = ["CellLists", "Cells"]

_HIGH = 32
_LOW_MASK = (1 << _HIGH) - 1


class Cells:
    """Codes of (key, group) on one input."""

    def __init__(self) -> None:
        self._codes = WordCodes()

    def acquire(self, keys: Codes, groups: Codes) -> tuple[Codes, Codes]:
        """The cell of each row, counted once for the row; and the cells that are new, each once."""
        cells = self._codes.encode((keys.astype(np.int64) << _HIGH) | groups, NO_FLAGS)
        return cells, self._codes.retain(cells)

    def release(self, cells: Codes) -> Codes:
        """Count one row less of each cell; returns the cells that have none: forget them after."""
        return self._codes.release(cells)

    def forget(self, cells: Codes) -> None:
        """Free cells without rows for reuse."""
        self._codes.forget(cells)

    def parts(self, cells: Codes) -> tuple[Codes, Codes]:
        """The key and the group of each cell."""
        words, _ = self._codes.words(cells)
        return (words >> _HIGH).astype(np.int32), (words & _LOW_MASK).astype(np.int32)

    @property
    def capacity(self) -> int:
        """Every cell is below this."""
        return self._codes.capacity

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._codes.nbytes

    def growth_bytes(self, rows: int) -> int:
        """Peak of additional bytes while this many rows are added."""
        return self._codes.growth_bytes(rows)

    def capacity_after(self, rows: int) -> int:
        """What every cell is below once so many rows came, at most."""
        return self._codes.capacity_after(rows)


class CellLists:
    """The lists of cells under each key."""

    def __init__(self) -> None:
        none = _unset(0)
        self.arrays = CellArrays(none, none, none, none, none, np.zeros(0, np.int32))

    def reserve(self, cells: int, keys: int) -> None:
        """Make room for codes below these."""
        arrays = self.arrays
        if 2 * cells > arrays.key_of_cell.size:
            arrays = arrays._replace(
                key_of_cell=_grown(arrays.key_of_cell, 2 * cells),
                group_of_cell=_grown(arrays.group_of_cell, 2 * cells),
                next_cell=_grown(arrays.next_cell, 2 * cells),
                previous_cell=_grown(arrays.previous_cell, 2 * cells),
            )
        if 2 * keys > arrays.first_cell.size:
            arrays = arrays._replace(
                first_cell=_grown(arrays.first_cell, 2 * keys),
                cells_of_key=enlarged(arrays.cells_of_key, 2 * keys),
            )
        self.arrays = arrays

    def place(self, input_index: int, cells: Codes, keys: Codes, groups: Codes) -> None:
        """Say which key and group new cells belong to."""
        self.arrays.key_of_cell[2 * cells + input_index] = keys
        self.arrays.group_of_cell[2 * cells + input_index] = groups

    def growth_bytes(self, cells: int, keys: int) -> int:
        """Peak of additional bytes while room is made for codes below these."""
        of_keys = (self.arrays.first_cell, self.arrays.cells_of_key)
        more = enlarging_bytes(self.arrays[:2] + self.arrays[3:5], 2 * cells)
        return more + enlarging_bytes(of_keys, 2 * keys)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.arrays.nbytes


def _unset(size: int) -> NDArray[np.int32]:
    return np.full(size, NO_CODE, np.int32)


def _grown(array: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    return enlarged(array, size, NO_CODE)
