"""A frame: a small JSON header and binary sections in one checksummed value. Never pickle.

All that is saved or crosses a process border on Spark is a frame, so that damage is seen before
anything is believed. What is part of a larger value gives its parts instead of a frame of its own:
each byte is framed and checked once.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from windrow.errors import CheckpointError

__all__ = [
    "FORMAT_VERSION",
    "Parts",
    "Section",
    "pack",
    "read_frame",
    "table_bytes",
    "table_of",
    "unpack",
    "write_frame",
]

FORMAT_VERSION = 2

Section = bytes | memoryview

_MAGIC = b"WFRM"
_MAGIC_BEFORE = b"WNDR"  # of format 1, which had two layouts
_RESTORE = "restore the checkpoint directory from a copy, or start with a new one"
_PREFIX = struct.Struct("<4sIII")  # magic, version, checksum of all that follows, header length
_CHECKED_FROM = 12
_ALIGNMENT = 8  # Arrow buffers inside a section can then be used where they lie
_KIND, _LENGTHS = "@kind", "@sections"


class Parts(NamedTuple):
    """What a larger frame takes in: plain values for its header, and sections."""

    header: dict[str, Any]
    sections: Sequence[Section]


def write_frame(kind: str, header: Mapping[str, Any], sections: Sequence[Section] = ()) -> bytes:
    """The header and the sections as one value; kind says what it is."""
    lengths = [len(section) for section in sections]
    named = {**header, _KIND: kind, _LENGTHS: lengths}
    text = json.dumps(named, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    pieces: list[Section] = [text]
    for section, length in zip(sections, lengths, strict=True):
        pieces.append(section)
        if length % _ALIGNMENT:
            pieces.append(b"\0" * (-length % _ALIGNMENT))
    checksum = zlib.crc32(_PREFIX.pack(_MAGIC, FORMAT_VERSION, 0, len(text))[_CHECKED_FROM:])
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return b"".join([_PREFIX.pack(_MAGIC, FORMAT_VERSION, checksum, len(text)), *pieces])


def read_frame(kind: str, data: Section, what: str = "") -> tuple[dict[str, Any], list[memoryview]]:
    """The header and the sections of a frame; damaged or foreign bytes are refused.

    what: names it in the error.

    >>> header, sections = read_frame("example", write_frame("example", {"a": 1}, [b"rows"]))
    >>> header, bytes(sections[0])
    ({'a': 1}, b'rows')
    """
    named = what or f"saved {kind}"
    view = memoryview(data)
    if len(view) < _PREFIX.size:
        raise CheckpointError("WC101", f"the {named} is cut short", hint=_RESTORE)
    magic, version, checksum, length = _PREFIX.unpack_from(view)
    if magic not in (_MAGIC, _MAGIC_BEFORE):
        raise CheckpointError(
            "WC102", f"the {named} is not what Windrow saved: it begins otherwise", hint=_RESTORE
        )
    if magic != _MAGIC or version != FORMAT_VERSION:
        found = 1 if magic == _MAGIC_BEFORE else version
        raise CheckpointError(
            "WC103",
            f"the {named} was written in format {found}, this version of Windrow reads "
            f"{FORMAT_VERSION}",
            hint="restart with the version that wrote it, or start with a new checkpoint",
        )
    if zlib.crc32(view[_CHECKED_FROM:]) != checksum:
        raise CheckpointError(
            "WC104", f"the {named} is damaged: its checksum does not match", hint=_RESTORE
        )
    body = view[_PREFIX.size :]
    header: dict[str, Any] = json.loads(bytes(body[:length]))
    found_kind = header.pop(_KIND)
    if found_kind != kind:
        raise CheckpointError(
            "WC107", f"the {named} is a {found_kind}, not a {kind}", hint=_RESTORE
        )
    return header, list(_sections(body, length, header.pop(_LENGTHS)))


def _sections(body: memoryview, start: int, lengths: Sequence[int]) -> Iterator[memoryview]:
    for length in lengths:
        yield body[start : start + length]
        start += length + (-length % _ALIGNMENT)


def pack(
    kind: str, header: Mapping[str, Any], tables: Mapping[str, pa.Table | pa.RecordBatch]
) -> bytes:
    """A frame of named tables, which unpack() takes apart again."""
    named = {"header": header, "tables": list(tables)}
    return write_frame(kind, named, [table_bytes(table) for table in tables.values()])


def unpack(kind: str, data: Section) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Header and tables of pack()."""
    named, sections = read_frame(kind, data)
    return named["header"], dict(zip(named["tables"], map(table_of, sections), strict=True))


def table_bytes(
    rows: pa.Table | pa.RecordBatch, options: pa.ipc.IpcWriteOptions | None = None
) -> memoryview:
    """Rows with their schema, as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=options) as writer:
        writer.write(rows)
    return memoryview(sink.getvalue())


def table_of(data: Section) -> pa.Table:
    """The rows of an Arrow IPC stream; they stay where they lie."""
    return pa.ipc.open_stream(pa.py_buffer(data)).read_all()
