"""Kernels that want constants, over columns of them: once for each different one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.scalar.values import Checked, Function, NoValueError, as_array
from windrow.schema import ColumnType

__all__ = ["by_constants"]

# The column, what else is given as Python's values, and the type; or NoValueError: all are faults.
Kernel = Callable[..., pa.Array | Checked]


def by_constants(kernel: Kernel) -> Function:
    """The function whose first argument is a column and all others are constants to the kernel."""

    def apply(arguments: list[Any], kind: ColumnType) -> Any:
        lengths = [len(value) for value in arguments if not isinstance(value, pa.Scalar)]
        length = lengths[0] if lengths else 1
        column = as_array(arguments[0], length)
        if all(isinstance(value, pa.Scalar) for value in arguments[1:]):
            found = _once(kernel, column, [value.as_py() for value in arguments[1:]], kind)
        else:
            found = _for_each(kernel, column, arguments[1:], kind)
        return found if lengths else Checked(found.value[0], found.faults)

    return apply


def _once(kernel: Kernel, column: pa.Array, constants: list[Any], kind: ColumnType) -> Checked:
    if None in constants:
        return Checked(pa.nulls(len(column), kind.arrow), None)
    try:
        found = kernel(column, *constants)
    except NoValueError:
        known = column.is_valid().to_numpy(zero_copy_only=False)
        return Checked(pa.nulls(len(column), kind.arrow), known if known.any() else None)
    if isinstance(found, Checked):
        return found
    return Checked(found if found.type == kind.arrow else found.cast(kind.arrow), None)


def _for_each(kernel: Kernel, column: pa.Array, others: list[Any], kind: ColumnType) -> Checked:
    """The rows of each different list of constants on their own, then all in their order."""
    lists = [as_array(value, len(column)).to_pylist() for value in others]
    rows_of: dict[tuple[Any, ...], list[int]] = {}
    for row, constants in enumerate(zip(*lists, strict=True)):
        rows_of.setdefault(constants, []).append(row)
    values, flags = [pa.nulls(0, kind.arrow)], np.zeros(len(column), np.bool_)
    for constants, rows in rows_of.items():
        found = _once(kernel, column.take(pa.array(rows)), list(constants), kind)
        values.append(found.value)
        if found.faults is not None:
            flags[rows] = found.faults
    order = np.argsort(np.array([row for rows in rows_of.values() for row in rows], np.int64))
    joined = pa.concat_arrays(values).take(pa.array(order))
    return Checked(joined, flags if flags.any() else None)
