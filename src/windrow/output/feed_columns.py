"""Columns that every feed shows, and when two rows show the same."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.windows.value_bytes import bytes_of_values

__all__ = [
    "STARTS_OVER",
    "anew",
    "equal_rows",
    "repeated_rows",
    "timestamps",
    "with_answer_columns",
]

# In the schema of changes that begin with all rows of the result: what was read before is void.
STARTS_OVER = {b"windrow.changes": b"start over"}

Vector = NDArray[np.int64]


def with_answer_columns(at: Vector, table: pa.Table) -> pa.Table:
    """Rows of answers: at, level, error_bound, then the select list."""
    level, error_bound = _exact_columns(at.size)
    names = ["at", "level", "error_bound", *table.schema.names]
    return pa.Table.from_arrays([timestamps(at), level, error_bound, *table.columns], names=names)


def anew(at_us: int, rows: pa.Table, *, is_marked: bool) -> pa.Table:
    """Changes that lead from nothing to these rows; marked where a reader must forget others."""
    columns = [timestamps(np.full(rows.num_rows, at_us, np.int64)), _comes(rows.num_rows)]
    names = ["at", "change", *rows.schema.names]
    table = pa.Table.from_arrays([*columns, *rows.columns], names=names)
    return table.replace_schema_metadata(STARTS_OVER) if is_marked else table


def _comes(size: int) -> pa.Array:
    return pa.array(np.ones(size, np.int8))


def timestamps(instants: Vector) -> pa.Array:
    """Instants as Arrow timestamps."""
    return pa.array(instants, pa.int64()).view(pa.timestamp("us", tz="UTC"))


def equal_rows(left: pa.Table, right: pa.Table) -> NDArray[np.bool_]:
    """Where the rows of two tables show the same: NULL equals NULL, NaN equals NaN."""
    same = np.ones(left.num_rows, np.bool_)
    for one, other in zip(left.columns, right.columns, strict=True):
        same &= _equal(one, other)
    return same


def repeated_rows(table: pa.Table) -> NDArray[np.bool_]:
    """Where a row shows the same as the one before it; the first one does not."""
    same = np.ones(table.num_rows, np.bool_)
    same[:1] = False
    for column in table.columns:
        same[1:] &= _repeated(column)
    return same


def _repeated(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    if column.null_count or not pa.types.is_primitive(column.type) or not len(column):
        return _equal(column.slice(0, max(0, len(column) - 1)), column.slice(1))
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int64() if column.type.bit_width == 64 else pa.int32())
    values = column.to_numpy()
    same: NDArray[np.bool_] = values[1:] == values[:-1]
    if pa.types.is_floating(column.type):
        is_nan = np.isnan(values)
        same |= is_nan[1:] & is_nan[:-1]
    return same


def _equal(left: pa.ChunkedArray, right: pa.ChunkedArray) -> NDArray[np.bool_]:
    if pa.types.is_nested(left.type):
        # Arrow compares no nested values; equal ones have equal bytes.
        left, right = map(_bytes, (left, right))
    equal = pc.fill_null(pc.equal(left, right), False).to_numpy()
    equal = equal | (left.is_null().to_numpy() & right.is_null().to_numpy())
    if pa.types.is_floating(left.type):
        both_nan = pc.and_(pc.is_nan(left), pc.is_nan(right))
        equal = equal | pc.fill_null(both_nan, False).to_numpy()
    out: NDArray[np.bool_] = equal
    return out


def _bytes(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pa.chunked_array([bytes_of_values(part) for part in column.chunks], pa.binary())


@lru_cache(maxsize=1)
def _exact_columns_of(size: int) -> tuple[pa.Array, pa.Array]:
    return pa.repeat(pa.scalar("A"), size), pa.nulls(size, pa.float64())


def _exact_columns(size: int) -> tuple[pa.Array, pa.Array]:
    """Level and error bound of exact answers: slices of columns made once for many sizes."""
    level, error_bound = _exact_columns_of(1 << max(size - 1, 1023).bit_length())
    return level.slice(0, size), error_bound.slice(0, size)
