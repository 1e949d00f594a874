"""Tables in one block of bytes: JSON header, Arrow IPC, version and checksum. Never pickle."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from windrow.errors import CheckpointError

__all__ = ["FORMAT_VERSION", "pack", "unpack"]

_MAGIC = b"WNDR"
FORMAT_VERSION = 1
_PREFIX = struct.Struct("<4sHI")  # magic, version, checksum of the rest
_LENGTH = struct.Struct("<Q")


def pack(
    kind: str, header: Mapping[str, Any], tables: Mapping[str, pa.Table | pa.RecordBatch]
) -> bytes:
    """One block that unpack() takes apart again; kind says what it holds."""
    named = {"kind": kind, "header": header, "tables": list(tables)}
    parts = [json.dumps(named).encode()]
    parts += [_to_ipc(table) for table in tables.values()]
    body = b"".join(piece for part in parts for piece in (_LENGTH.pack(len(part)), part))
    return _PREFIX.pack(_MAGIC, FORMAT_VERSION, zlib.crc32(body)) + body


def unpack(kind: str, data: bytes) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Header and tables of a block; damaged or foreign bytes are refused."""
    if len(data) < _PREFIX.size:
        raise CheckpointError("WC101", "saved state is cut short", hint="restore it from a copy")
    magic, version, checksum = _PREFIX.unpack_from(data)
    if magic != _MAGIC:
        raise CheckpointError(
            "WC102",
            "these bytes are not state that Windrow saved",
            hint="restore it from a copy, or start from a new checkpoint",
        )
    if version != FORMAT_VERSION:
        raise CheckpointError(
            "WC103",
            f"saved state has format {version}, this version of Windrow reads {FORMAT_VERSION}",
            hint="run it with the version that saved it, or start from a new checkpoint",
        )
    body = memoryview(data)[_PREFIX.size :]
    if zlib.crc32(body) != checksum:
        raise CheckpointError("WC104", "saved state is damaged", hint="restore it from a copy")
    parts = list(_split(body))
    named = json.loads(bytes(parts[0]))
    if named["kind"] != kind:
        raise CheckpointError(
            "WC107",
            f"this saved state is a {named['kind']}, not a {kind}",
            hint="restore it from a copy, or start from a new checkpoint",
        )
    tables = [pa.ipc.open_stream(pa.py_buffer(part)).read_all() for part in parts[1:]]
    return named["header"], dict(zip(named["tables"], tables, strict=True))


def _to_ipc(table: pa.Table | pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _split(body: memoryview) -> list[memoryview]:
    parts, at = [], 0
    while at < len(body):
        (size,) = _LENGTH.unpack_from(body, at)
        at += _LENGTH.size
        parts.append(body[at : at + size])
        at += size
    return parts
