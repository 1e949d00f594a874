"""How many joined rows there can be: fewer than all rows with all others, as keys divide them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from windrow.operators.tree.structure import NOTHING, TreeShape

__all__ = ["JoinedRows"]

# Codes are looked through again once so many rows came as a part of them: O(1) a row.
LOOKED_AT_PARTS = 16


class JoinedRows:
    """A bound on joined rows from the most rows that any code of an edge of the tree has.

    A row of the root joins with at most so many rows of a child as one code of their edge has, each
    of these with at most so many of its own children, and so on; a part of the tree below any edge
    cannot have more. most_rows gives, for a source, the most rows of any code and how many codes
    were looked through for it.
    """

    def __init__(self, shape: TreeShape, most_rows: Callable[[int], tuple[int, int]]) -> None:
        self._shape, self._most_rows = shape, most_rows
        self._counted: dict[int, int] = {}
        self._codes = 0  # that were looked through for this
        self._since = 0  # rows that came since

    def add(self, rows: int) -> None:
        """So many rows came, all perhaps with the same code."""
        self._since += rows

    def stay_below(self, limit: int, rows: Sequence[int]) -> bool:
        """Whether there are fewer joined rows than the limit; rows: of each input, at most."""
        if self._counted and self._bound(rows) < limit:
            return True
        if self._since * LOOKED_AT_PARTS < self._codes:
            return False
        found = {edge: self._most_rows(edge) for edge in self._edges()}
        self._counted = {edge: most for edge, (most, _) in found.items()}
        self._codes = sum(codes for _, codes in found.values())
        self._since = 0
        return self._bound(rows) < limit

    def _bound(self, rows: Sequence[int]) -> int:
        edges = self._shape.edges
        return prod(
            rows[node]
            if node == self._shape.root or edges[node] == NOTHING
            else min(rows[node], self._counted[edges[node]] + self._since)
            for node in range(len(edges))
        )

    def _edges(self) -> set[int]:
        return set(self._shape.edges) - {NOTHING}
