"""Expressions over the columns of changes: a column is found by the id of its field."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.relations.algebra import Field
from windrow.rows.evaluate import (
    Leaf,
    error_at,
    evaluate,
    evaluate_checked,
    evaluate_filter,
)

__all__ = ["columns_by_field", "evaluated", "evaluated_where", "true_rows"]

Flags = NDArray[np.bool_]


def columns_by_field(fields: Sequence[Field], columns: Sequence[pa.Array]) -> Leaf:
    """What gives the column that an expression names."""
    by_id = {field.id: column for field, column in zip(fields, columns, strict=True)}

    def leaf(part: Expr) -> pa.Array:
        assert isinstance(part, ColumnRef), f"{part} is no column of a relation"
        return by_id[part.column]

    return leaf


def evaluated(expression: Expr, leaf: Leaf, length: int) -> pa.Array:
    """The value of the expression in each row; a plain column is not copied."""
    if isinstance(expression, ColumnRef):
        return leaf(expression)
    return evaluate(expression, leaf, length)


def evaluated_where(expression: Expr, leaf: Leaf, length: int, live: Flags | None) -> pa.Array:
    """The same, where rows that are not live may have no value."""
    if isinstance(expression, ColumnRef):
        return leaf(expression)
    found, faults = evaluate_checked(expression, leaf, length)
    if faults is not None and live is not None:
        faults = faults & live
    if faults is not None and faults.any():
        raise error_at(expression, leaf, faults)
    return found


def true_rows(condition: Expr, leaf: Leaf, length: int) -> Flags:
    """Where the condition is true: neither false nor NULL."""
    return evaluate_filter(condition, leaf, length)
