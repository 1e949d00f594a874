"""Functions OVER (PARTITION BY ... ORDER BY ... frame)."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.operators.relations.changes import Changes
from windrow.operators.relations.framed_values import FramedValuesOperator
from windrow.operators.relations.neighbour_values import NeighbourValuesOperator, is_shifted
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.relations.algebra import WindowFunctions

__all__ = ["WindowFunctionsOperator"]


class WindowFunctionsOperator(RelationOperator):
    """Every row with the values of its functions; LAG and LEAD alone have a way of their own."""

    def __init__(self, node: WindowFunctions) -> None:
        only_shifted = all(is_shifted(call) for call in node.calls)
        made = NeighbourValuesOperator if only_shifted else FramedValuesOperator
        self._operator: RelationOperator = made(node)

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The rows that come and go, and those whose values change with them."""
        return self._operator.advance(inputs, until)

    @property
    def nbytes(self) -> int:
        """Bytes of everything that it remembers."""
        return self._operator.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes that this many changes may need."""
        return self._operator.growth_bytes(changes)
