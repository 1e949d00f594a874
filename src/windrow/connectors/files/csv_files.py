"""CSV files as rows: at the speed of Arrow's reader, and record by record where that fails."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from windrow.connectors.files.careful_reading import READING_ERRORS, fitting, rows_of_records
from windrow.connectors.files.connector import FileSource
from windrow.connectors.files.csv_records import csv_records
from windrow.connectors.files.refusal import Origin, missing_column
from windrow.connectors.files.text_types import dated, read_type, unfit
from windrow.errors import DataError, UnsupportedError
from windrow.rows.arrow_columns import column_as
from windrow.rows.bad_rows import cut
from windrow.rows.damaged_values import NOT_UTF8
from windrow.rows.file_rows import FileRows
from windrow.schema import Column, StreamSchema

__all__ = ["CsvText", "check_header", "check_names", "read_csv"]

BLOCK_BYTES = 4 << 20
# So many records are tried at once where some cannot be read.
CAREFUL_RECORDS = 8192


def check_header(schema: StreamSchema, source: FileSource, file: Path) -> None:
    """Refuses a file whose first line does not name the columns of the stream in their order."""
    nested = next((column for column in schema.columns if column.type.is_nested), None)
    if nested is not None:
        raise UnsupportedError(
            "WU723",
            f"CSV has no nested values, but column {nested.name!r} of stream {schema.name!r} is "
            f"{nested.type}",
            hint="read JSON lines or Parquet, or declare the column as STRING",
            place=source.place,
        )
    if not source.header:
        return
    # What is not UTF-8 below the header is a matter of the rows in which it stands.
    with file.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        try:
            names = next(csv.reader(text, delimiter=source.delimiter), [])
            "".join(names).encode()
        except (UnicodeError, csv.Error) as problem:
            raise DataError(
                "WD503",
                f"{file} is not a CSV file: {problem}",
                hint="give text in UTF-8, or name the format that it has: parquet('...')",
                place=source.place,
            ) from None
    check_names(schema, source, file, names)


def check_names(schema: StreamSchema, source: Origin, file: Path | str, names: list[str]) -> None:
    """Refuses names of columns that are not those of the stream in their order."""
    wanted = [column.name for column in schema.columns]
    if names != wanted:
        missing = [name for name in wanted if name not in names]
        if missing:
            raise missing_column(schema, source, file, missing, names)
        raise DataError(
            "WD504",
            f"the header of {file} is {', '.join(names)}",
            hint=f"it must be the columns of stream {schema.name!r} in their order: "
            f"{', '.join(wanted)}",
            place=source.place,
        )


def read_csv(
    schema: StreamSchema, source: FileSource, file: Path
) -> Iterator[tuple[FileRows, float]]:
    """Rows of a file, each piece with the part of the file that is then read."""
    size, taken = file.stat().st_size, 0
    if size == 0:
        return
    text = CsvText(schema, source.delimiter)
    try:
        with text.opened(file, 1 if source.header else 0) as opened:
            for number, batch in enumerate(opened, 1):
                rows = fitting(schema, dated(schema, pa.Table.from_batches([batch])))
                taken += rows.num_rows
                # A batch is what one block of the file holds.
                yield FileRows(rows), min(1.0, number * BLOCK_BYTES / size)
        return
    except READING_ERRORS:
        # Nobody knows which row it is: what is left is read again, a few records at a time.
        yield from _carefully(schema, source, file, text, taken)


def _carefully(
    schema: StreamSchema, source: FileSource, file: Path, text: CsvText, taken: int
) -> Iterator[tuple[FileRows, float]]:
    size = file.stat().st_size
    with file.open("rb") as opened:
        records = csv_records(opened, source.delimiter, 1 if source.header else 0)
        read = sum(len(record.data) for record in islice(records, taken))
        while some := list(islice(records, CAREFUL_RECORDS)):
            read += sum(len(record.data) for record in some)
            rows = rows_of_records(schema, source, file, some, text)
            yield rows, min(1.0, read / size)


class CsvText:
    """How records of CSV are read; empty values are NULL as to Spark, empty texts in quotes not.

    columns: those that the records have; None: all.
    """

    def __init__(
        self, schema: StreamSchema, delimiter: str, columns: Sequence[Column] | None = None
    ) -> None:
        self._schema = schema
        self._columns = schema.columns if columns is None else columns
        self._names = [column.name for column in self._columns]
        self._kinds = {column.name: read_type(column.type) for column in self._columns}
        self._parsing = pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)

    def opened(self, file: Path, skipped_lines: int) -> pa_csv.CSVStreamingReader:
        """A reader of a file, block by block."""
        reading = pa_csv.ReadOptions(
            column_names=self._names, skip_rows=skipped_lines, block_size=BLOCK_BYTES
        )
        return pa_csv.open_csv(file, reading, self._parsing, self._converting(self._kinds))

    def parsed(self, data: bytes) -> pa.Table:
        """The rows that the text says."""
        return dated(self._schema, self._read(data, self._converting(self._kinds)))

    def fault(self, record: bytes) -> tuple[str | None, str]:
        """Of a record that cannot be read the column, and what is wrong."""
        bare = dict.fromkeys(self._names, pa.binary())
        try:
            values = self._read(record, self._converting(bare)).to_pylist()[0]
        except (pa.ArrowException, IndexError) as problem:
            return None, cut(str(problem))
        for column in self._columns:
            value = values[column.name]
            if value is not None and not _is_utf8(value):
                return column.name, NOT_UTF8
            try:
                kinds = bare | {column.name: self._kinds[column.name]}
                one = self._read(record, self._converting(kinds))
                column_as(column.type, dated(self._schema, one).column(column.name))
            except READING_ERRORS:
                return column.name, unfit(self._schema, column, repr(cut(value or b"")))
        return None, ""

    def _read(self, data: bytes, converting: pa_csv.ConvertOptions) -> pa.Table:
        reading = pa_csv.ReadOptions(
            column_names=self._names, use_threads=False, block_size=max(BLOCK_BYTES, len(data) + 1)
        )
        return pa_csv.read_csv(pa.BufferReader(data), reading, self._parsing, converting)

    @staticmethod
    def _converting(kinds: dict[str, pa.DataType]) -> pa_csv.ConvertOptions:
        return pa_csv.ConvertOptions(
            column_types=kinds,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
