"""The value columns of prepared rows: which expressions of one input are kept, and in what type.

A value that is only summed or counted is kept as a number: BIGINT, DOUBLE or its DECIMAL (of other
types, whether it is NULL). A value that a larger expression reads keeps its own type.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from windrow.plan.expressions import Call, ColumnRef, Expr, inputs_of
from windrow.rows.prepared_names import VALUE, column_name
from windrow.schema import BIGINT, DOUBLE, ColumnType

__all__ = ["ValueColumns", "summed_type"]


class ValueColumns:
    """Collects the value columns of every input, each once."""

    def __init__(self, inputs: int) -> None:
        self._values: list[list[tuple[Expr, ColumnType]]] = [[] for _ in range(inputs)]

    def measured(self, input_index: int, part: Expr) -> ColumnRef:
        """The column of a value that is only summed or counted."""
        return self._column(input_index, part, summed_type(part.type))

    def factors(self, term: tuple[Expr, ...]) -> tuple[ColumnRef, ...]:
        """The columns of a term's factors: each reads one input, a constant goes to any other."""
        taken = {input_index for part in term for input_index in inputs_of(part)}
        free = next(
            (input_index for input_index in range(len(self._values)) if input_index not in taken), 0
        )
        return tuple(self.measured(min(inputs_of(part), default=free), part) for part in term)

    def joined(self, expression: Expr) -> Expr:
        """The expression over value columns: its largest parts of one input become columns."""
        reads = inputs_of(expression)
        if len(reads) == 1:
            return self._column(min(reads), expression, expression.type)
        if isinstance(expression, Call) and reads:
            arguments = tuple(self.joined(part) for part in expression.arguments)
            return replace(expression, arguments=arguments)
        return expression

    def of(self, input_index: int) -> tuple[tuple[Expr, ...], tuple[pa.DataType, ...]]:
        """The expressions and Arrow types of an input's columns."""
        columns = self._values[input_index]
        return tuple(part for part, _ in columns), tuple(kind.arrow for _, kind in columns)

    def _column(self, input_index: int, part: Expr, kind: ColumnType) -> ColumnRef:
        known = self._values[input_index]
        if (part, kind) not in known:
            known.append((part, kind))
        return ColumnRef(input_index, column_name(VALUE, known.index((part, kind))), kind)


def summed_type(kind: ColumnType) -> ColumnType:
    """The type in which a value is summed or counted."""
    if kind.is_float:
        return DOUBLE
    return kind if kind.name == "DECIMAL" else BIGINT
