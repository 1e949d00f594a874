"""The way of rows from live sources: with a position behind them, held awake, and with an end."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable

import pyarrow as pa

from windrow.connectors.live import Position
from windrow.embedded.event_subscribers import EventSubscribers
from windrow.embedded.idle_streams import IdleStreams
from windrow.embedded.ingest_steps import IngestSteps, raise_first
from windrow.embedded.pushed_rows import PushedRows
from windrow.embedded.stream_ingest import StreamIngest
from windrow.rows.file_rows import FileRows
from windrow.rows_warning import warn_of_rows
from windrow.windows.marks import Mark

__all__ = ["LiveIngest"]


class LiveIngest(IngestSteps, EventSubscribers):
    """What a session does with what its sources give.

    positions: by stream, behind the newest rows that were taken. staged: rows that are not applied.
    """

    lock: threading.RLock
    positions: dict[str, Position]
    staged: dict[str, pa.RecordBatch]
    flush: Callable[[], None]
    open_stream: Callable[[str], StreamIngest]
    _idle: IdleStreams
    _may_be_idle: bool
    _now_us: Callable[[], int]

    def __init__(self) -> None:
        super().__init__()
        self.positions, self.staged = {}, {}
        self.queued_bytes: Callable[[], int] = lambda: 0  # of what sources have given

    @property
    def live_bytes(self) -> int:
        """Bytes of rows that sources have given, and that are not applied."""
        staged = sum(rows.nbytes for rows in self.staged.values()) if self.staged else 0
        return self.queued_bytes() + staged

    def heartbeats(self) -> pa.Table:
        """The newest heartbeats that silent streams were given."""
        return self._idle.table()

    @abstractmethod
    def _take(self, stream: StreamIngest, rows: PushedRows) -> None:
        """Apply rows of a stream."""

    def take_polled(self, stream: str, rows: FileRows, position: Position) -> None:
        """Rows of a source; from now on it stands behind them, whatever becomes of them."""
        into = self.open_stream(stream)
        self.flush()
        self._expect_batch()
        self.positions[stream] = position
        if self._may_be_idle:
            self._idle.came(stream, self._now_us())
        try:
            with self._all_or_nothing(into):
                into.set_aside(rows.bad)
            if rows.batch.num_rows:
                self._take(into, PushedRows(rows.batch))
        finally:
            if into.news:
                warn_of_rows(into.told())
        if self.listening:
            self.tell()

    def stage(self, stream: str, rows: FileRows, position: Position) -> None:
        """Have rows of a source that are applied later; those with bad values count now."""
        waiting = self.staged.get(stream)
        self.take_polled(stream, FileRows(rows.batch.slice(0, 0), rows.bad), position)
        both = [rows.batch] if waiting is None else [waiting, rows.batch]
        self.staged[stream] = pa.concat_batches(both)

    def release(self, stream: str, count: int) -> None:
        """Apply the first of the rows that are staged."""
        into, rows = self.open_stream(stream), self.staged[stream]
        self.flush()
        self._expect_batch()
        if count < rows.num_rows:
            self.staged[stream] = rows.slice(count)
        else:
            del self.staged[stream]
        try:
            self._take(into, PushedRows(rows.slice(0, count)))
        finally:
            if into.news:
                warn_of_rows(into.told())
        if self.listening:
            self.tell()

    def end_stream(self, stream: str) -> None:
        """Nothing more comes of this stream; others go on."""
        into = self.streams[stream]
        if into.completeness.is_finished:
            return
        self.flush()
        self._expect_batch()
        step = self._begin(stream, Mark(*into.parts))
        into.completeness.finish()
        step.is_last = self.have_ended([*self.streams])
        step.moves_all = step.moves_all or step.is_last
        raise_first([self._decide(step)])
        if self.listening:
            self.tell()

    def hold(self, stream: str, *, is_held: bool) -> None:
        """While a stream is held it is not idle: what its source has may not have come yet."""
        if self._idle.is_watched(stream) and self._idle.is_held(stream) != is_held:
            self._idle.hold(stream, self._now_us(), is_held=is_held)
