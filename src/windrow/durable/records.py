"""One record of a log: a head, a text that says what happened, and the rows that came with it.

    length of what follows the head, sequence, sequence that was safe (u64 each),
    length of the text, checksum (u32 each); the text is JSON, the sections are Arrow's bytes.

Everything begins at a multiple of eight bytes: columns are used where they lie.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

__all__ = ["HEAD_BYTES", "Record", "later_safe", "record_at", "record_pieces"]

_HEAD = struct.Struct("<QQQII")
HEAD_BYTES = _HEAD.size
_ALIGNMENT = 8
_CHECKSUM_AT = _HEAD.size - 4
_LENGTHS = "@"
# No log is written so far beyond a damaged record before it is synced.
_RECORDS_AHEAD = 1 << 32

Section = bytes | memoryview


class Record(NamedTuple):
    """One thing that happened; end: where the next record begins in its file.

    knows_decisions: whether what was decided with it is in the log, where anything was.
    """

    sequence: int
    header: dict[str, Any]
    sections: list[memoryview]
    end: int
    knows_decisions: bool = True

    @property
    def kind(self) -> str:
        """What happened."""
        return str(self.header["kind"])


def record_pieces(
    sequence: int, safe: int, header: Mapping[str, Any], sections: Sequence[Section] = ()
) -> list[Section]:
    """What is written of a record, in order.

    >>> written = b"".join(record_pieces(7, 6, {"kind": "example"}, [b"rows"]))
    >>> record = record_at(memoryview(written), 0, 7)
    >>> record.kind, bytes(record.sections[0]), record.end == len(written)
    ('example', b'rows', True)
    """
    lengths = [len(section) for section in sections]
    named = {**header, _LENGTHS: lengths} if lengths else header
    text = json.dumps(named, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    pieces: list[Section] = [text]
    size = len(text)
    for section, length in zip(sections, lengths, strict=True):
        pieces.append(section)
        size += length
        if length % _ALIGNMENT:
            pieces.append(b"\0" * (-length % _ALIGNMENT))
            size += -length % _ALIGNMENT
    head = _HEAD.pack(size, sequence, safe, len(text), 0)[:_CHECKSUM_AT]
    checksum = zlib.crc32(head)
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return [head + struct.pack("<I", checksum), *pieces]


def record_at(data: memoryview, offset: int, sequence: int) -> Record | None:
    """The record of that number at that place; None where there is no whole one."""
    if offset + HEAD_BYTES > len(data):
        return None
    size, found, _, text, checksum = _HEAD.unpack_from(data, offset)
    begin = offset + HEAD_BYTES
    if found != sequence or size > len(data) - begin or text > size:
        return None
    computed = zlib.crc32(data[offset : offset + _CHECKSUM_AT])
    if zlib.crc32(data[begin : begin + size], computed) != checksum:
        return None
    header = json.loads(bytes(data[begin : begin + text]))
    lengths = header.pop(_LENGTHS, ())
    return Record(sequence, header, list(_sections(data, begin + text, lengths)), begin + size)


def _sections(data: memoryview, start: int, lengths: Sequence[int]) -> Iterator[memoryview]:
    for length in lengths:
        yield data[start : start + length]
        start += length + (-length % _ALIGNMENT)


def later_safe(data: memoryview, offset: int, sequence: int) -> bool:
    """Whether a whole record after that place says that the record of that number was safe."""
    words = np.frombuffer(data[offset : len(data) - len(data) % _ALIGNMENT], np.uint64)
    if words.size < HEAD_BYTES // _ALIGNMENT:
        return False
    size, found, safe = words[:-3], words[1:-2], words[2:-1]
    is_head = (found > sequence) & (found < sequence + _RECORDS_AHEAD)
    is_head &= (safe >= sequence) & (safe < found) & (size < len(data))
    for place in np.flatnonzero(is_head).tolist():
        if record_at(data, offset + place * _ALIGNMENT, int(found[place])) is not None:
            return True
    return False
