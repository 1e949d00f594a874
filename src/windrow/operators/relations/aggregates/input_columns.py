"""The columns of changes that an aggregate reads: expressions over them, each computed once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.aggregates.shape import Measure
from windrow.operators.relations.changes import Changes
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.relations.algebra import Field
from windrow.rows.evaluate import evaluate
from windrow.windows.column_words import ValueWords, value_words
from windrow.windows.wide_decimals import words_of_wide

__all__ = ["InputColumns", "where_all_valid"]

Flags = NDArray[np.uint8]
Words = NDArray[np.int64]


class InputColumns:
    """Expressions over the changes of a relation with these fields."""

    def __init__(self, changes: Changes, fields: tuple[Field, ...]) -> None:
        self._size = changes.size
        self._columns: dict[Expr, pa.Array] = {
            field.ref: column for field, column in zip(fields, changes.columns, strict=True)
        }

    def column(self, expression: Expr) -> pa.Array:
        """The values of the expression, in its type."""
        found = self._columns.get(expression)
        if found is None:
            assert not isinstance(expression, ColumnRef), f"{expression} is no input"
            found = evaluate(expression, self._columns.__getitem__, self._size)
            self._columns[expression] = found
        return found

    def words(self, measures: tuple[Measure, ...]) -> ValueWords:
        """What is summed, a row of words for each measure, and flags of what is there."""
        return value_words([self._summed(each) for each in measures], self._size)

    def _summed(self, measure: Measure) -> pa.Array:
        columns = [self.column(part) for part in measure.arguments]
        if measure.is_counted:
            there = where_all_valid(columns)
            zeros = np.zeros(self._size, np.int64)
            return pa.array(zeros, mask=None if there is None else there == 0)
        (column,) = columns
        if pa.types.is_floating(column.type):
            return column.cast(pa.float64())
        if measure.from_bit is None:
            return column
        missing = column.is_null().to_numpy(zero_copy_only=False)
        return pa.array(_part(column, measure.from_bit), mask=missing)


def where_all_valid(columns: list[pa.Array]) -> Flags | None:
    """Flags of the rows in which no value is NULL; None when all are such."""
    there = None
    for column in columns:
        if column.null_count:
            valid = column.is_valid().cast(pa.uint8()).to_numpy(zero_copy_only=False)
            there = valid if there is None else there & valid
    return there


def _part(column: pa.Array, from_bit: int) -> Words:
    """32 bits of a decimal of two words; from bit 64 on, all that are left, with the sign."""
    words = words_of_wide(column)
    if from_bit == 64:
        return np.ascontiguousarray(words[:, 0])
    return (words[:, 1] >> from_bit) & 0xFFFFFFFF
