"""What records hold of rows: Arrow's bytes, and a little JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.rows.bad_rows import BadRow
from windrow.rows.frames import table_bytes, table_of
from windrow.rows.given_table_rows import GivenVersions
from windrow.table_schema import TableSchema

__all__ = [
    "bad_rows_header",
    "bad_rows_of",
    "batch_body",
    "batch_of_body",
    "versions_body",
    "versions_of_body",
]

# A row is shown with so much of it; the rest was cut when it was set aside.
_GONE, _TIME, _UNTIMED = "gone", "time", "untimed"


def batch_body(batch: pa.RecordBatch) -> memoryview:
    """Rows of a stream, whose schema is known."""
    return memoryview(batch.serialize())


def batch_of_body(body: memoryview, schema: pa.Schema) -> pa.RecordBatch:
    """The rows; they stay where they lie."""
    return pa.ipc.read_record_batch(pa.py_buffer(body), schema)


def bad_rows_header(rows: Sequence[BadRow]) -> dict[str, Any]:
    """Rows that were set aside, as they are shown."""
    told = (asdict(row) for row in rows)
    return {"rows": [{name: each[name] for name in each if name != "raw"} for each in told]}


def bad_rows_of(header: dict[str, Any]) -> list[BadRow]:
    """The same, read again."""
    return [BadRow(**row) for row in header["rows"]]


def versions_body(schema: TableSchema, given: GivenVersions) -> memoryview:
    """Rows and keys for a table, as one table of Arrow."""
    names = [f"c{place}" for place in range(len(schema.columns))]
    columns = dict(zip(names, given.columns, strict=True))
    columns |= {_GONE: pa.array(given.gone), _UNTIMED: pa.array(given.is_untimed)}
    if given.times is not None:
        columns[_TIME] = pa.array(given.times)
    return table_bytes(pa.record_batch(columns))


def versions_of_body(schema: TableSchema, body: memoryview) -> GivenVersions:
    """The same, read again."""
    table = table_of(body)
    columns = [_whole(table.column(f"c{place}")) for place in range(len(schema.columns))]
    times = table.column(_TIME).to_numpy() if _TIME in table.column_names else None
    return GivenVersions(tuple(columns), _flags(table, _GONE), times, _flags(table, _UNTIMED))


def _flags(table: pa.Table, name: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.array(table.column(name).to_numpy(), np.bool_)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found
