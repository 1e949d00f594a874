"""When rows come: evenly at random, in the bursts of real traces, or in generated ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from windrow.errors import DataError

__all__ = [
    "DAY_US", "HOUR_US", "MINUTE_US", "SECOND_US", "Source", "connection_times", "generated_bursts",
    "packet_times", "uniform",
]  # fmt: skip

Longs = NDArray[np.int64]

SECOND_US = 1_000_000
MINUTE_US, HOUR_US, DAY_US = 60 * SECOND_US, 3600 * SECOND_US, 86_400 * SECOND_US
UNIFORM_ROWS_PER_S = 10
BURSTS_A_DAY, BURST_US, SHARE_IN_BURSTS = 60, 20 * SECOND_US, 0.98


@dataclass(frozen=True)
class Source:
    """Times of rows in order, and the granularities of the levels for them, fine to coarse."""

    name: str
    times: Longs
    granularities_us: tuple[int, ...]

    def first(self, rows: int) -> Source:
        """The same source, as it was after so many rows."""
        return Source(self.name, self.times[:rows], self.granularities_us)

    def busiest_day(self) -> Longs:
        """The rows of the day with the most of them."""
        days, places = np.unique(self.times // DAY_US, return_inverse=True)
        busiest: Longs = self.times[places == np.bincount(places, minlength=days.size).argmax()]
        return busiest


def uniform(rows: int, seed: int) -> Source:
    """Rows that come at any time with equal chance, ten a second."""
    span_us = rows * SECOND_US // UNIFORM_ROWS_PER_S
    times = np.sort(np.random.default_rng(seed).integers(0, span_us, rows))
    return Source("uniform", times, (SECOND_US, MINUTE_US, HOUR_US))


def generated_bursts(rows: int, seed: int) -> Source:
    """A day with bursts of 20 s, which hold nearly all rows."""
    random = np.random.default_rng(seed)
    starts = random.integers(0, DAY_US - BURST_US, BURSTS_A_DAY)
    inside = round(rows * SHARE_IN_BURSTS)
    times = starts[random.integers(0, BURSTS_A_DAY, inside)] + random.integers(0, BURST_US, inside)
    times = np.sort(np.concatenate([times, random.integers(0, DAY_US, rows - inside)]))
    return Source("generated bursts", times, (SECOND_US, MINUTE_US, HOUR_US))


def packet_times(path: Path) -> Source:
    """The largest trace of a Parquet file with columns trace and gap_us: sums of gaps are times."""
    table = _read(path, ("trace", "gap_us"), "arrivals")
    traces = table["trace"].cast(pa.string())
    counts = pc.value_counts(traces).to_pylist()
    name = max(counts, key=lambda each: each["counts"])["values"]
    gaps = table["gap_us"].filter(pc.equal(traces, name)).cast(pa.int64()).to_numpy()
    levels = (SECOND_US // 100, SECOND_US // 10, SECOND_US, MINUTE_US)
    return Source(f"packets, {name}", np.cumsum(gaps), levels)


def connection_times(path: Path) -> Source:
    """The times of a Parquet file with a column ts."""
    column = _read(path, ("ts",), "connections")["ts"].cast(pa.timestamp("us")).cast(pa.int64())
    levels = (10 * SECOND_US, MINUTE_US, HOUR_US, DAY_US)
    return Source(path.stem.replace("_", " "), np.sort(column.to_numpy()), levels)


def _read(path: Path, columns: Sequence[str], what: str) -> pa.Table:
    try:
        with pq.ParquetFile(path) as opened:
            lacking = [name for name in columns if name not in opened.schema_arrow.names]
            table = None if lacking else opened.read(list(columns))
    except (pa.ArrowException, OSError) as problem:
        message = f"{path.name} cannot be read as Parquet: {problem}"
        raise DataError("WD502", message, hint="give a Parquet file") from None
    if table is None:
        raise DataError(
            "WD505",
            f"{path.name} lacks column {lacking[0]!r}",
            hint=f"{what} have the columns {' and '.join(columns)}",
        )
    return table
