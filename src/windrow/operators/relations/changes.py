"""Changes of a relation: rows that enter it (weight > 0) and leave it (weight < 0), in time order.

All changes of one instant happen at once: only what holds after the instant counts. So the changes
of an instant may name a row several times, and only the sum of its weights matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.windows.codes import Codes

__all__ = ["Changes", "Vector", "merged_changes", "no_changes"]

Vector = NDArray[np.int64]


@dataclass(frozen=True)
class Changes:
    """at: instants, not decreasing. weight: how many copies of the row enter or leave, never 0.

    columns: the rows, one array for each field of the relation, in exactly its Arrow type.
    numbers: those of a window have one for each row, which no other row has while this is there or
    in the same step; all weights are 1 or -1 then.
    entering: in the place of columns the rows that enter alone, for whoever knows others by number.
    """

    at: Vector
    weight: Vector
    columns: tuple[pa.Array, ...]
    numbers: Codes | None = None
    entering: tuple[pa.Array, ...] | None = None

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.at)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        columns = sum(int(each.nbytes) for each in (*self.columns, *(self.entering or ())))
        numbers = 0 if self.numbers is None else self.numbers.nbytes
        return int(self.at.nbytes + self.weight.nbytes) + columns + numbers

    def taken(self, places: Vector) -> Changes:
        """Those at these places, which must keep the order of time."""
        index = pa.array(places)
        columns = tuple(column.take(index) for column in self.columns)
        return Changes(self.at[places], self.weight[places], columns)


def no_changes(types: Sequence[pa.DataType]) -> Changes:
    """None, of a relation with columns of these types."""
    empty = np.empty(0, np.int64)
    return Changes(empty, empty, tuple(pa.array([], kind) for kind in types))


def merged_changes(parts: Sequence[Changes], types: Sequence[pa.DataType]) -> Changes:
    """All of them in time order, those of one instant in the order of the parts."""
    parts = [part for part in parts if part.size]
    if not parts:
        return no_changes(types)
    if len(parts) == 1:
        return parts[0]
    at = np.concatenate([part.at for part in parts])
    weight = np.concatenate([part.weight for part in parts])
    columns = tuple(
        pa.concat_arrays([part.columns[i] for part in parts]) for i in range(len(types))
    )
    whole = Changes(at, weight, columns)
    if bool(np.all(at[1:] >= at[:-1])):
        return whole
    return whole.taken(np.argsort(at, kind="stable"))
