"""Ends this process, or lets the disk fail, at the n-th call that changes something on the disk.

Calls are counted where Python makes them: of the log, of snapshots, of names, and of Parquet files
as a whole. A write that is hit has written half of its bytes by then.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["FAULTS", "Disk", "killed", "refusing"]

FAULTS = {"full": errno.ENOSPC, "broken": errno.EIO}
Hit = Callable[[], None]
_PLAIN = ("fsync", "rename", "replace", "unlink", "remove", "mkdir", "ftruncate", "pwrite")
_WRITING = os.O_WRONLY | os.O_RDWR


def killed() -> None:
    """As by kill -9: nothing of this process runs any more."""
    os.kill(os.getpid(), signal.SIGKILL)


def refusing(code: int) -> Hit:
    """The disk refuses the call."""

    def refuse() -> None:
        raise OSError(code, os.strerror(code))

    return refuse


class Disk:
    """Calls of this process from now on; hit: what becomes of those that are chosen.

    first: the number of the first call that is hit, from 1; last: of the last one. synced: a file
    into which names and sizes of files are written when they are safe on the disk.
    """

    def __init__(
        self, hit: Hit, first: int, last: int | None = None, synced: Path | None = None
    ) -> None:
        self.calls = 0
        self.hits = 0
        self._hit = hit
        self._first, self._last = first, first if last is None else last
        for name in _PLAIN:
            setattr(os, name, self._plain(getattr(os, name)))
        if synced is not None:
            self._note_synced(synced)
        self._open, self._writev = os.open, os.writev
        os.open, os.writev = self._opened, self._written  # type: ignore[assignment]
        self._write_table = pq.write_table
        pq.write_table = self._table_written

    def _note_synced(self, file: Path) -> None:
        fsync, notes = os.fsync, os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

        def noted(descriptor: int) -> None:
            size = os.fstat(descriptor).st_size
            fsync(descriptor)
            name = Path(os.readlink(f"/proc/self/fd/{descriptor}")).name
            os.write(notes, f"{name} {size}\n".encode())

        os.fsync = noted

    def _is_hit(self) -> bool:
        self.calls += 1
        is_hit = self._first <= self.calls <= self._last
        self.hits += is_hit
        return is_hit

    def _plain(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            if self._is_hit():
                self._hit()
            return call(*given, **named)

        return counted

    def _opened(self, path: Any, flags: int, *given: Any, **named: Any) -> int:
        if flags & _WRITING and self._is_hit():
            self._hit()
        return self._open(path, flags, *given, **named)

    def _written(self, descriptor: int, pieces: Sequence[memoryview], *given: Any) -> int:
        if self._is_hit():
            data = b"".join(bytes(piece) for piece in pieces)
            self._writev(descriptor, [data[: len(data) // 2]])
            self._hit()
        return self._writev(descriptor, pieces, *given)

    def _table_written(self, table: pa.Table, path: Path) -> None:
        if self._is_hit():
            data = pa.BufferOutputStream()
            self._write_table(table, data)
            whole = data.getvalue().to_pybytes()
            Path(path).write_bytes(whole[: len(whole) // 2])
            self._hit()
        self._write_table(table, path)
