"""Three streams of (ts, k, y, g, x) for the benchmark of the algorithms.

Times are in milliseconds and odd, a different remainder modulo 8 for each stream: no row stands on
a whole second, and no two rows of different streams are exactly a window apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["SCHEMA", "StreamData", "stream_data"]

SCHEMA = "ts timestamp, k bigint, y bigint, g bigint, x bigint"
COLUMNS = ("k", "y", "g", "x")
GROUPS = 100
VALUES = 1000
Event = tuple[int, int, int, int, int, int]


@dataclass(frozen=True)
class StreamData:
    """Streams in time order; keys k and y, group g, value x."""

    seconds: int
    times_ms: tuple[NDArray[np.int64], ...]
    columns: tuple[dict[str, NDArray[np.int64]], ...]

    @cached_property
    def events(self) -> list[Event]:
        """All rows in time order as (ms, stream, k, y, g, x), for loops in Python."""
        streams = np.repeat(np.arange(len(self.times_ms)), [each.size for each in self.times_ms])
        times = np.concatenate(self.times_ms)
        order = np.argsort(times, kind="stable")
        parts = [np.concatenate([each[name] for each in self.columns]) for name in COLUMNS]
        return list(zip(*(each[order].tolist() for each in (times, streams, *parts)), strict=True))

    def table(self, stream: int, repeats: int = 1) -> pa.Table:
        """One stream as Arrow, repeated one after the other in time."""
        times = self.times_ms[stream]
        shifts = np.repeat(np.arange(repeats) * self.seconds * 1000, times.size)
        instants = (np.tile(times, repeats) + shifts) * 1000
        columns = {name: pa.array(np.tile(self.columns[stream][name], repeats)) for name in COLUMNS}
        return pa.table({"ts": pa.array(instants).view(pa.timestamp("us", tz="UTC")), **columns})

    def live(self, stream: int, at_ms: int, window_ms: int) -> slice:
        """Where the rows stand that the window holds at an instant."""
        times = self.times_ms[stream]
        low, high = np.searchsorted(times, [at_ms - window_ms, at_ms + 1])
        return slice(int(low), int(high))

    def pairs_formed(self, window_ms: int) -> int:
        """How many pairs of equal k the first two streams ever form in windows of that length."""
        times, keys = self.times_ms[:2], [each["k"] for each in self.columns[:2]]
        pairs = 0
        for key in np.unique(keys[0]):
            left, right = (each[k == key] for each, k in zip(times, keys, strict=True))
            low = np.searchsorted(right, left - window_ms)
            high = np.searchsorted(right, left + window_ms, side="right")
            pairs += int((high - low).sum())
        return pairs


def stream_data(
    rows: int, seconds: int, keys: int, *, streams: int = 3, seed: int = 7
) -> StreamData:
    """Generate so many rows of each stream."""
    rng = np.random.default_rng(seed)
    slots = seconds * 1000 // 8
    times = tuple(
        np.sort(rng.integers(0, slots, rows)) * 8 + 1 + 2 * stream for stream in range(streams)
    )
    limits = {"k": keys, "y": keys, "g": GROUPS, "x": VALUES}
    columns = tuple(
        {name: rng.integers(0, limit, rows) for name, limit in limits.items()}
        for _ in range(streams)
    )
    return StreamData(seconds, times, columns)
