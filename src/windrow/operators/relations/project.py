"""Rows of computed columns, and rows that are constant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.operators.relations.changes import Changes, no_changes
from windrow.operators.relations.expressions_of_rows import columns_by_field, evaluated
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.expressions import Expr
from windrow.plan.relations.algebra import Project, Values

__all__ = ["ProjectOperator", "ValuesOperator"]


class ProjectOperator(RelationOperator):
    """Remembers nothing: equal rows have equal values."""

    def __init__(self, node: Project) -> None:
        self._expressions = [item.expression for item in node.items]
        self._types = [field.type.arrow for field in node.fields]
        self._fields = node.input.fields

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """The same changes with the columns computed."""
        del until
        (changes,) = inputs
        if not changes.size:
            return no_changes(self._types)
        leaf = columns_by_field(self._fields, changes.columns)
        columns = tuple(evaluated(part, leaf, changes.size) for part in self._expressions)
        return Changes(changes.at, changes.weight, columns)

    @property
    def nbytes(self) -> int:
        """Nothing is remembered."""
        return 0


class ValuesOperator(RelationOperator):
    """Gives its rows once: they were there at all times."""

    def __init__(self, node: Values) -> None:
        self._rows = node.rows
        self._types = [field.type.arrow for field in node.fields]
        self._is_given = False

    def advance(self, inputs: Sequence[Changes], until: int) -> Changes:
        """All rows at the start of time, in the first call."""
        del inputs, until
        if self._is_given or not self._rows:
            return no_changes(self._types)
        self._is_given = True
        size = len(self._rows)
        columns = tuple(self._column(place) for place in range(len(self._types)))
        return Changes(np.full(size, START_OF_TIME), np.ones(size, np.int64), columns)

    @property
    def nbytes(self) -> int:
        """Nothing is remembered but the plan."""
        return 0

    def _column(self, place: int) -> pa.Array:
        return pa.concat_arrays([_constant(row[place]) for row in self._rows])


def _constant(expression: Expr) -> pa.Array:
    return evaluated(expression, columns_by_field((), ()), 1)
