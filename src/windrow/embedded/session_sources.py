"""Streams of a session that are read from sources: started, followed and stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from windrow.connectors.contract import not_read_here
from windrow.deferred import deferred
from windrow.embedded.ingest import Ingest
from windrow.embedded.live_receiver import LiveReceiver
from windrow.errors import BindingError, DataError, WindrowError
from windrow.event_time import span_of
from windrow.interruption import Interruption
from windrow.schema import StreamSchema

if TYPE_CHECKING:
    from windrow.connectors.contract import Source
    from windrow.embedded.feeding import Feeding
    from windrow.sources import source_given
else:
    Feeding = deferred("windrow.embedded.feeding", "Feeding")
    source_given = deferred("windrow.sources", "source_given")

__all__ = ["SessionSources"]

STOP_WITHIN = "5 seconds"


class SessionSources:
    """The calls of a session that have to do with its sources."""

    memory: int
    _lock: threading.RLock
    _ingest: Ingest
    _flush: Callable[[], None]
    _sources: dict[str, Source]
    _feeding: Feeding | None
    _is_stopped: bool

    def run(self, *, stop_within: str | int | float | timedelta = STOP_WITHIN) -> None:
        """Read the sources of all streams; returns when all of them are done, or are stopped.

        Ctrl-C and SIGTERM, and stop_sources() in another thread, end it: what was read already is
        taken first, for as long as stop_within says. Then the signal is raised, as it would have
        been. A source or a query that fails ends it with its error.

        >>> import pathlib, tempfile, windrow
        >>> path = pathlib.Path(tempfile.mkdtemp(), "rows.jsonl")
        >>> _ = path.write_text('{"ts": "2026-01-01 00:00:00", "x": 1}')
        >>> session = windrow.connect()
        >>> read = windrow.sources.jsonl(path)
        >>> session.stream("s", "ts timestamp, x int", time="ts", source=read)
        >>> total = session.query("SELECT SUM(x) AS x FROM s [1 MINUTE]")
        >>> session.run()
        >>> total.result().to_pylist()
        [{'x': 1}]
        """
        within_s = span_of(stop_within) / 1e6
        feeding = self._begun_feeding(raises=True)
        with Interruption() as interruption:
            feeding.run(lambda: interruption.came, within_s)

    def start_sources(self) -> None:
        """Read the sources of all streams in threads, until stop_sources() or stop().

        Queries are registered before it: they see the rows that come after they were. What goes
        wrong with one source does not end the others: progress() shows it.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.start_sources()
        Traceback (most recent call last):
        ...
        windrow.errors.BindingError: [WB770] no stream of the session has a source
        Hint: give stream() a source=, such as windrow.sources.jsonl("log", follow=True)
        """
        self._begun_feeding(raises=False).start()

    def stop_sources(self, *, within: str | int | float | timedelta = STOP_WITHIN) -> None:
        """Read no more; what was read already is taken, if that can be done within the time.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stop_sources()  # none is being read
        """
        feeding = self._feeding
        if feeding is not None and feeding.is_running:
            feeding.stop(span_of(within) / 1e6)

    def wait_for_sources(self, timeout: float | None = None) -> bool:
        """Whether all sources are done, or were stopped, within so many seconds.

        What has ended them before their time is raised.

        >>> import windrow
        >>> windrow.connect().wait_for_sources()
        True
        """
        feeding = self._feeding
        if feeding is None:
            return True
        has_ended = feeding.wait(timeout)
        if has_ended and feeding.failure is not None:
            raise feeding.failure
        return has_ended

    def progress(self) -> dict[str, Any]:
        """How far sources have come, by stream: state, rows, position, lag, retries, problem.

        >>> import windrow
        >>> windrow.connect().progress()
        {'sources': {}}
        """
        feeding = self._feeding
        return {"sources": {} if feeding is None else feeding.progress()}

    def feeding(
        self,
        sources: Mapping[str, Source],
        after: Callable[[], None],
        noted: Callable[[WindrowError], None] = lambda _: None,
        *,
        raises: bool = False,
    ) -> Feeding:
        """What feeds a job from its sources, by stream, once it is started.

        after: is called when rows were taken or time has moved; noted: with what goes wrong.
        raises: whether the first failure ends it.
        """
        self._sources = dict(sources)
        return self._begun_feeding(raises=raises, after=after, noted=noted)

    def _begun_feeding(
        self,
        *,
        raises: bool,
        after: Callable[[], None] = lambda: None,
        noted: Callable[[WindrowError], None] = lambda _: None,
    ) -> Feeding:
        with self._lock:
            self._check_can_feed()
            streams = self._ingest.streams
            sources = {
                name: (streams[name].schema, source)
                for name, source in self._sources.items()
                if not self._ingest.have_ended([name])
            }
            for schema, source in sources.values():
                source.check(schema)
            beside = (self._ingest.positions, self.memory)
            made = Feeding(
                self._receiver(), sources, *beside, after=after, noted=noted, raises=raises
            )
            self._feeding, self._ingest.queued_bytes = made, lambda: made.nbytes
            return made

    def _check_can_feed(self) -> None:
        if self._is_stopped:
            raise DataError(
                "WD121",
                "the session is stopped and reads no more sources",
                hint="call it before stop(), or connect() a new session",
            )
        if not self._sources:
            raise BindingError(
                "WB770",
                "no stream of the session has a source",
                hint='give stream() a source=, such as windrow.sources.jsonl("log", follow=True)',
            )
        if self._feeding is not None and self._feeding.is_running:
            raise BindingError(
                "WB771",
                "the sources of the session are being read already",
                hint="call stop_sources() first",
            )

    def _checked_source(self, schema: StreamSchema, source: object) -> Source:
        """A source that can be read in this process."""
        given = source_given(source)
        if not given.in_process and not given.is_live:
            raise not_read_here(schema.name, given)
        return given

    def _receiver(self) -> LiveReceiver:
        return LiveReceiver(self._lock, self._ingest)
