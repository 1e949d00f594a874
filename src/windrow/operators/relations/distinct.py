"""Every different row once."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.operators.relations.changes import Changes
from windrow.operators.relations.count_kernels import DISTINCT
from windrow.operators.relations.counted_rows import CountedRows
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.relations.algebra import Distinct

__all__ = ["DistinctOperator"]


class DistinctOperator(RelationOperator):
    """Counts rows; a row enters with the first of its copies and leaves with the last."""

    def __init__(self, node: Distinct) -> None:
        self._rows = CountedRows(DISTINCT, [field.type.arrow for field in node.fields], 1)

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The rows of which there are some now, or none any more, net at each instant."""
        del until
        return self._rows.advance(inputs)

    @property
    def nbytes(self) -> int:
        """Bytes of the different rows and their counts."""
        return self._rows.nbytes

    def growth_bytes(self, changes: int) -> int:
        """Peak of additional bytes."""
        return self._rows.growth_bytes(changes)
