"""Values with the number of their schema before them, as Confluent's clients write them."""

from __future__ import annotations

import struct

__all__ = ["HEADER_BYTES", "split_value"]

_HEADER = struct.Struct(">bI")
HEADER_BYTES = _HEADER.size


def split_value(value: bytes) -> tuple[int, bytes]:
    r"""The number of the schema, and what was written with it.

    >>> split_value(b"\0\0\0\0\x07{}")
    (7, b'{}')
    """
    if len(value) < HEADER_BYTES:
        raise ValueError(f"it has {len(value)} bytes, and no number of a schema")
    mark, number = _HEADER.unpack_from(value)
    if mark:
        raise ValueError("it does not begin with a zero, as values with a schema do")
    return number, value[HEADER_BYTES:]
