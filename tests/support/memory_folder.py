"""A folder of a durable session in memory: it dies at any of its calls, and can lose its power."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from windrow.durable.folder import GrowingFile, Piece, StateFolder


class KilledError(BaseException):
    """The process has ended at this call."""


class MemoryFile(GrowingFile):
    """A file with what is written, and how much of it is safe."""

    def __init__(self, folder: MemoryFolder, name: str) -> None:
        self._folder, self._name = folder, name
        self.size = len(folder.files[name])

    def append(self, pieces: Sequence[Piece]) -> None:
        data = b"".join(bytes(piece) for piece in pieces)
        if self._folder.dies():
            self._folder.files[self._name] += data[: len(data) // 2]
            raise KilledError
        self._folder.fail()
        self._folder.files[self._name] += data
        self.size = len(self._folder.files[self._name])

    def truncate(self, size: int) -> None:
        self._folder.call()
        del self._folder.files[self._name][size:]
        self.size = size

    def sync(self) -> None:
        self._folder.call()
        self._folder.safe[self._name] = len(self._folder.files[self._name])

    def close(self) -> None:
        pass


class MemoryFolder(StateFolder):
    """dies_at: the number of the call that ends the process, from 1; failing: raised by appends."""

    path = Path("memory")

    def __init__(self, dies_at: int = 0) -> None:
        self.files: dict[str, bytearray] = {}
        self.safe: dict[str, int] = {}
        self.safe_names: set[str] = set()
        self.calls, self.dies_at = 0, dies_at
        self.failing: OSError | None = None
        self.is_dead = False

    def dies(self) -> bool:
        if self.is_dead:  # what still runs is no more than the unwinding of this test
            raise KilledError
        self.calls += 1
        self.is_dead = self.calls == self.dies_at
        return self.is_dead

    def call(self) -> None:
        if self.dies():
            raise KilledError

    def fail(self) -> None:
        if self.failing is not None:
            raise self.failing

    def after_kill(self) -> MemoryFolder:
        """What the next process finds: all that was written."""
        found = MemoryFolder()
        found.files = {name: bytearray(data) for name, data in self.files.items()}
        return found

    def after_power_cut(self) -> MemoryFolder:
        """What is found after a power cut: only what was synced."""
        found = MemoryFolder()
        for name in self.safe_names & self.files.keys():
            found.files[name] = self.files[name][: self.safe.get(name, 0)]
        return found

    def release(self) -> None:
        pass

    def names(self) -> list[str]:
        return sorted(self.files)

    def read(self, name: str) -> memoryview:
        return memoryview(bytes(self.files[name]))

    def create(self, name: str) -> GrowingFile:
        self.call()
        self.fail()
        self.files[name] = bytearray()
        return MemoryFile(self, name)

    def open(self, name: str) -> GrowingFile:
        return MemoryFile(self, name)

    def rename(self, name: str, new: str) -> None:
        self.call()
        self.files[new] = self.files.pop(name)
        self.safe[new] = self.safe.pop(name, 0)
        self.safe_names.discard(name)

    def remove(self, name: str) -> None:
        self.call()
        self.files.pop(name, None)

    def sync(self) -> None:
        self.call()
        self.safe_names = set(self.files)
