"""The structure of a view tree: who is whose child, what makes a cell, and the lists of cells.

Rows bring codes from several sources, which are numbered: the code of the variables that two inputs
share, of the group, of a group and a value. A source is the same for all inputs and trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.operators.code_tuples import CountedTuples
from windrow.operators.tree.arrays import TreeArrays
from windrow.windows.codes import NO_CODE, Codes
from windrow.windows.growing import enlarged, enlarging_bytes

__all__ = ["NOTHING", "CodesOf", "TreeShape", "TreeStructure"]

# The source of a code that is 0 for every row.
NOTHING = -1

CodesOf = Mapping[int, Codes]
Places = NDArray[np.int32] | NDArray[np.int64]


@dataclass(frozen=True)
class TreeShape:
    """parents: of each node, NO_CODE for the root. edges: the source of each node's code upwards.

    group: the source of the root's group. identities: for each node the sources that tell its cells
    apart; all others follow from them.
    """

    parents: tuple[int, ...]
    edges: tuple[int, ...]
    group: int
    identities: tuple[tuple[int, ...], ...]

    @property
    def root(self) -> int:
        """The node without a parent."""
        return self.parents.index(NO_CODE)

    def children(self, node: int) -> tuple[int, ...]:
        """The nodes below a node."""
        return tuple(i for i, parent in enumerate(self.parents) if parent == node)

    def subtree(self, node: int) -> frozenset[int]:
        """The node and all below it."""
        return frozenset([node]).union(*(self.subtree(child) for child in self.children(node)))

    @property
    def depth(self) -> int:
        """Edges on the longest way from the root."""
        return max(self._height(node) for node in range(len(self.parents)))

    def _height(self, node: int) -> int:
        above = self.parents[node]
        return 0 if above == NO_CODE else 1 + self._height(above)

    @property
    def chain(self) -> tuple[int, int, int] | None:
        """Root, middle and end of a chain of three nodes without groups; None for other trees.

        Root and middle join by one code, middle and end by another.
        """
        if len(self.parents) != len(("root", "middle", "end")) or self.group != NOTHING:
            return None
        (middle, *others) = self.children(self.root)
        if others:
            return None
        (end,) = self.children(middle)
        near, far = self.edges[middle], self.edges[end]
        wanted = {self.root: (near,), middle: tuple(sorted((near, far))), end: (far,)}
        if (
            NOTHING in (near, far)
            or near == far
            or any(self.identities[node] != each for node, each in wanted.items())
        ):
            return None
        return self.root, middle, end

    @property
    def is_star(self) -> bool:
        """Whether every cell of every node is a code of one source, which may be the group too.

        A single node is one where its cells are its groups.
        """
        key = self.identities[0]
        return (
            all(parent in (NO_CODE, self.root) for parent in self.parents)
            and all(each == key for each in self.identities)
            and (len(key) == 1 or len(self.parents) == 1)
            and self.group in (NOTHING, *key)
        )


class TreeStructure:
    """Arrays that the kernels of the tree walk along; places are nodes * cell + node."""

    def __init__(self, shape: TreeShape) -> None:
        self.shape = shape
        self.nodes = len(shape.parents)
        children = [shape.children(node) for node in range(self.nodes)]
        self.arrays = TreeArrays(
            parent=np.array(shape.parents, np.int64),
            child_from=np.cumsum([0, *map(len, children)], dtype=np.int64),
            children=np.array([child for each in children for child in each], np.int64),
            up_of_cell=_codes(0),
            down_of_cell=_codes(0),
            first_cell=_codes(0),
            next_cell=_codes(0),
            previous_cell=_codes(0),
            group_of_cell=np.zeros(0, np.int32),
        )
        self.cell_capacity = 0
        self.code_capacity = 0
        self._folded = [CountedTuples(len(each)) for each in shape.identities]

    def acquire(self, node: int, codes: CodesOf, capacity: Mapping[int, int], rows: int) -> Codes:
        """The cells of a node's rows, counted; capacity: every code of a source is below it."""
        identity = self.shape.identities[node]
        if not identity:
            cells: Codes = np.zeros(rows, np.int32)
        else:
            cells = self._folded[node].acquire([codes[source] for source in identity])
        self._reserve(node, capacity)
        if self._has_other_sources(node):
            self._place(node, cells, codes)
        return cells

    def release(self, node: int, cells: Codes) -> None:
        """Rows of these cells have left."""
        self._folded[node].release(cells)

    def codes(self, node: int, source: int, cells: Codes) -> Codes:
        """The codes of a source that rows of these cells brought."""
        identity = self.shape.identities[node]
        if source in identity:
            return self._folded[node].parts(cells)[identity.index(source)]
        if source == self.shape.edges[node]:
            return self.arrays.up_of_cell[self.nodes * cells.astype(np.int64) + node]
        for child in self.shape.children(node):
            if source == self.shape.edges[child]:
                return self.arrays.down_of_cell[self.nodes * cells.astype(np.int64) + child]
        assert (source, node) == (self.shape.group, self.shape.root)
        return self.arrays.group_of_cell[cells]

    def sources(self, node: int) -> set[int]:
        """The sources whose codes a node's rows bring."""
        found = {*self.shape.identities[node], self.shape.edges[node]}
        found |= {self.shape.edges[child] for child in self.shape.children(node)}
        if node == self.shape.root:
            found.add(self.shape.group)
        return found - {NOTHING}

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        held = sum(array.nbytes for array in self.arrays)
        return held + sum(folded.nbytes for folded in self._folded)

    def sizes_after(self, rows: int, capacity: Mapping[int, int]) -> tuple[int, int]:
        """What cells and codes are below once so many rows came; capacity: of their sources."""
        cells, codes = self.cell_capacity, self.code_capacity
        for identity, folded in zip(self.shape.identities, self._folded, strict=True):
            of_first = capacity.get(identity[0], 1) if identity else 1
            cells = max(cells, folded.capacity_after(rows, of_first))
        edges = [capacity.get(edge, 1) for edge in self.shape.edges if edge != NOTHING]
        return cells, max([codes, 1, *edges])

    def growth_bytes(self, rows: int, cells: int, codes: int) -> int:
        """Peak of additional bytes while so many rows come, with room for codes below these."""
        arrays, folded = self.arrays, sum(each.growth_bytes(rows) for each in self._folded)
        by_cell = (
            arrays.up_of_cell, arrays.down_of_cell, arrays.next_cell, arrays.previous_cell,
        )  # fmt: skip
        more = folded + enlarging_bytes(by_cell, self.nodes * cells)
        more += enlarging_bytes((arrays.group_of_cell,), cells)
        return more + enlarging_bytes((arrays.first_cell,), self.nodes * codes)

    def _has_other_sources(self, node: int) -> bool:
        """Whether a cell is more than one code: then its parts are noted with its rows."""
        identity = self.shape.identities[node]
        return len(identity) > 1 or not self.sources(node) <= set(identity)

    def _reserve(self, node: int, capacity: Mapping[int, int]) -> None:
        identity = self.shape.identities[node]
        first = capacity[identity[0]] if identity else 1
        cells = max(self.cell_capacity, self._folded[node].capacity(first))
        edges = [capacity.get(edge, 1) for edge in self.shape.edges if edge != NOTHING]
        codes = max([self.code_capacity, 1, *edges])
        if cells > self.cell_capacity:
            self._grow_cells(cells)
        if codes > self.code_capacity:
            first_cell = _grown(self.arrays.first_cell, self.nodes * codes)
            self.arrays = self.arrays._replace(first_cell=first_cell)
            self.code_capacity = codes

    def _grow_cells(self, cells: int) -> None:
        old, size, arrays = self.cell_capacity, self.nodes * cells, self.arrays
        self.arrays = arrays._replace(
            up_of_cell=_grown(arrays.up_of_cell, size),
            down_of_cell=_grown(arrays.down_of_cell, size),
            next_cell=_grown(arrays.next_cell, size),
            previous_cell=_grown(arrays.previous_cell, size),
            group_of_cell=enlarged(arrays.group_of_cell, cells),
        )
        # Where a cell is one code only, or none, its parts are known beforehand.
        fresh = np.arange(old, cells)
        for node in range(self.nodes):
            if self._has_other_sources(node):
                continue
            codes = {source: fresh for source in self.shape.identities[node]}
            self._place(node, fresh, codes)
        self.cell_capacity = cells

    def _place(self, node: int, cells: Places, codes: Mapping[int, Places]) -> None:
        """Note the parts of a node's cells."""
        places = self.nodes * cells.astype(np.int64)
        if node == self.shape.root:
            self.arrays.group_of_cell[cells] = codes.get(self.shape.group, 0)
        else:
            self.arrays.up_of_cell[places + node] = codes.get(self.shape.edges[node], 0)
        for child in self.shape.children(node):
            self.arrays.down_of_cell[places + child] = codes.get(self.shape.edges[child], 0)


def _codes(size: int) -> Codes:
    return np.full(size, NO_CODE, np.int32)


def _grown(array: Codes, size: int) -> Codes:
    return enlarged(array, size, NO_CODE)
