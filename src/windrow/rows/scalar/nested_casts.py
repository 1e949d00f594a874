"""Casts of arrays, maps and structs: of all their parts, one level after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.rows.nested_columns import list_of, struct_of
from windrow.rows.scalar.lists import entries_of, flags_of_null
from windrow.schema import ColumnType

__all__ = ["cast_parts"]

Flags = NDArray[np.bool_]


def cast_parts(
    column: pa.Array, kind: ColumnType, cast: Callable[[pa.Array, ColumnType], pa.Array]
) -> tuple[pa.Array, Flags]:
    """The values in another type, and where one of their parts has no value in it.

    cast: of plain values, with NULL where one fails.
    """
    if not kind.is_nested:
        found = cast(column, kind)
        return found, flags_of_null(found) & ~flags_of_null(column)
    missing = flags_of_null(column)
    if kind.name == "STRUCT":
        done = [
            cast_parts(child, part, cast)
            for child, (_, part) in zip(column.flatten(), kind.parts, strict=True)
        ]
        faults = np.logical_or.reduce([each for _, each in done])
        return struct_of(kind.arrow, [each for each, _ in done], missing, len(column)), faults
    entries = entries_of(column)
    done = [
        cast_parts(child, part, cast)
        for child, (_, part) in zip(entries.children, kind.parts, strict=True)
    ]
    found = list_of(kind.arrow, entries.lengths, [each for each, _ in done], missing)
    wrong = np.zeros(len(column), np.bool_)
    for _, each in done:
        wrong[entries.rows[each]] = True
    return found, wrong
