"""One file that grows: how far it is read, and by what it is known again.

A file is known by its inode and by its bytes: the first ones, and those just before the place to
which it is read. A file that was truncated and has grown beyond that place has others there, and a
copy under another name has the same.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from windrow.connectors.files.packed_file import PackedFile

__all__ = ["Mark", "RestingFile", "TailedFile"]

# A mark is made of so many bytes at most.
MARKED_BYTES = 256
MARK_SIZE = 8


class Mark(NamedTuple):
    """How far a file is read: bytes and lines, and hashes of the bytes that tell it from others."""

    path: str
    offset: int
    line: int
    head: str
    tail: str

    @classmethod
    def of(cls, saved: list[Any]) -> Mark:
        """A mark that a position has."""
        return cls(*saved)


class RestingFile(NamedTuple):
    """A file that is read as far as it goes, and is not open any more."""

    path: Path
    size: int
    modified_ns: int
    mark: Mark

    def is_as_it_was(self, status: os.stat_result) -> bool:
        """Whether nobody has written into it since."""
        return (status.st_size, status.st_mtime_ns) == (self.size, self.modified_ns)


@dataclass
class TailedFile:
    """A file that is open; size: as it was last seen. line: the number of the next one, from 1."""

    path: Path
    file: int  # its descriptor
    key: str
    size: int = 0
    offset: int = 0
    line: int = 1
    head: bytes = b""
    tail: bytes = b""
    packed: PackedFile | None = None
    changed_at_s: float = 0.0
    modified_ns: int = 0
    looked_size: int = -1  # at which no whole line was found behind the offset
    is_leaving: bool = False  # its name is that of another file now, or of none
    skips_line: bool = False  # the rest of a line that was too long

    @classmethod
    def opened(cls, path: Path, now_s: float) -> TailedFile:
        """The file from its beginning; OSError where it cannot be opened."""
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            made = cls(path, descriptor, str(status.st_ino), changed_at_s=now_s)
            if path.suffix == ".gz":
                made.packed = PackedFile(descriptor)
            made.look(now_s)
        except BaseException:
            os.close(descriptor)
            raise
        return made

    def look(self, now_s: float) -> None:
        """See how large it is now."""
        status = os.fstat(self.file)
        self.modified_ns = status.st_mtime_ns
        if status.st_size != self.size:
            self.size, self.changed_at_s = status.st_size, now_s

    @property
    def unread(self) -> int:
        """Bytes that were not read; of a packed file those that it has on the disk, or none."""
        if self.packed is not None:
            return 0 if self.packed.is_read_through(self.size, self.offset) else self.size
        return max(0, self.size - self.offset)

    def bytes_at(self, offset: int, count: int) -> bytes:
        """What stands there, as far as there is something."""
        if self.packed is not None:
            return self.packed.bytes_at(offset, count)
        return os.pread(self.file, count, offset)

    @property
    def is_another(self) -> bool:
        """Whether what was read is not there any more: it was truncated, or written anew."""
        if self.packed is None and self.size < self.offset:
            return True
        return self.bytes_at(self.offset - len(self.tail), len(self.tail)) != self.tail

    def move(self, data: bytes) -> None:
        """So many bytes were read from the offset on."""
        if len(self.head) < MARKED_BYTES:
            self.head = (self.head + data)[:MARKED_BYTES]
        self.tail = (self.tail + data[-MARKED_BYTES:])[-MARKED_BYTES:]
        self.offset += len(data)
        self.line += data.count(b"\n")
        self.looked_size = -1

    def begin_again(self) -> None:
        """Another file has its name and its inode: nothing of it was read."""
        self.offset, self.line, self.head, self.tail = 0, 1, b"", b""
        self.looked_size, self.skips_line = -1, False

    def mark(self) -> Mark:
        """How far it is read, for a position."""
        return Mark(str(self.path), self.offset, self.line, _hash(self.head), _hash(self.tail))

    def fits(self, mark: Mark) -> bool:
        """Whether it begins as a file did that was read as far as that."""
        head = self.bytes_at(0, min(MARKED_BYTES, mark.offset))
        tail = self._tail_at(mark.offset)
        return _hash(head) == mark.head and _hash(tail) == mark.tail

    def go_on(self, mark: Mark) -> None:
        """Go on where another process was, or a copy of this file."""
        self.head = self.bytes_at(0, min(MARKED_BYTES, mark.offset))
        self.tail = self._tail_at(mark.offset)
        self.offset, self.line, self.looked_size = mark.offset, mark.line, -1

    def _tail_at(self, offset: int) -> bytes:
        count = min(MARKED_BYTES, offset)
        return self.bytes_at(offset - count, count)

    def resting(self) -> RestingFile:
        """What is kept of it while it is closed."""
        return RestingFile(self.path, self.size, self.modified_ns, self.mark())

    def close(self) -> None:
        """Give its descriptor back."""
        with suppress(OSError):
            os.close(self.file)


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=MARK_SIZE).hexdigest()
