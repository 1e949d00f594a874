"""Values of messages that are text: one JSON object each, or one record of CSV."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from windrow.connectors.files.csv_files import CsvText
from windrow.connectors.files.csv_records import inside_after
from windrow.connectors.files.jsonl_files import JsonText
from windrow.schema import Column, StreamSchema

__all__ = ["CsvValues", "JsonValues"]

# Arrow's readers end a row at either.
_LINE_ENDS = bytes.maketrans(b"\r\n", b"  ")


class JsonValues:
    """A JSON object in each value.

    >>> from windrow.schema import columns_of
    >>> schema = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
    >>> read = JsonValues(schema, schema.columns).parsed([b'{"ts": "2026-01-01", "x": 1}'])
    >>> read["x"].to_pylist()
    [1]
    """

    def __init__(self, schema: StreamSchema, columns: Sequence[Column]) -> None:
        self._text = JsonText(schema, columns)

    def parsed(self, values: Sequence[bytes]) -> Mapping[str, Any]:
        """Columns of the objects."""
        table = self._text.parsed(b"\n".join(map(_on_one_line, values)))
        return _columns(table, len(values))

    def fault(self, value: bytes) -> tuple[str | None, str]:
        """What is wrong with a value."""
        return self._text.fault(value)


def _on_one_line(value: bytes) -> bytes:
    value = value.strip()
    # What is no object would be no line to Arrow, or several; the rows after it would move.
    if value[:1] != b"{" or value[-1:] != b"}":
        raise ValueError("it is not a JSON object")
    if b"\n" not in value and b"\r" not in value:
        return value
    json.loads(value)  # between values a line may end, within a text it may not
    return value.translate(_LINE_ENDS)


class CsvValues:
    """A record of CSV in each value, without a header.

    >>> from windrow.schema import columns_of
    >>> schema = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
    >>> read = CsvValues(schema, schema.columns, ",").parsed([b"2026-01-01,1", b"2026-01-02,2"])
    >>> read["x"].to_pylist()
    [1, 2]
    """

    def __init__(self, schema: StreamSchema, columns: Sequence[Column], delimiter: str) -> None:
        self._text = CsvText(schema, delimiter, columns)
        self._delimiter = delimiter.encode()

    def parsed(self, values: Sequence[bytes]) -> Mapping[str, Any]:
        """Columns of the records."""
        for value in values:
            self._check_whole(value)
        table = self._text.parsed(b"\n".join(value.rstrip(b"\r\n") for value in values))
        return _columns(table, len(values))

    def fault(self, value: bytes) -> tuple[str | None, str]:
        """What is wrong with a value."""
        try:
            self._check_whole(value)
        except ValueError as problem:
            return None, str(problem)
        return self._text.fault(value)

    def _check_whole(self, value: bytes) -> None:
        """Refuses what would run into the values before and after it."""
        is_open = False
        lines = value.rstrip(b"\r\n").splitlines(keepends=True)
        if not lines:
            raise ValueError("it is empty")
        for number, line in enumerate(lines):
            if number and not is_open:
                raise ValueError("it is more than one record")
            is_open = inside_after(line, self._delimiter, is_open)
        if is_open:
            raise ValueError("a quote is not closed")


def _columns(table: pa.Table, count: int) -> Mapping[str, Any]:
    if table.num_rows != count:
        raise ValueError("a value is not one row")
    return {name: table.column(name) for name in table.column_names}
