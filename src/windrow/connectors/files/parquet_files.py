"""Parquet files as rows, some thousands at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from windrow.connectors.files.connector import FileSource
from windrow.connectors.files.refusal import missing_column, refused
from windrow.errors import DataError
from windrow.rows.bad_rows import BadRow
from windrow.rows.conversion import UnfitRowError, batch_of
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["check_parquet", "read_parquet"]

BATCH_ROWS = 65_536


def check_parquet(schema: StreamSchema, source: FileSource, file: Path) -> None:
    """Refuses what is no Parquet file, or lacks columns of the stream."""
    try:
        names = pq.read_schema(file).names
    except (pa.ArrowInvalid, OSError) as problem:
        if isinstance(problem, OSError) and problem.errno:
            raise  # Arrow's own complaints about what is in a file have no number
        raise DataError(
            "WD502",
            f"{file} is not a Parquet file: {problem}",
            hint="name the format that it has: csv('...') or jsonl('...')",
            place=source.place,
        ) from None
    missing = [column.name for column in schema.columns if column.name not in names]
    if missing:
        raise missing_column(schema, source, file, missing, names)


def read_parquet(
    schema: StreamSchema, source: FileSource, file: Path
) -> Iterator[tuple[FileRows, float]]:
    """Rows of a file, each piece with the part of the file that is then read."""
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
