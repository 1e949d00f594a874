"""Values on the way through an expression: a column, or one scalar for all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from windrow.plan.expressions import Expr
from windrow.schema import ColumnType

__all__ = [
    "Function",
    "Leaf",
    "Value",
    "as_array",
    "from_numpy",
    "map_distinct",
    "numbers",
    "over_arrays",
    "true_where",
]

Value = pa.Array | pa.Scalar
Function = Callable[[list[Any], ColumnType], Any]
Leaf = Callable[[Expr], pa.Array]  # the column of a ColumnRef, GroupRef or AggregateRef


def as_array(value: Any, length: int) -> pa.Array:
    """The value as a column of that length."""
    if not isinstance(value, pa.Scalar):
        return value
    return pa.repeat(value, length) if value.is_valid else pa.nulls(length, value.type)


def over_arrays(function: Function) -> Function:
    """The function for arguments of which some or all are scalars, where it knows columns only."""

    def spread(arguments: list[Any], kind: ColumnType) -> Any:
        lengths = [len(value) for value in arguments if not isinstance(value, pa.Scalar)]
        length = lengths[0] if lengths else 1
        result = function([as_array(value, length) for value in arguments], kind)
        return result if lengths else result[0]

    return spread


def numbers(array: pa.Array) -> npt.NDArray[Any]:
    """The numbers of a column; where it is NULL, any number."""
    if array.null_count:
        array = pc.fill_null(array, pa.scalar(1, array.type))
    values: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return values


def from_numpy(
    values: npt.NDArray[Any], kind: ColumnType, columns: list[pa.Array], valid: Any = None
) -> pa.Array:
    """A column of the numbers: NULL where one of the columns is, and where valid is false."""
    absent = None if valid is None else ~valid
    for column in columns:
        if column.null_count:
            missing = pc.is_null(column).to_numpy(zero_copy_only=False)
            absent = missing if absent is None else absent | missing
    return pa.array(values, kind.arrow, mask=absent, from_pandas=False)


def map_distinct(array: pa.Array, function: Callable[[Any], Any], kind: pa.DataType) -> pa.Array:
    """The function of every value, computed in Python once for each distinct one; None is NULL."""
    encoded = array.dictionary_encode()
    mapped = [function(value) for value in encoded.dictionary.to_pylist()]
    return pa.array(mapped, kind).take(encoded.indices)


def true_where(condition: Any) -> Any:
    """The condition with false for NULL."""
    return pc.fill_null(condition, False)
