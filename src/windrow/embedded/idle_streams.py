"""Streams that fall silent: after how long, by the clock on the wall, they hold nothing back.

A silent stream of a query with others that are not is complete as far as these. Where all streams
of a query are silent, time goes on as the clock on the wall does. What follows is a heartbeat, an
event with an instant: a run that is given the same rows and heartbeats gives the same answers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

import pyarrow as pa

from windrow.embedded.stream_ingest import StreamIngest
from windrow.event_time import START_OF_TIME

__all__ = ["HEARTBEATS_KEPT", "IdleStreams"]

# Heartbeats are recorded for replays; the newest are kept.
HEARTBEATS_KEPT = 10_000

_SCHEMA = pa.schema(
    [
        ("seen", pa.timestamp("us", tz="UTC")),
        ("stream", pa.string()),
        ("to", pa.timestamp("us", tz="UTC")),
    ]
)


class IdleStreams:
    """When rows of the streams of a session last came, by the clock on the wall."""

    def __init__(self) -> None:
        self._last_us: dict[str, int] = {}
        self._after_us: dict[str, int] = {}
        self.held: dict[str, bool] = {}  # streams with a source: whether it may have older rows
        self._heartbeats: deque[tuple[int, str, int]] = deque(maxlen=HEARTBEATS_KEPT)

    @property
    def may_be_any(self) -> bool:
        """Whether any stream may be idle."""
        return bool(self._after_us)

    def watch(self, stream: str, idle_after_us: int | None, now_us: int) -> None:
        """A stream was declared."""
        self._last_us[stream] = now_us
        if idle_after_us is not None:
            self._after_us[stream] = idle_after_us

    def came(self, stream: str, now_us: int) -> None:
        """Rows of a stream have come."""
        self._last_us[stream] = now_us

    def is_watched(self, stream: str) -> bool:
        """Whether a stream may be idle."""
        return stream in self._after_us

    def is_held(self, stream: str) -> bool:
        """Whether a stream is not idle, however long no row has come."""
        return self.held.get(stream, False)

    def hold(self, stream: str, now_us: int, *, is_held: bool) -> None:
        """From now on the stream is held, or is not: then its silence begins now."""
        self.held[stream] = is_held
        self.came(stream, now_us)

    def idle(self, now_us: int) -> list[str]:
        """The streams without rows for long enough."""
        after, last = self._after_us, self._last_us
        silent = [name for name, span_us in after.items() if now_us - last[name] >= span_us]
        return [name for name in silent if not self.is_held(name)]

    def heartbeats(
        self,
        streams: Mapping[str, StreamIngest],
        queries: Iterable[tuple[str, ...]],
        now_us: int,
    ) -> dict[str, int]:
        """Through when each idle stream is complete now; queries: the streams of each."""
        idle = self.idle(now_us)
        found: dict[str, int] = {}
        for names in queries if idle else ():
            silent = [name for name in names if name in idle]
            lively = [streams[name].completeness.through for name in names if name not in idle]
            ahead = {name: self._ahead(streams[name], now_us) for name in silent}
            latest = max(ahead.values(), default=START_OF_TIME)
            for name in silent:
                own = latest if ahead[name] == START_OF_TIME else ahead[name]
                to_us = min(lively) if lively else own
                found[name] = max(to_us, found.get(name, START_OF_TIME))
        return {
            name: to_us
            for name, to_us in found.items()
            if to_us > streams[name].completeness.through
        }

    def _ahead(self, stream: StreamIngest, now_us: int) -> int:
        """How far time has gone on by itself since the last row of a silent stream."""
        if stream.newest_row_us is None:
            return START_OF_TIME
        name, schema = stream.schema.name, stream.schema
        complete_us = stream.newest_row_us - schema.lateness_us - 1
        return complete_us + now_us - self._last_us[name] - self._after_us[name]

    def record(self, stream: str, to_us: int, now_us: int) -> None:
        """A heartbeat was given."""
        self._heartbeats.append((now_us, stream, to_us))

    def table(self) -> pa.Table:
        """The newest heartbeats: when they were seen to be due, of which stream, and to when."""
        columns = list(zip(*self._heartbeats, strict=True)) or [(), (), ()]
        arrays = [
            pa.array(list(values), pa.int64() if pa.types.is_timestamp(field.type) else field.type)
            for values, field in zip(columns, _SCHEMA, strict=True)
        ]
        return pa.Table.from_arrays(arrays, names=_SCHEMA.names).cast(_SCHEMA)
