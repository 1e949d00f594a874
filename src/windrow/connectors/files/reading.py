"""Files of a source as rows of a stream, a few thousand at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from windrow.connectors.files.checks import check_unchanged, files_of
from windrow.connectors.files.connector import FileSource
from windrow.connectors.files.csv_files import read_csv
from windrow.connectors.files.jsonl_files import read_jsonl
from windrow.connectors.files.parquet_files import read_parquet
from windrow.errors import DataError
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["BATCH_ROWS", "batches_of"]

BATCH_ROWS = 65_536

_READERS = {"parquet": read_parquet, "csv": read_csv, "jsonl": read_jsonl}


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
            for rows, part in _READERS[source.format](schema, source, file):
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
