"""The rows for which a condition is true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.operators.relations.changes import Changes
from windrow.operators.relations.expressions_of_rows import columns_by_field, true_rows
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.relations.algebra import Filter
from windrow.rows.set_aside import guards_in, note_rows

__all__ = ["FilterOperator"]


class FilterOperator(RelationOperator):
    """Remembers nothing: a row that leaves is tested as it was when it entered."""

    def __init__(self, node: Filter) -> None:
        self._condition = node.condition
        self._sets_aside = guards_in(node.condition)
        self._fields = node.input.fields

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The changes of rows for which the condition is true."""
        del until
        (changes,) = inputs
        if not changes.size:
            return changes
        leaf = columns_by_field(self._fields, changes.columns)
        live = true_rows(self._condition, leaf, changes.size)
        if self._sets_aside and not live.all():
            note_rows(self._condition, leaf, changes.size, "", changes.weight)
        return changes if live.all() else changes.taken(np.flatnonzero(live))

    @property
    def nbytes(self) -> int:
        """Nothing is remembered."""
        return 0
