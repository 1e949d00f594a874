"""Files with one JSON object a line as rows, a block of lines at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.json as pa_json

from windrow.connectors.files.careful_reading import READING_ERRORS, fitting, rows_of_records
from windrow.connectors.files.connector import FileSource
from windrow.connectors.files.csv_records import Record
from windrow.connectors.files.json_values import is_beyond_arrow, json_columns
from windrow.connectors.files.refusal import refused
from windrow.connectors.files.text_types import dated, read_type, unfit
from windrow.rows.arrow_columns import column_as
from windrow.rows.bad_rows import BadRow, cut
from windrow.rows.damaged_values import NOT_UTF8
from windrow.rows.epoch_times import UnitError, counted_column
from windrow.rows.file_rows import FileRows
from windrow.schema import Column, StreamSchema

__all__ = ["LONGEST_LINE_BYTES", "JsonText", "read_jsonl"]

BLOCK_BYTES = 4 << 20
# A line that is longer is no row, and would be held whole before anybody knew.
LONGEST_LINE_BYTES = 16 << 20
# Arrow's reader dies where the first value that it reads is null, so that none may begin a line.
_NULL_LINE = re.compile(rb"^[ \t\r]*null[ \t\r]*$", re.MULTILINE)
_BEGINS_WITH_NULL = re.compile(rb"[ \t\r]*null")
# Many times as fast as an anchor at each line.
_LINE_WITH_NULL = re.compile(rb"\n[ \t\r]*null")


def read_jsonl(
    schema: StreamSchema, source: FileSource, file: Path
) -> Iterator[tuple[FileRows, float]]:
    """Rows of a file, each piece with the part of the file that is then read."""
    text, size, read = JsonText(schema), file.stat().st_size, 0
    with file.open("rb") as opened:
        for block in _blocks(opened):
            if len(block.data) > LONGEST_LINE_BYTES + BLOCK_BYTES:
                why = f"it is longer than {LONGEST_LINE_BYTES:,} bytes"
                raise refused(schema, source, file, BadRow(why, line=block.line))
            read += len(block.data)
            yield _rows(schema, source, file, block, text), read / size


def _rows(
    schema: StreamSchema, source: FileSource, file: Path, block: Record, text: JsonText
) -> FileRows:
    try:
        return FileRows(fitting(schema, text.parsed(block.data)))
    except READING_ERRORS:
        lines = enumerate(block.data.splitlines(keepends=True), block.line)
        records = [Record(number, line) for number, line in lines if line.strip()]
        return rows_of_records(schema, source, file, records, text)


def _blocks(opened: BinaryIO) -> Iterator[Record]:
    """Whole lines of about this many bytes; a line that is far too long ends the last of them."""
    line, begun = 1, b""
    while piece := opened.read(BLOCK_BYTES):
        begun += piece
        end = begun.rfind(b"\n") + 1
        if end == 0 and len(begun) <= LONGEST_LINE_BYTES + BLOCK_BYTES:
            continue
        block, begun = (begun[:end], begun[end:]) if end else (begun, b"")
        yield Record(line, block)
        line += block.count(b"\n")
    if begun.strip():
        yield Record(line, begun)


class JsonText:
    """How lines of JSON are read; keys that are no columns do not count, or are refused.

    columns: those that the lines have; None: all.
    """

    def __init__(self, schema: StreamSchema, columns: Sequence[Column] | None = None) -> None:
        self._schema = schema
        self._columns = schema.columns if columns is None else columns
        self._refuses_others = schema.options.unknown_fields == "refuse"

    def parsed(self, data: bytes) -> pa.Table:
        """The rows that the text says."""
        return dated(self._schema, self._read(data, self._columns))

    def fault(self, record: bytes) -> tuple[str | None, str]:
        """Of a record that cannot be read the column, and what is wrong."""
        # What is not UTF-8 becomes surrogates, by which its column is found.
        try:
            value = json.loads(record.decode("utf-8-sig", "surrogateescape"))
        except json.JSONDecodeError as problem:
            return None, f"it is not JSON: {problem.msg} at character {problem.colno}"
        except (ValueError, RecursionError) as problem:
            return None, f"it is not JSON: {problem}"
        if not isinstance(value, dict):
            return None, "it is not a JSON object"
        for column in self._columns:
            why = self._fault_of(column, value.get(column.name))
            if why:
                return column.name, why
        known = {column.name for column in self._columns}
        if self._refuses_others and not value.keys() <= known:
            other = next(name for name in value if name not in known)
            return None, f"it has the field {other!r}, which is no column"
        return None, "" if _is_utf8(value) else NOT_UTF8

    def _fault_of(self, column: Column, value: Any) -> str:
        if not _is_utf8(value):
            return NOT_UTF8
        try:
            one = self._read(json.dumps({column.name: value}).encode(), [column])
            one = dated(self._schema, one).column(0)
            if column.name == self._schema.time:
                one = counted_column(one, self._schema.options.unit)
            column_as(column.type, one)
        except READING_ERRORS:
            return unfit(self._schema, column, cut(repr(value)))
        return ""

    def _read(self, data: bytes, columns: Sequence[Column]) -> pa.Table:
        """The lines as a table; times that are numbers stay so."""
        if self._schema.options.unit is not None:
            for kind in (pa.int64(), pa.float64()):
                try:
                    return self._read_as(data, columns, kind)
                except pa.ArrowInvalid:
                    continue
            return self._read_as(data, columns, pa.string())
        try:
            return self._read_as(data, columns, pa.string())
        except pa.ArrowInvalid:
            found = self._read_in_microseconds(data, columns)
            if found is None:
                raise
            return found

    def _read_in_microseconds(self, data: bytes, columns: Sequence[Column]) -> pa.Table | None:
        """The lines, if all their times are integers that look like microseconds."""
        if self._schema.time not in [column.name for column in columns]:
            return None
        try:
            found = self._read_as(data, columns, pa.int64())
            counted_column(found.column(self._schema.time), None)
        except (pa.ArrowInvalid, UnitError):
            return None
        return found

    def _read_as(self, data: bytes, columns: Sequence[Column], time: pa.DataType) -> pa.Table:
        others = [column for column in columns if is_beyond_arrow(column.type)]
        if not others:
            return self._by_arrow(data, columns, time)
        found = json_columns(data, others)
        rest = [column for column in columns if column not in others]
        if rest:
            table = self._by_arrow(data, rest, time)
            found |= {name: table.column(name) for name in table.column_names}
        return pa.table({column.name: found[column.name] for column in columns})

    def _is_strict(self, columns: Sequence[Column]) -> bool:
        """Whether other fields are refused; with columns that others read, they cannot be known."""
        return self._refuses_others and len(columns) == len(self._columns)

    def _by_arrow(self, data: bytes, columns: Sequence[Column], time: pa.DataType) -> pa.Table:
        kinds = {column.name: read_type(column.type) for column in columns}
        if self._schema.time in kinds:
            kinds[self._schema.time] = time
        explicit = pa.schema(list(kinds.items()))
        if not data.strip():
            return explicit.empty_table()
        if _begins_with_null(data):
            data = _NULL_LINE.sub(b"{}", data)
            if _begins_with_null(data):
                raise ValueError("a line begins with null")
        return pa_json.read_json(
            pa.BufferReader(data),
            # One block, as no line is cut by it.
            pa_json.ReadOptions(block_size=max(BLOCK_BYTES, len(data) + 1)),
            pa_json.ParseOptions(
                explicit_schema=explicit,
                unexpected_field_behavior="error" if self._is_strict(columns) else "ignore",
            ),
        )


def _begins_with_null(data: bytes) -> bool:
    """Whether a line does."""
    return bool(_BEGINS_WITH_NULL.match(data) or _LINE_WITH_NULL.search(data))


def _is_utf8(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
