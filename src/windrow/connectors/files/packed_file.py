"""A file packed by gzip, read by the places of its unpacked bytes; it may still be written."""

from __future__ import annotations

import os
import zlib

__all__ = ["PackedFile"]

_GZIP = 16 + zlib.MAX_WBITS
READ_BYTES = 1 << 18


class PackedFile:
    """Unpacks forwards; to go back it begins again. Several members one after the other are one.

    Of what it has unpacked it keeps the last bytes, so that a little way back costs nothing.
    """

    KEPT_BYTES = 1 << 20

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._begin()

    def _begin(self) -> None:
        self._taken = 0  # bytes of the file that were given to the unpacker
        self._unpacker = zlib.decompressobj(_GZIP)
        self._kept, self._kept_from = b"", 0

    @property
    def _end(self) -> int:
        return self._kept_from + len(self._kept)

    def is_read_through(self, size: int, offset: int) -> bool:
        """Whether a file of that size is unpacked, and read up to its end."""
        return self._taken >= size and offset >= self._end

    def bytes_at(self, offset: int, count: int) -> bytes:
        """Unpacked bytes from a place on, as many as there are by now."""
        if offset < self._kept_from:
            self._begin()
        while self._end < offset + count and self._unpack():
            drop = min(offset, self._end - self.KEPT_BYTES) - self._kept_from
            if drop > 0:
                self._kept, self._kept_from = self._kept[drop:], self._kept_from + drop
        begin = offset - self._kept_from
        return self._kept[begin : begin + count] if begin >= 0 else b""

    def _unpack(self) -> bool:
        """Unpack a little more; whether there was something. zlib.error: it is no such file."""
        data = os.pread(self._descriptor, READ_BYTES, self._taken)
        if not data:
            return False
        while data:
            self._kept += self._unpacker.decompress(data)
            taken = len(data) - len(self._unpacker.unused_data)
            self._taken += taken
            data = self._unpacker.unused_data
            if self._unpacker.eof:
                self._unpacker = zlib.decompressobj(_GZIP)
                if data.strip(b"\0") == b"":  # padding behind the last member
                    self._taken += len(data)
                    break
            elif not taken:
                break
        return True
