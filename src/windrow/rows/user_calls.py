"""Calls of functions that users give, over columns: row by row, or vectorised over Arrow arrays.

NULL comes in as None, as in Spark. A row for which the function raises, or returns what its type
cannot hold, is a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from windrow.rows.arrow_columns import column_as
from windrow.rows.halving import halved
from windrow.rows.python_values import array_of
from windrow.rows.scalar.values import Checked, as_array
from windrow.schema import ColumnType

if TYPE_CHECKING:
    from windrow.plan.user_functions import UserFunction

__all__ = ["call_user", "why_it_failed"]

# What a function, or a value that it returns, may raise for a row; a Ctrl-C is none of it.
_CONVERTING = (pa.ArrowException, OverflowError, ValueError, TypeError)


def call_user(function: UserFunction, values: Sequence[Any], kind: ColumnType) -> Checked:
    """The function of columns or scalars: one value for each row, and where it has none."""
    size, is_scalar = _size(values)
    columns = [as_array(value, size) for value in values]
    if function.is_vectorised:
        found = _vectorised(function, columns, size, kind)
    else:
        found = _row_by_row(function, columns, size, kind)
    if is_scalar:
        return Checked(found.value[0], found.faults)
    return found


def why_it_failed(function: UserFunction, values: Sequence[Any], kind: ColumnType) -> str:
    """What the function raises for the one row that `values` are of."""
    columns = [as_array(value, 1) for value in values]
    try:
        if function.is_vectorised:
            _checked_size(_called(function, columns), 1, kind)
        else:
            array_of(kind, [_called(function, [column[0].as_py() for column in columns])])
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return "it failed for the rows that were given with this one"


def _called(function: UserFunction, arguments: Sequence[Any]) -> Any:
    assert function.function is not None
    return function.function(*arguments)


def _size(values: Sequence[Any]) -> tuple[int, bool]:
    sizes = [len(value) for value in values if not isinstance(value, pa.Scalar)]
    return (sizes[0], False) if sizes else (1, True)


def _row_by_row(
    function: UserFunction, columns: Sequence[pa.Array], size: int, kind: ColumnType
) -> Checked:
    faults = np.zeros(size, np.bool_)
    results: list[Any] = [None] * size
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    for place, row in enumerate(rows if columns else [()] * size):
        try:
            results[place] = _called(function, row)
        except Exception:  # whatever it raises, it has no value for the row
            faults[place] = True
    try:
        found = array_of(kind, results)
    except _CONVERTING:
        found = _one_by_one(results, faults, kind)
    return Checked(found, faults if faults.any() else None)


def _one_by_one(results: list[Any], faults: Any, kind: ColumnType) -> pa.Array:
    """The results that the type can hold; the others are faults."""
    found = []
    for place, value in enumerate(results):
        try:
            found.append(array_of(kind, [value]))
        except _CONVERTING:
            found.append(pa.nulls(1, kind.arrow))
            faults[place] = True
    return pa.concat_arrays(found)


def _vectorised(
    function: UserFunction, columns: Sequence[pa.Array], size: int, kind: ColumnType
) -> Checked:
    if not size:
        return Checked(pa.array([], kind.arrow), None)
    faults, pieces = np.zeros(size, np.bool_), [pa.array([], kind.arrow)]

    def called(start: int, stop: int) -> pa.Array:
        slices = [column.slice(start, stop - start) for column in columns]
        return _checked_size(_called(function, slices), stop - start, kind)

    # Where it raises, it is called for fewer and fewer rows, until those are found that it cannot.
    for place, piece in halved(called, size, (Exception,)):
        is_fault = isinstance(piece, Exception)
        pieces.append(pa.nulls(1, kind.arrow) if is_fault else piece)
        faults[place] = faults[place] or is_fault
    return Checked(pa.concat_arrays(pieces), faults if faults.any() else None)


def _checked_size(found: Any, size: int, kind: ColumnType) -> pa.Array:
    if not isinstance(found, (pa.Array, pa.ChunkedArray)):
        found = pa.array(found)
    if len(found) != size:
        raise ValueError(f"it returned {len(found)} values for {size} rows")
    return column_as(kind, found)
