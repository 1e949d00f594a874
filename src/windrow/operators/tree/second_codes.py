"""Which input's rows keep a second code for themselves, instead of being in cells of two codes.

Cells of two codes are worth their lists and tables where many rows are in each. Most have one row;
then it is faster to go through rows, whose second codes stand side by side (queue_kernels.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from windrow.operators.tree.sources import TreeSources
from windrow.operators.tree.structure import NOTHING
from windrow.plan.model import QueryPlan
from windrow.windows.codes import Codes

__all__ = ["SecondCode", "Walks", "not_counted", "prefers_cells", "second_code"]

# It is looked whether cells would serve better once so many rows were gone through for each held,
# and each time that there are twice as many: sorting the rows is little beside that.
WALKED_FOR_EACH = 512
FEW_WALKED = 1 << 16
# Going on to the next cell of a list takes as long as going through so many rows side by side.
ROWS_FOR_A_CELL = 8


class SecondCode(NamedTuple):
    """The input, and the source of the second code of its rows."""

    input_index: int
    source: int


class Walks:
    """Watches how many rows are gone through, and whether they are many for each cell."""

    def __init__(self) -> None:
        self._look_at = FEW_WALKED

    def are_due(self, walked: int, rows: int) -> bool:
        """Whether it is time to look at the rows; walked: how many were gone through so far."""
        if walked < max(self._look_at, WALKED_FOR_EACH * rows):
            return False
        self._look_at = 2 * walked
        return True


def not_counted(codes: Codes) -> Codes:
    """What stands for the codes of NULL, which are not counted; and the codes of that.

    >>> not_counted(np.array([0, 7])).tolist(), not_counted(not_counted(np.array([0, 7]))).tolist()
    ([-2, -9], [0, 7])
    """
    return -2 - codes  # NO_CODE is a row that takes no part


def prefers_cells(owners: Codes, codes: Codes) -> bool:
    """Whether rows with these codes, by owner, are better gone through in cells.

    An owner is taken to be asked for as often as it has rows.

    >>> prefers_cells(np.zeros(9, np.int32), np.zeros(9, np.int32))
    True
    >>> prefers_cells(np.zeros(9, np.int32), np.arange(9, dtype=np.int32))
    False
    """
    if not owners.size:
        return False
    rows = np.bincount(owners)
    cells = np.unique((owners.astype(np.int64) << 32) | codes.astype(np.uint32))
    cells_of = np.bincount(cells >> 32, minlength=rows.size)
    return bool((rows * rows).sum() > ROWS_FOR_A_CELL * (rows * cells_of).sum())


def second_code(plan: QueryPlan, sources: TreeSources) -> SecondCode | None:
    """The second code of a chain's middle, or of what is counted DISTINCT; None: cells serve."""
    shape = sources.shape
    if shape.is_folded or sources.group != NOTHING:
        return None
    found = _of_chain(sources) if not sources.found.extreme_roots else _of_distinct(sources)
    if found is None:
        return None
    traits = plan.inputs[found.input_index].window.traits
    leaves_in_order = not traits.counts_by_partition and not traits.is_scheduled
    return found if leaves_in_order else None


def _of_chain(sources: TreeSources) -> SecondCode | None:
    """Of joined rows that are counted, and nothing else."""
    tree = sources.tree(sources.found.linear_root, is_linear=True)
    if tree.chain is None or sources.shape.measures:
        return None
    _, middle, end = tree.chain
    return SecondCode(middle, tree.edges[end])


def _of_distinct(sources: TreeSources) -> SecondCode | None:
    """Of one COUNT(DISTINCT) over windows that all join by one key, or over one window."""
    shape, roots = sources.shape, sources.found.extreme_roots
    tree = sources.tree(sources.found.linear_root, is_linear=True)
    is_alone = len(shape.distincts) == 1 and not shape.extremes
    if not is_alone or not tree.is_star:
        return None
    return SecondCode(roots[0], sources.pair(0))
