"""Rows of the paper's random streams: even arrivals, uniform keys, 18 bytes a row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["ROW_BYTES", "SCHEMA", "STREAMS", "Arrivals", "Phase", "Setting", "phase_arrivals"]

ROW_BYTES = 18
# The paper gives the size of a row and not its columns: 8 bytes of time, 8 of key, 2 of payload.
SCHEMA = "ts timestamp, k bigint, tag smallint"
STREAMS = "ABCDEF"
START_US = 1_767_225_600_000_000  # the first of January 2026
_SECOND_US = 1_000_000


@dataclass(frozen=True)
class Phase:
    """A time of even flow: its length, and rows per second of each stream."""

    seconds: float
    rows_per_s: float


@dataclass(frozen=True)
class Setting:
    """One run: windows are filled first, then each measured phase gives one figure.

    batch_rows: so many rows of all streams are pushed at a time; 1 is the paper's model, in which
    every arrival is answered before the next one comes.
    """

    window_s: float
    keys: int
    fill: Phase
    measured: tuple[Phase, ...]
    streams: int = 2
    is_grouped: bool = False
    batch_rows: int = 1

    @property
    def query(self) -> str:
        """The paper's query in WQL."""
        names = STREAMS[: self.streams]
        window = f"[{round(self.window_s * 1000)} MILLISECONDS]"
        sources = ", ".join(f"{name} {window}" for name in names)
        joined = " AND ".join(f"A.k = {name}.k" for name in names[1:])
        if not self.is_grouped:
            return f"SELECT COUNT(*) AS n FROM {sources} WHERE {joined}"
        return f"SELECT A.k AS k, COUNT(*) AS n FROM {sources} WHERE {joined} GROUP BY A.k"


@dataclass(frozen=True)
class Arrivals:
    """Rows of all streams in time order, up to and including end_us."""

    streams: NDArray[np.int64]
    times: NDArray[np.int64]
    keys: NDArray[np.int64]
    end_us: int

    @property
    def count(self) -> int:
        """Rows of all streams."""
        return int(self.times.size)

    @cached_property
    def _table(self) -> pa.Table:
        return pa.table(
            {
                "ts": pa.array(self.times).view(pa.timestamp("us", tz="UTC")),
                "k": pa.array(self.keys),
                "tag": pa.array(np.zeros(self.count, np.int16)),
            }
        )

    def pushes(self, batch_rows: int) -> list[tuple[str, pa.Table]]:
        """The rows cut into pushes, each of one stream."""
        out = []
        for start in range(0, self.count, batch_rows):
            part = self.streams[start : start + batch_rows]
            for stream in np.unique(part):
                rows = pa.array(start + np.flatnonzero(part == stream))
                out.append((STREAMS[stream], self._table.take(rows)))
        return out


def phase_arrivals(setting: Setting, seed: int) -> list[Arrivals]:
    """The rows that fill the windows, then those of each measured phase."""
    rng = np.random.default_rng(seed)
    out = []
    begin_us = START_US
    for phase in (setting.fill, *setting.measured):
        end_us = begin_us + round(phase.seconds * _SECOND_US)
        out.append(_arrivals(setting, phase, begin_us, end_us, rng))
        begin_us = end_us
    return out


def _arrivals(
    setting: Setting, phase: Phase, begin_us: int, end_us: int, rng: np.random.Generator
) -> Arrivals:
    """Each stream's rows come at even distances; the streams take turns."""
    gap_us = _SECOND_US / phase.rows_per_s
    per_stream = max(1, round(phase.seconds * phase.rows_per_s))
    turns = (np.arange(setting.streams) + 0.5) / setting.streams
    times = begin_us + ((np.arange(per_stream)[:, None] + turns[None, :]) * gap_us).astype(np.int64)
    # Rounding the number of rows can put the last one a little behind the end of the phase.
    flat = np.minimum(times.ravel(), end_us)
    streams = np.tile(np.arange(setting.streams), per_stream)
    keys = rng.integers(0, setting.keys, flat.size)
    return Arrivals(streams, flat, keys, end_us)
