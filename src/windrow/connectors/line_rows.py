"""Lines of text that come bit by bit, as rows: of files that grow, sockets and messages."""

from __future__ import annotations

import io
from dataclasses import replace

import pyarrow as pa

from windrow.connectors.files.careful_reading import READING_ERRORS, fitting, rows_of_records
from windrow.connectors.files.csv_files import CsvText
from windrow.connectors.files.csv_records import Record, csv_records
from windrow.connectors.files.jsonl_files import JsonText
from windrow.connectors.files.refusal import Origin, refused
from windrow.rows.bad_rows import BadRow, cut
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["LINE_FORMATS", "LineRows"]

LINE_FORMATS = ("jsonl", "csv")


class LineRows:
    r"""Whole lines as rows of a stream.

    What a row's line cannot hold is set aside, and counted, unless the stream says on_bad_row =
    'fail': one bad line does not end what is meant to go on for ever.

    >>> from windrow.schema import StreamSchema, columns_of
    >>> from windrow.connectors.files.connector import FileSource
    >>> stream = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
    >>> rows = LineRows(stream, FileSource("jsonl", "-"), "jsonl")
    >>> lines = b'{"ts": "2026-01-01", "x": 1}\n{"ts": "2026-01-02", "x": "y"}\n'
    >>> given = rows.of(lines, "here", 1)
    >>> given.batch.num_rows, [(bad.line, bad.column) for bad in given.bad]
    (1, [(2, 'x')])
    """

    def __init__(
        self, schema: StreamSchema, source: Origin, form: str, delimiter: str = ","
    ) -> None:
        self._schema, self._source, self.delimiter = schema, source, delimiter
        self.is_csv = form == "csv"
        self._text: CsvText | JsonText
        self._text = CsvText(schema, delimiter) if self.is_csv else JsonText(schema)
        if schema.on_bad_row == "auto":
            self._schema = replace(schema, on_bad_row="set aside")

    def of(self, data: bytes, name: str, line: int | None) -> FileRows:
        """The rows of whole lines; name and line: where the first of them stands."""
        if not data.strip():
            return self.none
        try:
            return FileRows(fitting(self._schema, self._text.parsed(data)))
        except READING_ERRORS:
            records = self._records(data, line or 1)
            rows = rows_of_records(self._schema, self._source, name, records, self._text)
            if line is None:
                return FileRows(rows.batch, tuple(replace(bad, line=None) for bad in rows.bad))
            return rows

    @property
    def none(self) -> FileRows:
        """No rows."""
        return FileRows(pa.RecordBatch.from_pylist([], self._schema.arrow))

    def unreadable(self, data: bytes, why: str, name: str, line: int | None) -> FileRows:
        """Something that is no line at all, set aside, or refused where that is wanted."""
        bad = BadRow(why, None, name, line, cut(data[:4096]))
        if self._schema.on_bad_row == "fail":
            raise refused(self._schema, self._source, name, bad)
        return FileRows(self.none.batch, (bad,))

    def _records(self, data: bytes, first_line: int) -> list[Record]:
        if self.is_csv:
            found = csv_records(io.BytesIO(data), self.delimiter)
            return [Record(each.line + first_line - 1, each.data) for each in found]
        lines = data.split(b"\n")
        return [Record(at, line) for at, line in enumerate(lines, first_line) if line.strip()]
