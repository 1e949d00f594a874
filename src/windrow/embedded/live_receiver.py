"""What takes in what sources give: the one door between the loop that reads them and a session."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pyarrow as pa

from windrow.connectors.live import Position
from windrow.rows.file_rows import FileRows

if TYPE_CHECKING:
    from windrow.embedded.ingest import Ingest

__all__ = ["LiveReceiver"]


class LiveReceiver:
    """Each call holds the session's lock. Nothing of a session in memory is on a disk."""

    def __init__(self, lock: threading.RLock, ingest: Ingest) -> None:
        self._lock, self._ingest = lock, ingest

    def take(self, stream: str, rows: FileRows, position: Position) -> None:
        """Rows of a source, and the position behind them."""
        with self._lock:
            self._ingest.take_polled(stream, rows, position)

    def stage(self, stream: str, rows: FileRows, position: Position) -> None:
        """Rows that are applied later, by release()."""
        with self._lock:
            self._ingest.stage(stream, rows, position)

    def release(self, stream: str, count: int) -> None:
        """Apply the first of the rows that are staged."""
        with self._lock:
            self._ingest.release(stream, count)

    def staged(self, stream: str) -> pa.RecordBatch | None:
        """The rows that are staged, if there are any: also by a process before this one."""
        return self._ingest.staged.get(stream)

    @property
    def is_by_arrival(self) -> bool:
        """Whether a row makes all older ones late, of every stream."""
        return self._ingest.is_by_arrival

    def end(self, stream: str) -> None:
        """Nothing more comes of a stream; others go on without it."""
        with self._lock:
            self._ingest.end_stream(stream)

    def hold(self, stream: str, *, is_held: bool) -> None:
        """While a stream is held it is not idle, however long no row comes."""
        with self._lock:
            self._ingest.hold(stream, is_held=is_held)

    def beat(self) -> None:
        """Silent streams get the heartbeats that are due; rows that wait are applied."""
        self._ingest.flush()

    def written_mark(self) -> int:
        """A number for all that was taken so far."""
        return 0

    def safe_mark(self) -> int:
        """The mark up to which all is as safe as it will be."""
        return 0

    def sync(self) -> None:
        """What was taken is on the disk when it returns, where it is to be."""
