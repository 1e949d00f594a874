"""How time moves in a session without rows: heartbeats, and the end of all streams."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime

import pyarrow as pa

from windrow.embedded.ingest import Ingest
from windrow.embedded.one_at_a_time import one_at_a_time
from windrow.errors import BindingError
from windrow.event_time import instant_of, is_plausible

__all__ = ["SessionTime"]


class SessionTime:
    """The calls of a session that move time."""

    _lock: threading.RLock
    _ingest: Ingest
    _flush: Callable[[], None]
    _check_open: Callable[[str], None]

    @one_at_a_time
    def advance(self, stream: str, *, to: int | str | datetime) -> None:
        """Event time moves on without rows: every row of the stream up to `to` has come.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> count = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]")
        >>> session.push("s", {"ts": "2026-01-01 00:00:00", "x": 1})
        >>> session.advance("s", to="2026-01-01 00:01:00")
        >>> count.result().to_pylist()  # the row has left the window
        [{'n': 0}]
        """
        self._check_open(stream)
        instant = instant_of(to)
        if not is_plausible(instant):
            raise BindingError(
                "WB105",
                f"{to!r} is not a possible event time",
                hint="give a time from the year 1 to 2199, or integer microseconds since the epoch",
            )
        self._ingest.advance(stream, instant)

    @one_at_a_time
    def heartbeat(
        self, stream: str | None = None, *, at: int | str | datetime | None = None
    ) -> None:
        """Event time moves on without rows, in one stream or in all, as advance() says.

        Without `at`, streams that have been silent for longer than their idle_after go on by the
        clock on the wall; every push and every read does the same.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts")
        >>> count = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]")
        >>> session.push("s", {"ts": "2026-01-01 00:00:00", "x": 1})
        >>> session.heartbeat(at="2026-01-01 00:01:00")
        >>> count.result().to_pylist()
        [{'n': 0}]
        """
        if at is None:
            self._flush()
            return
        for name in [stream] if stream is not None else [*self._ingest.streams]:
            self.advance(name, to=at)

    @one_at_a_time
    def heartbeats(self) -> pa.Table:
        """The newest heartbeats of silent streams; given to advance() in a replay, it agrees.

        >>> import windrow
        >>> windrow.connect().heartbeats().column_names
        ['seen', 'stream', 'to']
        """
        self._flush()
        return self._ingest.heartbeats()

    @one_at_a_time
    def finish(self) -> None:
        """End all streams: the clock moves to the latest event.

        >>> import windrow
        >>> session = windrow.connect()
        >>> session.stream("s", "ts timestamp, x int", time="ts", lateness="1 hour")
        >>> count = session.query("SELECT COUNT(*) AS n FROM s [10 SECONDS]")
        >>> session.push("s", {"ts": "2026-01-01 00:00:00", "x": 1})
        >>> session.finish()
        >>> count.result().to_pylist()
        [{'n': 1}]
        """
        self._ingest.finish()
