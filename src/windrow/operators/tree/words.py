"""What a row of the tree operator's windows carries in addition to its time and cell.

Its values are words of the rows, which other queries may read, too. What is made of them is in own
words, which no other query knows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.tree.second_codes import SecondCode, second_code
from windrow.operators.tree.sources import TreeSources
from windrow.plan.expressions import ColumnRef
from windrow.plan.factorisation import factorisation
from windrow.plan.model import QueryPlan
from windrow.rows.shape import QueryShape
from windrow.windows.codes import NO_CODE

__all__ = ["InputWords", "Places", "Slots", "keeps_values"]

Places = NDArray[np.int64]


class InputWords:
    """Which own word of a row holds what: ranks, links, cells of more trees, second code, slot.

    second: the input whose rows have a second code that is no part of a cell; of one window, whose
    rows are all in one cell, it stands in the place of the cell. values: how many are kept as words
    of the rows; the only one may be what the second code stands for. cells: for each further tree
    the own word that holds the cell, NO_CODE where it is that of the first tree.
    """

    def __init__(
        self, plan: QueryPlan, sources: TreeSources, second: SecondCode | None, input_index: int
    ) -> None:
        shape = sources.shape
        self.ranks = len(sources.extremes(input_index))
        is_out_of_order = plan.inputs[input_index].window.traits.counts_by_partition
        self.has_slot = bool(self.ranks) and is_out_of_order
        self.has_second = second is not None and second.input_index == input_index
        self.is_second_only = self.has_second and len(plan.inputs) == 1
        self.has_values = not (self.is_second_only and _is_all_counted(shape))
        self.values = len(shape.inputs[input_index].values) if self.has_values else 0
        # Rows that leave as they came are chained, in a word for each extreme.
        place = self.ranks if self.has_slot else 2 * self.ranks
        self.cells: list[int] = []
        for root in sources.found.extreme_roots:
            is_same = self.has_second or sources.has_same_cells(root, input_index)
            self.cells.append(NO_CODE if is_same else place)
            place += not is_same
        self.second = NO_CODE if self.is_second_only else place
        self.count = place + (self.has_second and not self.is_second_only) + self.has_slot


def keeps_values(plan: QueryPlan, shape: QueryShape, input_index: int) -> bool:
    """Whether rows of an input of a tree keep the values of aggregates as words."""
    found = factorisation(plan)
    assert not isinstance(found, str), found
    sources = TreeSources(shape, found)
    return InputWords(plan, sources, second_code(plan, sources), input_index).has_values


def _is_all_counted(shape: QueryShape) -> bool:
    """Whether the values of rows are nothing but what one COUNT(DISTINCT) tells apart."""
    is_alone = len(shape.inputs[0].values) == len(shape.distincts) == 1 and not shape.measures
    return is_alone and isinstance(shape.distincts[0].argument, ColumnRef)


class Slots:
    """Numbers of rows that stay when rows move, used again when rows have left."""

    def __init__(self) -> None:
        self.size = 0
        self._free = np.empty(0, np.int64)

    def take(self, count: int) -> Places:
        """So many numbers that no row has."""
        reused, self._free = self._free[:count], self._free[count:]
        fresh = np.arange(self.size, self.size + count - reused.size)
        self.size += fresh.size
        return np.concatenate([reused, fresh])

    def give(self, slots: Places) -> None:
        """Rows with these numbers have left."""
        self._free = np.concatenate([self._free, slots])

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._free.nbytes
