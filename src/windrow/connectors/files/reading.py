"""Files of a source as rows of a stream, a few thousand at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.connectors.files.checks import check_unchanged, files_of
from windrow.connectors.files.connector import FileSource
from windrow.connectors.files.csv_files import read_csv
from windrow.connectors.files.jsonl_files import read_jsonl
from windrow.connectors.files.refusal import refused
from windrow.errors import DataError
from windrow.rows.bad_rows import BadRow
from windrow.rows.conversion import UnfitRowError, batch_of
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["BATCH_ROWS", "batches_of"]

BATCH_ROWS = 65_536


def batches_of(schema: StreamSchema, source: FileSource) -> Iterator[tuple[FileRows, float]]:
    """Rows in the order of the files, each batch with the part of the files that is then read.

    A row that cannot be held is set aside, or an error names its file, line and column, as the
    stream's policy says. The files are listed when this is called: one that goes before it is read
    is missed.
    """
    return _batches_of(schema, source, files_of(source))


def _batches_of(
    schema: StreamSchema, source: FileSource, files: list[Path]
) -> Iterator[tuple[FileRows, float]]:
    for index, file in enumerate(files):
        try:
            before = file.stat()
            for rows, part in _read(schema, source, file):
                for piece in rows.parts(BATCH_ROWS):
                    yield piece, (index + part) / len(files)
            check_unchanged(source, file, before)
        except (pa.ArrowException, OSError) as problem:
            raise DataError(
                "WD506",
                f"{file} cannot be read as rows of stream {schema.name!r}: {problem}",
                hint="fix what is named; nothing of this file after the last good batch was read",
                place=source.place,
            ) from problem


def _read(schema: StreamSchema, source: FileSource, file: Path) -> Iterator[tuple[FileRows, float]]:
    """Rows of one file, each piece with the part of it that is then read."""
    if source.format == "parquet":
        return _read_parquet(schema, source, file)
    return (read_csv if source.format == "csv" else read_jsonl)(schema, source, file)


def _read_parquet(
    schema: StreamSchema, source: FileSource, file: Path
) -> Iterator[tuple[FileRows, float]]:
    names = [column.name for column in schema.columns]
    with pq.ParquetFile(file) as opened:
        taken = 0
        for batch in opened.iter_batches(BATCH_ROWS, columns=names):
            table = pa.Table.from_batches([batch]).select(names)
            try:
                converted = batch_of(schema, table)
            except UnfitRowError as error:
                bad = BadRow(error.why, error.column, str(file), taken + error.row + 1)
                raise refused(schema, source, file, bad) from error
            bad_rows = tuple(
                replace(row, file=str(file), line=taken + place + 1)
                for place, row in sorted(converted.bad.items())
            )
            taken += batch.num_rows
            yield FileRows(converted.batch, bad_rows), taken / max(1, opened.metadata.num_rows)
