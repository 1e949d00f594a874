"""The log of a durable session: records are added at its end, in files of a limited size."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from windrow.durable.errors import broken_off, unwritten
from windrow.durable.folder import GrowingFile, StateFolder
from windrow.durable.log_files import FORMAT_VERSION, LogReader, file_head, file_name
from windrow.durable.records import Section, record_pieces

__all__ = ["FILE_BYTES", "Log"]

# A file of the log is closed, and the next one begun, once it has so many bytes.
FILE_BYTES = 64 << 20


class Log:
    """Goes on where a reader has come to the end.

    bytes: of all records since the last snapshot. is_torn: what was written last may be there or
    not, and nothing can be added any more.
    """

    def __init__(self, folder: StateFolder, reader: LogReader) -> None:
        self.folder = folder
        self.sequence = reader.sequence
        self.bytes = reader.bytes
        self.is_torn = False
        self._safe = reader.sequence  # the last record that is surely on the disk
        self._closing = threading.Lock()  # held while a file is synced, or another one begun
        reader.cut()
        if reader.name is None:
            self._file = self._begun()
        else:
            self._file = folder.open(reader.name)
            if reader.version < FORMAT_VERSION:
                self.begin_file()  # records of different formats are not in one file

    def append(self, header: Mapping[str, Any], sections: Sequence[Section] = ()) -> None:
        """Add a record: it is written as a whole, or not at all, and then an error is raised."""
        if self.is_torn:
            raise broken_off(self.folder.path, "its log could not be written")
        pieces = record_pieces(self.sequence + 1, self._safe, header, sections)
        try:
            if self._file.size >= FILE_BYTES:
                self._roll()
            before = self._file.size
            try:
                self._file.append(pieces)
            except BaseException:
                self._cut_to(before)
                raise
        except OSError as problem:
            raise unwritten(self.folder.path, problem) from problem
        self.sequence += 1
        self.bytes += self._file.size - before

    def sync(self) -> None:
        """All records so far are on the disk when it returns."""
        with self._closing:
            self._sync()

    @property
    def safe(self) -> int:
        """The number of the last record that is surely on the disk."""
        return self._safe

    @property
    def is_safe(self) -> bool:
        """Whether all records are on the disk."""
        return self._safe == self.sequence

    def close(self) -> None:
        """Add nothing any more."""
        self.is_torn = True
        with self._closing:
            self._file.close()

    def _sync(self) -> None:
        last = self.sequence
        if last == self._safe:
            return
        try:
            self._file.sync()
        except OSError as problem:
            # What a disk has refused to keep once may be gone, whatever it says later.
            self.is_torn = True
            raise broken_off(self.folder.path, f"its log could not be synced: {problem}") from None
        self._safe = last

    def begin_file(self) -> None:
        """What comes is in another file, so that those before it can be removed by themselves."""
        try:
            self._roll()
        except OSError as problem:
            raise unwritten(self.folder.path, problem) from problem

    def _roll(self) -> None:
        """Begin the next file; nothing is in it before the last one is on the disk."""
        with self._closing:
            self._sync()
            following = self._begun()
            self._file.close()
            self._file = following

    def _begun(self) -> GrowingFile:
        first = self.sequence + 1
        try:
            made = self.folder.create(file_name(first))
            made.append([file_head(first)])
            self.folder.sync()
        except OSError as problem:
            with suppress(OSError):
                self.folder.remove(file_name(first))
            raise unwritten(self.folder.path, problem) from problem
        return made

    def _cut_to(self, size: int) -> None:
        try:
            self._file.truncate(size)
        except BaseException:
            self.is_torn = True
            raise
