"""The files of a log, in order: found, read to the end, and cut where a crash has torn them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from windrow.durable.errors import damaged, foreign, newer_format
from windrow.durable.folder import StateFolder
from windrow.durable.records import Record, later_safe, record_at

__all__ = [
    "FORMAT_VERSION",
    "LogReader",
    "TornTail",
    "check_own",
    "file_head",
    "file_name",
    "obsolete_files",
]

# Version 2 has what the governor has decided, behind the record of which it was.
FORMAT_VERSION = 2
KNOWN_DECISIONS = 2
FILE_HEAD = struct.Struct("<8sIIQ")  # magic, version, checksum, first sequence
_MAGIC = b"WDRWLOG\n"
_PREFIX, _SUFFIX = "log-", ".wlog"


class TornTail(NamedTuple):
    """What a crash has left of a write: so many bytes, after the last whole record of a file."""

    name: str
    offset: int
    bytes: int


def file_name(first: int) -> str:
    """The file of a log that begins with that record."""
    return f"{_PREFIX}{first:020d}{_SUFFIX}"


def file_head(first: int, version: int = FORMAT_VERSION) -> bytes:
    """What it begins with."""
    checksum = zlib.crc32(FILE_HEAD.pack(_MAGIC, version, 0, first))
    return FILE_HEAD.pack(_MAGIC, version, checksum, first)


@dataclass(frozen=True)
class _LogFile:
    name: str
    first: int


class LogReader:
    """Reads the records after one of them; then it knows where the log goes on.

    after: the number of the record that a snapshot has; 0: there is none.
    """

    def __init__(self, folder: StateFolder, after: int = 0) -> None:
        self._folder = folder
        self.sequence = after  # of the last record that was read
        self.name: str | None = None  # the file that it is in
        self.version = FORMAT_VERSION  # of that file
        self.end = 0  # where it ends there
        self.bytes = 0  # of the records that were read
        self.torn: TornTail | None = None
        found = [_LogFile(name, _first(name)) for name in folder.names() if _is_log_file(name)]
        begun = [each for each in found if each.first <= after + 1]
        self._files = found[max(0, len(begun) - 1) :]
        if found and not begun:
            raise damaged(folder.path / found[0].name, 0, f"record {after + 1} is not there")

    def records(self) -> Iterator[Record]:
        """The records, in order; a torn tail ends them."""
        for number, file in enumerate(self._files):
            data = self._folder.read(file.name)
            offset = self._begin(file, data)
            if offset is None:
                self._tear(number, data, 0)
                return
            self.name, self.end = file.name, offset
            (self.version,) = struct.unpack_from("<I", data, len(_MAGIC))
            knows_decisions = self.version >= KNOWN_DECISIONS
            expected = file.first
            while self.end < len(data):
                record = record_at(data, self.end, expected)
                if record is None:
                    self._tear(number, data, self.end)
                    return
                size = record.end - self.end
                self.end, expected = record.end, expected + 1
                if record.sequence > self.sequence:
                    self.bytes += size
                    self.sequence = record.sequence
                    yield record._replace(knows_decisions=knows_decisions)
            following = self._files[number + 1 : number + 2]
            if following and following[0].first != expected:
                raise damaged(self._folder.path / file.name, self.end, "records are missing")

    def _begin(self, file: _LogFile, data: memoryview) -> int | None:
        """Where its records begin; None where even its head is torn."""
        if len(data) < FILE_HEAD.size:
            return None
        _, version, _, _ = FILE_HEAD.unpack_from(data)
        path, head = self._folder.path / file.name, bytes(data[: FILE_HEAD.size])
        if head != file_head(file.first, version) or version < 1:
            # A crash may leave anything where nothing was on the disk yet; but a record of its own
            # behind it shows that it was a head.
            if record_at(data, FILE_HEAD.size, file.first) is not None:
                raise damaged(path, 0, "it does not begin as a log does")
            return None
        if version > FORMAT_VERSION:
            raise newer_format(path, version, FORMAT_VERSION)
        return FILE_HEAD.size

    def _tear(self, number: int, data: memoryview, offset: int) -> None:
        """What follows is a tail that was never safe, or it is damage, which is refused."""
        lost = self.sequence + 1
        file = self._files[number]
        parts = [(data, offset)]
        parts += [(self._folder.read(each.name), 0) for each in self._files[number + 1 :]]
        for bytes_read, start in parts:
            begin = start or min(FILE_HEAD.size, len(bytes_read))
            if later_safe(bytes_read, begin, lost):
                what = f"record {lost} is not what was written, and later ones are"
                raise damaged(self._folder.path / file.name, offset, what)
        self.torn = TornTail(file.name, offset, sum(len(each) - at for each, at in parts))

    def cut(self) -> None:
        """Remove a torn tail, so that the log can go on where its last whole record ends."""
        if self.torn is None:
            return
        names = [each.name for each in self._files]
        place = names.index(self.torn.name)
        for name in reversed(names[place + (self.torn.offset > 0) :]):
            self._folder.remove(name)
        if self.torn.offset:
            file = self._folder.open(self.torn.name)
            file.truncate(self.torn.offset)
            file.sync()
            file.close()
        self._folder.sync()


def _is_log_file(name: str) -> bool:
    is_named = name.startswith(_PREFIX) and name.endswith(_SUFFIX)
    return is_named and name[len(_PREFIX) : -len(_SUFFIX)].isdigit()


def _first(name: str) -> int:
    return int(name[len(_PREFIX) : -len(_SUFFIX)])


def obsolete_files(folder: StateFolder, sequence: int) -> list[str]:
    """The files whose records are all up to that one."""
    files = [name for name in folder.names() if _is_log_file(name)]
    following = [*files[1:], None]
    return [
        name
        for name, later in zip(files, following, strict=True)
        if later is not None and _first(later) <= sequence + 1
    ]


def check_own(folder: StateFolder, is_known: Callable[[str], bool]) -> None:
    """Refuse a folder that has files of others: it was named by mistake."""
    for name in folder.names():
        if not _is_log_file(name) and not is_known(name):
            raise foreign(folder.path, name)
