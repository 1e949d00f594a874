"""Rows of Parquet files, read by the tasks that pack them.

A scan of Spark's makes rows of columns, and columns of rows again before Python sees them, which
costs more than to read them. So Spark only says which files a batch reads. Its log of the files,
and with it that each is read once, is the same as that of a scan.

Only plain files are read here, whose columns have the very types of the stream; for all others
Spark has rules of its own, and reads them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from windrow.errors import DataError

__all__ = ["READ_TYPES", "rows_of_files", "why_not_plain"]

Batches = Iterator[pa.RecordBatch]

# What Spark gives to Python for its types, under the names that it has for them.
READ_TYPES: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}

# Large batches, as a scan's: each is sorted, routed and written on its own.
BATCH_ROWS = 1 << 20
LOCAL = "file:"
# Files with these were written in a calendar that is not ours, or by a Spark that had no other.
_LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
_WRITTEN_BY = b"org.apache.spark.version"


def rows_of_files(folder: str, columns: Mapping[str, str]) -> Callable[[Batches], Batches]:
    """What makes the rows of files from their paths; columns: those read, with Spark's types."""

    def read(files: Batches) -> Batches:
        for batch in files:
            for path in batch.column("path").to_pylist():
                yield from _rows(path.removeprefix(LOCAL), folder, columns)

    return read


def _rows(path: str, folder: str, columns: Mapping[str, str]) -> Batches:
    if os.path.dirname(path) != folder:
        raise _refused(path, f"it is not in {folder} but in a folder below it")
    try:
        if os.path.getsize(path) == 0:
            return  # Spark takes such a file for one without rows, too
        with _opened(path) as file:
            problem = _why_not_plain(file, columns)
            if problem is not None:
                raise _refused(path, problem)
            for batch in file.iter_batches(BATCH_ROWS, columns=list(columns), use_threads=False):
                arrays = [_as(batch.column(name), kind) for name, kind in columns.items()]
                yield pa.record_batch(arrays, names=list(columns))
    except (pa.ArrowException, OSError) as error:
        raise _refused(path, str(error)) from error


def _opened(path: str) -> pq.ParquetFile:
    return pq.ParquetFile(path, coerce_int96_timestamp_unit="us")


def _as(column: pa.Array, kind: str) -> pa.Array:
    wanted = READ_TYPES[kind]
    return column if column.type == wanted else pc.cast(column, wanted)


def why_not_plain(path: str, columns: Mapping[str, str]) -> str | None:
    """Why a file is not read here but by Spark; None where it is plain."""
    try:
        with _opened(path) as file:
            return _why_not_plain(file, columns)
    except (pa.ArrowException, OSError) as error:
        return str(error)


def _why_not_plain(file: pq.ParquetFile, columns: Mapping[str, str]) -> str | None:
    if _is_legacy(file.metadata.metadata or {}):
        return "its times may be of another calendar"
    schema = file.schema_arrow
    folded = [name.lower() for name in schema.names]
    physical = {leaf.path: leaf.physical_type for leaf in map(file.schema.column, _leaves(file))}
    for name, kind in columns.items():
        if folded.count(name.lower()) != 1 or name not in schema.names:
            return f"it has no column {name!r}, or several"
        if not _is_same(schema.field(name).type, kind, physical.get(name)):
            return f"its column {name!r} is {schema.field(name).type}, not {kind}"
    return None


def _leaves(file: pq.ParquetFile) -> range:
    return range(file.metadata.num_columns)


def _is_legacy(metadata: Mapping[bytes, bytes]) -> bool:
    written_by = metadata.get(_WRITTEN_BY)
    is_old = written_by is not None and written_by.split(b".")[0] in (b"0", b"1", b"2")
    return is_old or any(key in metadata for key in _LEGACY)


def _is_same(found: pa.DataType, kind: str, physical: str | None) -> bool:
    """Whether a column of a file holds just what Spark would give."""
    if kind == "string":
        inner = found.value_type if pa.types.is_dictionary(found) else found
        return bool(pa.types.is_string(inner) or pa.types.is_large_string(inner))
    if kind == "timestamp":
        # Without a zone it may be a time on the wall, unless the type is one that never has any.
        is_instant = physical == "INT96" or found.tz is not None
        return bool(pa.types.is_timestamp(found) and found.unit == "us" and is_instant)
    return bool(found == READ_TYPES[kind])


def _refused(path: str, why: str) -> DataError:
    return DataError(
        "WD432",
        f"{path} is not like the Parquet files that were there when the query was started: {why}",
        hint=(
            "start the query again: it resumes with this file, and Spark reads the files of this "
            "source itself if it can. Or put a file with the stream's columns in its place"
        ),
    )
