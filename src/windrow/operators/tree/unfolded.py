"""Rows with two codes that make no cell: one is their cell, each row keeps the other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from windrow.operators.tree.structure import NOTHING, CodesOf, TreeStructure
from windrow.windows.codes import Codes

__all__ = ["UnfoldedStructure"]


class UnfoldedStructure(TreeStructure):
    """The structure of a tree in which the rows of one node have a second code.

    The cell of a row is the code of the edge to its parent, or of the root's to its first child; a
    node alone has one cell. So there is nothing to fold, to count or to list.
    """

    def acquire(self, node: int, codes: CodesOf, capacity: Mapping[int, int], rows: int) -> Codes:
        """The cells of a node's rows; capacity: every code of a source is below it."""
        self.capacity = dict(capacity)
        source = self.first_source(node)
        return np.zeros(rows, np.int32) if source == NOTHING else codes[source]

    def release(self, node: int, cells: Codes) -> None:
        """Rows of these cells have left."""

    def codes(self, node: int, source: int, cells: Codes) -> Codes:
        """The codes of a source that rows of these cells brought."""
        assert source == self.first_source(node)
        return cells

    def first_source(self, node: int) -> int:
        """The source of a node's cells."""
        shape = self.shape
        if self.nodes == 1:
            return NOTHING
        return shape.edges[shape.children(node)[0] if node == shape.root else node]

    def sources(self, node: int) -> set[int]:
        """The sources whose codes the cells of a node's rows are."""
        return {self.first_source(node)} - {NOTHING}
