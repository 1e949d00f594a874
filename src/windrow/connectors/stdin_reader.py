"""What is piped into this process, as rows."""

from __future__ import annotations

import csv
import io
import os
import select
import sys
from typing import TYPE_CHECKING

from windrow.connectors.files.csv_files import check_names
from windrow.connectors.line_rows import LineRows
from windrow.connectors.live import LiveReader, Polled
from windrow.connectors.record_cutter import LONGEST_SENT_BYTES, RecordCutter
from windrow.rows.file_rows import FileRows

if TYPE_CHECKING:
    from windrow.connectors.listening import Stdin
    from windrow.schema import StreamSchema

__all__ = ["StdinReader"]

READ_BYTES = 1 << 20
NAME = "stdin"


class StdinReader(LiveReader):
    """Whole lines of a descriptor until its end; a last line needs none of its own."""

    def __init__(self, schema: StreamSchema, source: Stdin, descriptor: int | None = None) -> None:
        self._schema, self._source = schema, source
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        self._lines = LineRows(schema, source, source.format, source.delimiter)
        self._cutter = RecordCutter("lines", source.format, source.delimiter)
        self._has_header = self._lines.is_csv and source.header
        self._line, self._records, self._too_long = 1, 0, 0
        self._is_done = False

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """The lines that are there."""
        if self._is_done or not select.select([self._descriptor], [], [], timeout_s)[0]:
            return None
        data = os.read(self._descriptor, READ_BYTES)
        whole = self._cutter.add(data)
        if not data:
            whole, self._is_done = self._cutter.rest(), True
        rows = self._rows(whole)
        self._records += rows.num_rows
        return Polled(rows, {"received": self._records}) if rows.num_rows else None

    @property
    def is_done(self) -> bool:
        """Whether the other side has closed it."""
        return self._is_done

    def _rows(self, whole: bytes) -> FileRows:
        line = self._line
        self._line += whole.count(b"\n")
        if self._has_header and whole:
            header, _, whole = whole.partition(b"\n")
            text = io.StringIO(header.decode("utf-8-sig", "replace"))
            names = next(csv.reader(text, delimiter=self._source.delimiter), [])
            check_names(self._schema, self._source, NAME, names)
            self._has_header, line = False, line + 1
        if self._cutter.too_long > self._too_long:
            self._too_long, self._line = self._cutter.too_long, self._line + 1
            why = f"it is longer than {LONGEST_SENT_BYTES:,} bytes"
            bad = self._lines.unreadable(b"", why, NAME, self._line - 1)
            read = self._lines.of(whole, NAME, line)
            return FileRows(read.batch, (*read.bad, *bad.bad))
        return self._lines.of(whole, NAME, line)
