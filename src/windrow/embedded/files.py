"""Files of a source as Arrow batches, a few thousand rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.json as pa_json
import pyarrow.parquet as pq

from windrow.embedded.arrow_columns import column_as
from windrow.errors import DataError
from windrow.jobs.files import files_of
from windrow.schema import ColumnType, StreamSchema
from windrow.sources import FileSource

__all__ = ["BATCH_ROWS", "batches_of"]

BATCH_ROWS = 65_536
_BLOCK_BYTES = 4 << 20
# Arrow's readers take either times with a zone or times without one; as text both come through.
_READ_AS_TEXT = ("TIMESTAMP", "DATE")


def batches_of(schema: StreamSchema, source: FileSource) -> Iterator[tuple[pa.Table, float]]:
    """Rows in the order of the files, each batch with the part of the files that is then read."""
    files = files_of(source)
    for index, file in enumerate(files):
        try:
            for batch, part in _read(schema, source, file):
                yield _with_dates(schema, batch), (index + part) / len(files)
        except (pa.ArrowException, OSError) as problem:
            raise DataError(
                "WD506",
                f"{file} cannot be read as rows of stream {schema.name!r}: {problem}",
                hint="mend what is named; nothing of this file beyond the last good batch "
                "was taken",
                place=source.place,
            ) from problem


def _read(schema: StreamSchema, source: FileSource, file: Path) -> Iterator[tuple[pa.Table, float]]:
    """Batches of one file, each with the part of it that is then read."""
    if source.format == "parquet":
        return _read_parquet(schema, file)
    if source.format == "csv":
        return _read_csv(schema, source, file)
    return _read_jsonl(schema, file)


def _read_parquet(schema: StreamSchema, file: Path) -> Iterator[tuple[pa.Table, float]]:
    names = [column.name for column in schema.columns]
    with pq.ParquetFile(file) as opened:
        rows = 0
        for batch in opened.iter_batches(BATCH_ROWS, columns=names):
            rows += batch.num_rows
            part = rows / max(1, opened.metadata.num_rows)
            yield pa.Table.from_batches([batch]).select(names), part


def _read_csv(
    schema: StreamSchema, source: FileSource, file: Path
) -> Iterator[tuple[pa.Table, float]]:
    names = [column.name for column in schema.columns]
    reading = pa_csv.ReadOptions(
        column_names=names, skip_rows=1 if source.header else 0, block_size=_BLOCK_BYTES
    )
    parsing = pa_csv.ParseOptions(delimiter=source.delimiter, newlines_in_values=True)
    # As Spark reads them: an empty value is NULL, an empty text in quotes is a text.
    converting = pa_csv.ConvertOptions(
        column_types={column.name: _read_type(column.type) for column in schema.columns},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    size = file.stat().st_size
    if size == 0:
        return
    with pa_csv.open_csv(file, reading, parsing, converting) as opened:
        for number, batch in enumerate(opened, 1):
            # A batch is what one block of the file holds.
            yield pa.Table.from_batches([batch]), min(1.0, number * _BLOCK_BYTES / size)


def _read_jsonl(schema: StreamSchema, file: Path) -> Iterator[tuple[pa.Table, float]]:
    explicit = pa.schema([(column.name, _read_type(column.type)) for column in schema.columns])
    if file.stat().st_size == 0:
        return
    table = pa_json.read_json(
        file,
        pa_json.ReadOptions(block_size=_BLOCK_BYTES),
        pa_json.ParseOptions(explicit_schema=explicit, unexpected_field_behavior="ignore"),
    )
    for start in range(0, table.num_rows, BATCH_ROWS):
        batch = table.slice(start, BATCH_ROWS)
        yield batch, (start + batch.num_rows) / table.num_rows


def _read_type(kind: ColumnType) -> pa.DataType:
    return pa.string() if kind.name in _READ_AS_TEXT else kind.arrow


def _with_dates(schema: StreamSchema, table: pa.Table) -> pa.Table:
    """Texts of times and dates as what they say."""
    for index, column in enumerate(schema.columns):
        if column.type.name in _READ_AS_TEXT and table.schema.field(index).type == pa.string():
            table = table.set_column(index, column.name, _dated(column.type, table.column(index)))
    return table


def _dated(kind: ColumnType, texts: pa.ChunkedArray) -> pa.ChunkedArray:
    for target in (kind.arrow, pa.timestamp("us") if kind.name == "TIMESTAMP" else pa.date32()):
        try:
            return pc.cast(texts, target)
        except pa.ArrowInvalid:
            continue
    return pa.chunked_array([column_as(kind, texts)])
