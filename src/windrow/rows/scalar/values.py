"""Values on the way through an expression: a column, or one scalar for all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from windrow.plan.expressions import Expr
from windrow.schema import ColumnType

__all__ = [
    "TAKE_FUNCTIONS",
    "Checked",
    "Function",
    "Leaf",
    "NoValueError",
    "Value",
    "as_array",
    "from_numpy",
    "map_distinct",
    "numbers",
    "over_arrays",
    "per_value",
    "true_where",
]

# Functions that are given functions: lambdas.py has them.
TAKE_FUNCTIONS = frozenset(
    {
        "transform", "filter", "exists", "forall", "aggregate", "zip_with", "map_filter",
        "transform_keys", "transform_values",
    }
)  # fmt: skip

Value = pa.Array | pa.Scalar
Function = Callable[[list[Any], ColumnType], Any]
Leaf = Callable[[Expr], pa.Array]  # the column of a ColumnRef, GroupRef or AggregateRef


@dataclass(frozen=True)
class Checked:
    """What an implementation returns that tells its faults from NULL by itself.

    faults: one flag for each row, or a single one for a scalar; None where there is none.
    """

    value: Any
    faults: npt.NDArray[np.bool_] | None


class NoValueError(Exception):
    """Raised by a function of single values that has none for them: a fault in those rows."""


def as_array(value: Any, length: int) -> pa.Array:
    """The value as a column of that length."""
    if not isinstance(value, pa.Scalar):
        return value
    # Arrow does not repeat a list no times.
    return pa.repeat(value, length) if value.is_valid and length else pa.nulls(length, value.type)


def over_arrays(function: Function) -> Function:
    """The function for arguments of which some or all are scalars, where it knows columns only."""

    def spread(arguments: list[Any], kind: ColumnType) -> Any:
        lengths = [len(value) for value in arguments if not isinstance(value, pa.Scalar)]
        length = lengths[0] if lengths else 1
        result = function([as_array(value, length) for value in arguments], kind)
        if lengths:
            return result
        if isinstance(result, Checked):
            return Checked(result.value[0], result.faults)
        return result[0]

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


def per_value(function: Callable[..., Any], *, takes_null: bool = False) -> Function:
    """A function in Python of single values, called once for each different row of arguments.

    It gets what `as_py` gives, in the order of the arguments, and may raise NoValueError. Without
    takes_null it is not called where an argument is NULL: that is NULL.
    """

    def called(row: Sequence[Any]) -> tuple[Any, bool]:
        if not takes_null and None in row:
            return None, False
        try:
            return function(*row), False
        except NoValueError:
            return None, True

    def apply(arguments: list[Any], kind: ColumnType) -> Any:
        columns = [value for value in arguments if not isinstance(value, pa.Scalar)]
        if not columns:
            value, is_fault = called([each.as_py() for each in arguments])
            return Checked(pa.scalar(value, kind.arrow), np.array([True]) if is_fault else None)
        if len(columns) == 1 and _can_encode(columns[0].type):
            return _over_distinct(called, arguments, columns[0], kind)
        return _checked(_each_once(called, _rows(arguments, len(columns[0]))), kind)

    return apply


def _can_encode(kind: pa.DataType) -> bool:
    return not pa.types.is_nested(kind)


Called = Callable[[Sequence[Any]], tuple[Any, bool]]


def _over_distinct(
    called: Called, arguments: list[Any], column: pa.Array, kind: ColumnType
) -> Checked:
    encoded = column.dictionary_encode(null_encoding="encode")
    filled = [encoded.dictionary if value is column else value for value in arguments]
    found = _checked(map(called, _rows(filled, len(encoded.dictionary))), kind)
    faults = found.faults
    if faults is not None:
        faults = faults[encoded.indices.to_numpy()]
    return Checked(found.value.take(encoded.indices), faults)


def _rows(arguments: list[Any], length: int) -> Iterable[tuple[Any, ...]]:
    lists = [
        [value.as_py()] * length if isinstance(value, pa.Scalar) else value.to_pylist()
        for value in arguments
    ]
    return zip(*lists, strict=True)


def _each_once(called: Called, rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, bool]]:
    known: dict[tuple[Any, ...], tuple[Any, bool]] = {}
    for row in rows:
        # Both zeros are one key: a row with a float is computed again, as is what has no hash.
        if any(isinstance(value, (float, list, dict)) for value in row):
            yield called(row)
            continue
        found = known.get(row)
        if found is None:
            found = known[row] = called(row)
        yield found


def _checked(results: Iterable[tuple[Any, bool]], kind: ColumnType) -> Checked:
    pairs = list(results)
    faults = np.fromiter((flag for _, flag in pairs), np.bool_, len(pairs))
    values = pa.array([value for value, _ in pairs], kind.arrow)
    return Checked(values, faults if faults.any() else None)


def true_where(condition: Any) -> Any:
    """The condition with false for NULL."""
    return pc.fill_null(condition, False)
