"""The folder of a durable session: files that only grow, and one process that has it.

All that goes to the disk goes through these few methods, so that tests can let a disk fail, lose
what was not synced, or end the process at any of their calls.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from windrow.durable.errors import in_use, not_a_folder, unreadable
from windrow.private_files import create_private, make_private

__all__ = ["GrowingFile", "StateFolder"]

_LOCK = "lock"
_UNFINISHED = ".new"

Piece = bytes | memoryview


class GrowingFile:
    """A file that is written at its end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.size = os.fstat(descriptor).st_size

    def append(self, pieces: Sequence[Piece]) -> None:
        """Write all of it; what is there of a write that fails is for the caller to cut off."""
        waiting = [memoryview(piece).cast("B") for piece in pieces if len(piece)]
        while waiting:
            written = os.writev(self._descriptor, waiting)
            self.size += written
            while waiting and written >= len(waiting[0]):
                written -= len(waiting.pop(0))
            if written:
                waiting[0] = waiting[0][written:]

    def truncate(self, size: int) -> None:
        """Cut off what stands after so many bytes."""
        os.ftruncate(self._descriptor, size)
        self.size = size

    def sync(self) -> None:
        """Everything written so far is on the disk when it returns."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Write no more."""
        os.close(self._descriptor)


class StateFolder:
    """One folder, made if need be and closed to other users, of one process at a time."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        try:
            make_private(self.path)
            self._descriptor = os.open(
                self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
        except OSError as problem:
            raise not_a_folder(self.path, problem) from problem
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            owner = self._owner()
            self.release()
            if problem.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise not_a_folder(self.path, problem) from problem
            raise in_use(self.path, owner) from None
        # The number only tells others who has it: a disk that is full keeps nobody out.
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)

    def _owner(self) -> str:
        return os.pread(self._descriptor, 20, 0).decode(errors="replace")

    def release(self) -> None:
        """Another process may have it from now on; the file stays, so that none locks another."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def names(self) -> list[str]:
        """The files in it, sorted."""
        return sorted(entry.name for entry in os.scandir(self.path) if entry.is_file())

    def read(self, name: str) -> memoryview:
        """All bytes of a file."""
        try:
            return memoryview((self.path / name).read_bytes())
        except OSError as problem:
            raise unreadable(self.path / name, problem) from problem

    def create(self, name: str) -> GrowingFile:
        """A new file, which takes the place of one of that name."""
        with suppress(FileNotFoundError):
            os.unlink(self.path / name)
        with create_private(self.path / name) as made:
            return GrowingFile(os.dup(made.fileno()))

    def open(self, name: str) -> GrowingFile:
        """A file that is there, to be written at its end."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        return GrowingFile(os.open(self.path / name, flags))

    def rename(self, name: str, new: str) -> None:
        """Let a file have another name, in one step."""
        os.rename(self.path / name, self.path / new)

    def remove(self, name: str) -> None:
        """Remove a file; it need not be there."""
        with suppress(FileNotFoundError):
            os.unlink(self.path / name)

    def sync(self) -> None:
        """Names of files that were made, renamed or removed are on the disk when it returns."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
