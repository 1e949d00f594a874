"""What the kernels of view trees work on: structures of arrays, each one argument of a kernel.

Arrays of cells and codes hold all nodes, interleaved: place nodes * cell + node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import Matrix, Vector
from windrow.windows.codes import Codes

__all__ = ["ExtremeArrays", "RankEvents", "SumArrays", "TermEvents", "TreeArrays"]


class TreeArrays(NamedTuple):
    """Who is whose child, the codes that cells are made of, and the lists of cells with rows.

    children[child_from[node] : child_from[node + 1]] are a node's children. What concerns an edge
    is under its lower node: down_of_cell[nodes * cell + child] is the code by which a cell of the
    parent looks at the child, and first_cell, next_cell and previous_cell list the parent's cells
    with rows by that code.
    """

    parent: Vector
    child_from: Vector
    children: Vector
    up_of_cell: Codes
    down_of_cell: Codes
    first_cell: Codes
    next_cell: Codes
    previous_cell: Codes
    group_of_cell: Codes


class SumArrays(NamedTuple):
    """Sums of terms by cell, by code and by group, and where a group was last put out."""

    payload: Matrix
    view: Matrix
    rows_of_cell: Vector
    group_terms: Matrix
    last_out: Vector


class ExtremeArrays(NamedTuple):
    """What a tree of extremes and tallies knows of cells, rows and groups.

    head: the best row of each cell, in its queue or in row_heap. ranks, links: of the root's rows
    for each extreme, as they stand in the window, where the row in place 0 has the number `base`.
    is_listed: which members of `heap`, the cells, are in their group's.
    pair_of_cell: per cell and distinct the code of (group, value), EMPTY for NULL;
    live_cells[distinct, pair]; tally: per group and distinct.
    """

    rows_of_cell: Vector
    view: Vector
    is_live: NDArray[np.bool_]
    head: Vector
    tail: Vector
    ranks: Matrix
    links: NDArray[np.int32]
    base: int
    row_heap: Matrix
    is_listed: NDArray[np.bool_]
    heap: Matrix
    group_root: Vector
    pair_of_cell: Vector
    live_cells: Matrix
    tally: Vector
    last_out: Vector


class TermEvents(NamedTuple):
    """Events with their cells and weights; those of node i begin at i << shift."""

    at: Vector
    sign: NDArray[np.int8]
    cell: Codes
    share: Matrix


class RankEvents(NamedTuple):
    """Events with their cells; for those of the root also the row's number and its ranks.

    number: of the rows in their order, or their slots. rank and present: per event and extreme.
    """

    at: Vector
    sign: NDArray[np.int8]
    cell: Codes
    number: Vector
    rank: Matrix
    present: NDArray[np.uint8]
