"""Rows as the bytes of a file, and several files as one: JSON lines, CSV or Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from windrow.connectors.folders.connector import CsvFiles, FolderSink
from windrow.connectors.parquet.connector import Parquet
from windrow.rows.json_texts import json_texts

__all__ = ["FileFormat", "format_of"]

Bytes = bytes | memoryview


class FileFormat(Protocol):
    """What a file of a folder holds."""

    def written(self, rows: pa.Table) -> Bytes:
        """The bytes of a file."""

    def joined(self, files: Sequence[bytes]) -> Bytes:
        """The bytes of one file with the rows of several."""


def format_of(sink: FolderSink | Parquet) -> FileFormat:
    """That of a sink."""
    if isinstance(sink, Parquet):
        return _Parquet()
    return _Csv(sink) if isinstance(sink, CsvFiles) else _JsonLines()


class _JsonLines:
    def written(self, rows: pa.Table) -> Bytes:
        lines = json_texts(rows.to_struct_array())
        return "".join(f"{line}\n" for line in lines).encode()

    def joined(self, files: Sequence[bytes]) -> Bytes:
        return b"".join(files)


class _Csv:
    def __init__(self, sink: CsvFiles) -> None:
        self._has_header = sink.header
        self._how = pa.csv.WriteOptions(include_header=False, delimiter=sink.delimiter)
        self._delimiter = sink.delimiter

    def written(self, rows: pa.Table) -> Bytes:
        data = pa.BufferOutputStream()
        if self._has_header:
            names = (f'"{name.replace(chr(34), chr(34) * 2)}"' for name in rows.schema.names)
            data.write(f"{self._delimiter.join(names)}\n".encode())
        pa.csv.write_csv(_plain(rows), data, self._how)
        return memoryview(data.getvalue())

    def joined(self, files: Sequence[bytes]) -> Bytes:
        begins = _end_of_header(files[0]) if self._has_header else 0
        return b"".join([files[0], *(each[begins:] for each in files[1:])])


def _end_of_header(data: bytes) -> int:
    """Behind the first line; a name between quotes may have line ends."""
    end = data.index(b"\n")
    while data.count(b'"', 0, end) % 2:
        end = data.index(b"\n", end + 1)
    return end + 1


def _plain(rows: pa.Table) -> pa.Table:
    """The rows with texts for what CSV has no form for, as in JSON."""
    for place, field in enumerate(rows.schema):
        kind = field.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_duration(kind):
            texts = json_texts(rows.column(place))
            bare = [text[1:-1] if text and text[0] == '"' else text for text in texts]
            rows = rows.set_column(place, field.name, pa.array(bare, pa.string()))
    return rows


class _Parquet:
    def written(self, rows: pa.Table) -> Bytes:
        data = pa.BufferOutputStream()
        pq.write_table(rows, data)
        return memoryview(data.getvalue())

    def joined(self, files: Sequence[bytes]) -> Bytes:
        return self.written(
            pa.concat_tables(pq.read_table(pa.BufferReader(each)) for each in files)
        )
