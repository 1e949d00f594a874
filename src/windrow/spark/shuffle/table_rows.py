"""Versions of a table's rows as columns that cross the shuffle and lie in the state store."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.rows.given_table_rows import GivenVersions
from windrow.rows.prepared_names import TIME
from windrow.runtime.tables.versions import Versions
from windrow.table_schema import TableSchema

__all__ = [
    "batch_of_given",
    "batch_of_versions",
    "given_of_batch",
    "given_schema",
    "versions_of_batch",
]

_GONE, _OWN_TIME, _UNTIMED, _ORDER = "gone", "time", "untimed", "order"


def given_schema(schema: TableSchema) -> pa.Schema:
    """Of the columns in which given versions cross the shuffle."""
    flags = [(_GONE, pa.bool_()), (_OWN_TIME, pa.int64()), (_UNTIMED, pa.bool_())]
    return pa.schema([*_columns(schema), *flags, (_ORDER, pa.string())])


def batch_of_given(schema: TableSchema, given: GivenVersions, order: pa.Array) -> pa.RecordBatch:
    """Given versions, each with a text by whose order files and their parts follow each other."""
    times = pa.nulls(given.size, pa.int64()) if given.times is None else pa.array(given.times)
    flags = [pa.array(given.gone), times, pa.array(given.is_untimed)]
    return pa.record_batch([*given.columns, *flags, order], schema=given_schema(schema))


def given_of_batch(schema: TableSchema, batch: pa.RecordBatch) -> GivenVersions:
    """The versions again, in the order in which they were written."""
    order = batch.column(_ORDER)
    if order.null_count < len(order):
        batch = batch.take(pc.array_sort_indices(order))
    columns = tuple(batch.columns[: len(schema.columns)])
    times = None
    if schema.has_time:
        times = batch.column(_OWN_TIME).to_numpy(zero_copy_only=False)
    flags = (batch.column(name).to_numpy(zero_copy_only=False) for name in (_GONE, _UNTIMED))
    gone, untimed = (each.astype(np.bool_) for each in flags)
    return GivenVersions(columns, gone, times, untimed)


def batch_of_versions(schema: TableSchema, versions: Versions) -> pa.RecordBatch:
    """Versions with the instants from which they hold, as rows of a segment."""
    times = {TIME: pa.array(versions.at), _OWN_TIME: pa.array(versions.time)}
    kinds = [*_columns(schema), (TIME, pa.int64()), (_OWN_TIME, pa.int64()), (_GONE, pa.bool_())]
    columns = [*versions.columns, *times.values(), pa.array(versions.gone)]
    return pa.record_batch(columns, schema=pa.schema(kinds))


def versions_of_batch(schema: TableSchema, rows: pa.RecordBatch | pa.Table) -> Versions:
    """The versions again."""
    if isinstance(rows, pa.Table):
        rows = rows.combine_chunks().to_batches()[0]
    at, time = (rows.column(name).to_numpy() for name in (TIME, _OWN_TIME))
    gone = rows.column(_GONE).to_numpy(zero_copy_only=False).astype(np.bool_)
    return Versions(at, time, gone, tuple(rows.columns[: len(schema.columns)]))


def _columns(schema: TableSchema) -> Sequence[tuple[str, pa.DataType]]:
    """The table's own columns by number: their names may be any."""
    return [(f"c{place}", column.type.arrow) for place, column in enumerate(schema.columns)]
