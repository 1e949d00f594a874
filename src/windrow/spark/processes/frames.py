"""A frame: a small JSON header and binary sections in one checksummed binary value.

Packets, segments, headers and outputs all cross borders as frames, so that damage is seen before
anything is believed, and nothing is ever unpickled.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from windrow.errors import CheckpointError

__all__ = ["FRAME_VERSION", "read_frame", "write_frame"]

FRAME_VERSION = 1

_MAGIC = b"WNDR"
_PREFIX = struct.Struct("<4sIII")  # magic, checksum of all that follows, version, header length
_CHECKED_FROM = 8
_ALIGNMENT = 8  # Arrow buffers inside a section can then be used where they lie


def write_frame(header: Mapping[str, Any], sections: Sequence[bytes | memoryview] = ()) -> bytes:
    """The header and the sections as one value."""
    lengths = [len(section) for section in sections]
    text = json.dumps({**header, "sections": lengths}, separators=(",", ":")).encode()
    text += b" " * (-(_PREFIX.size + len(text)) % _ALIGNMENT)
    pieces: list[bytes | memoryview] = [text]
    for section, length in zip(sections, lengths, strict=True):
        pieces.append(section)
        if length % _ALIGNMENT:
            pieces.append(b"\0" * (-length % _ALIGNMENT))
    prefix = _PREFIX.pack(_MAGIC, 0, FRAME_VERSION, len(text))
    checksum = zlib.crc32(prefix[_CHECKED_FROM:])
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return b"".join([_PREFIX.pack(_MAGIC, checksum, FRAME_VERSION, len(text)), *pieces])


def read_frame(data: bytes | memoryview, what: str) -> tuple[dict[str, Any], list[memoryview]]:
    """The header and the sections of a frame; `what` names it in the error when it is damaged.

    >>> header, sections = read_frame(write_frame({"a": 1}, [b"rows"]), "example")
    >>> header["a"], bytes(sections[0])
    (1, b'rows')
    """
    view = memoryview(data)
    if len(view) < _PREFIX.size:
        raise _damaged(what, "it is cut short")
    magic, checksum, version, length = _PREFIX.unpack_from(view)
    if magic != _MAGIC:
        raise _damaged(what, "it does not begin as a frame does")
    if version != FRAME_VERSION:
        raise CheckpointError(
            "WC201",
            f"the {what} was written in format {version}, this version reads {FRAME_VERSION}",
            hint="restart with the version that wrote the checkpoint, or with a new checkpoint",
        )
    if zlib.crc32(view[_CHECKED_FROM:]) != checksum:
        raise _damaged(what, "its checksum does not match")
    body = view[_PREFIX.size :]
    header: dict[str, Any] = json.loads(bytes(body[:length]))
    return header, _sections(body, length, header.pop("sections"))


def _sections(body: memoryview, start: int, lengths: Sequence[int]) -> list[memoryview]:
    sections = []
    for length in lengths:
        sections.append(body[start : start + length])
        start += length + (-length % _ALIGNMENT)
    return sections


def _damaged(what: str, how: str) -> CheckpointError:
    return CheckpointError(
        "WC202",
        f"the {what} is damaged: {how}",
        hint="restore the checkpoint directory from a copy, or start with a new one",
    )
