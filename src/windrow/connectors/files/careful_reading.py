"""Records of a text file of which some cannot be read: these are found, named or set aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from windrow.connectors.files.csv_records import Record
from windrow.connectors.files.refusal import Origin, refused
from windrow.errors import DataError
from windrow.rows.bad_rows import RAW_BYTES, BadRow, cut
from windrow.rows.conversion import VALUE_ERRORS, batch_of
from windrow.rows.file_rows import FileRows
from windrow.rows.halving import halved
from windrow.schema import StreamSchema

__all__ = ["READING_ERRORS", "TextFormat", "fitting", "rows_of_records"]

READING_ERRORS = (*VALUE_ERRORS, DataError)


class TextFormat(Protocol):
    """How records of a text file are read."""

    def parsed(self, data: bytes) -> pa.Table:
        """The rows that the text says, with the columns of the stream; or an error."""

    def fault(self, record: bytes) -> tuple[str | None, str]:
        """Of a record that cannot be read, the column (None: all of it), and what is wrong."""


def fitting(schema: StreamSchema, rows: pa.Table) -> pa.RecordBatch:
    """The rows in the stream's types; an error where one of them does not fit."""
    return batch_of(replace(schema, on_bad_row="fail"), rows).batch


def rows_of_records(
    schema: StreamSchema,
    source: Origin,
    file: Path | str,
    records: Sequence[Record],
    text: TextFormat,
) -> FileRows:
    """The records as rows; what the stream's policy does not set aside is refused, and named."""

    def read(start: int, stop: int) -> pa.RecordBatch:
        return fitting(schema, text.parsed(b"".join(each.data for each in records[start:stop])))

    batches, bad = [pa.RecordBatch.from_pylist([], schema.arrow)], []
    for place, given in halved(read, len(records), READING_ERRORS):
        if isinstance(given, pa.RecordBatch):
            batches.append(given)
            continue
        bad.append(_bad_row(file, records[place], text, given))
        if not _is_set_aside(schema, records[place].data):
            raise refused(schema, source, file, bad[-1]) from given
    return FileRows(pa.concat_batches(batches), tuple(bad))


def _bad_row(file: Path | str, record: Record, text: TextFormat, problem: Exception) -> BadRow:
    column, why = text.fault(record.data)
    raw = record.data[:RAW_BYTES]
    return BadRow(why or str(problem), column, str(file), record.line, cut(record.data), raw)


def _is_set_aside(schema: StreamSchema, data: bytes) -> bool:
    if schema.on_bad_row != "auto":
        return schema.sets_aside
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False
