"""Streams for the benchmark of error bounds: generated, and real where the data is at hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

__all__ = ["STREAMS", "ErrorStream", "missing"]

DATA = Path(__file__).parents[2] / "shared" / "data"
SECOND = 1_000_000
RANGES = 7  # a stream is so many ranges long; two pass before answers are looked at
ROWS_A_RANGE = 2_000


@dataclass(frozen=True)
class ErrorStream:
    """Rows in the order of time: microseconds, group, value and whether there is one."""

    name: str
    range_us: int
    times: NDArray[np.int64]
    groups: NDArray[np.int32]
    values: NDArray[np.float64]
    valid: NDArray[np.uint8]


def _stream(
    name: str,
    range_us: int,
    times: NDArray[np.int64],
    values: NDArray[np.float64],
    groups: NDArray[np.int32] | None = None,
) -> ErrorStream:
    """The first ranges of rows in order; a value that is NaN is NULL."""
    times = times - times[0]
    end = int(np.searchsorted(times, RANGES * range_us))
    groups = np.zeros(times.size, np.int32) if groups is None else groups
    valid = (~np.isnan(values)).astype(np.uint8)
    return ErrorStream(name, range_us, times[:end], groups[:end], values[:end], valid[:end])


def _spaced(gaps: NDArray[np.float64]) -> NDArray[np.int64]:
    """Times with these gaps, as many rows a range as is meant."""
    scale = 60 * SECOND / ROWS_A_RANGE / gaps.mean()
    return np.cumsum(gaps * scale).astype(np.int64)


def _even(random: np.random.Generator) -> ErrorStream:
    times = _spaced(random.exponential(1, RANGES * ROWS_A_RANGE))
    return _stream("even", 60 * SECOND, times, random.normal(100, 20, times.size))


def _on_off(random: np.random.Generator) -> ErrorStream:
    gaps = random.exponential(1, RANGES * ROWS_A_RANGE)
    begins = random.random(gaps.size) < 0.005
    gaps[begins] += random.exponential(600, int(begins.sum()))
    times = _spaced(gaps)
    return _stream("on/off", 60 * SECOND, times, random.lognormal(2, 1, times.size))


def _pareto(random: np.random.Generator) -> ErrorStream:
    times = _spaced(random.pareto(1.5, RANGES * ROWS_A_RANGE) + 0.01)
    drifting = np.cumsum(random.normal(0, 0.3, times.size)) + 50
    return _stream("pareto gaps", 60 * SECOND, times, drifting)


def _both_signs(random: np.random.Generator) -> ErrorStream:
    times = _spaced(random.exponential(1, RANGES * ROWS_A_RANGE))
    return _stream("both signs", 60 * SECOND, times, random.normal(1, 5, times.size))


def _packets(trace: str) -> ErrorStream:
    table = pq.read_table(DATA / "ita_interarrivals.parquet")
    gaps = table.filter(pc.equal(table["trace"].cast(pa.string()), trace))["gap_us"].to_numpy()
    times = np.cumsum(gaps, dtype=np.int64)
    range_us = int(times[-1] / times.size * ROWS_A_RANGE)
    return _stream(trace, range_us, times, gaps.astype(np.float64))


def _connections() -> ErrorStream:
    table = pq.read_table(DATA / "honeypot_connections.parquet").sort_by("ts")
    times = np.asarray(table["ts"].cast(pa.timestamp("us")).cast(pa.int64()))
    ports = table["dst_port"].cast(pa.float64()).to_numpy()
    return _stream("honeypot", 86_400 * SECOND, times, ports)


def _temperatures(*, by_device: bool) -> ErrorStream:
    table = pq.read_table(DATA / "iot_temp_smoke_24h.parquet").sort_by("ts")
    times = np.asarray(table["ts"].cast(pa.int64()))
    devices = table["device"].cast(pa.string()).combine_chunks().dictionary_encode().indices
    groups = np.asarray(devices, np.int32) if by_device else None
    values = table["temp_c"].cast(pa.float64()).to_numpy()
    name = "temperature by device" if by_device else "temperature"
    return _stream(name, 3_600 * SECOND, times, values, groups)


# By name: the file that it needs, and how it is made from a generator of random numbers.
STREAMS: dict[str, tuple[str | None, Callable[[np.random.Generator], ErrorStream]]] = {
    "even": (None, _even),
    "on/off": (None, _on_off),
    "pareto gaps": (None, _pareto),
    "both signs": (None, _both_signs),
    "BC-pAug89": ("ita_interarrivals.parquet", lambda _: _packets("BC-pAug89")),
    "DEC-PKT-1-UDP": ("ita_interarrivals.parquet", lambda _: _packets("DEC-PKT-1-UDP")),
    "honeypot": ("honeypot_connections.parquet", lambda _: _connections()),
    "temperature": ("iot_temp_smoke_24h.parquet", lambda _: _temperatures(by_device=False)),
    "temperature by device": (
        "iot_temp_smoke_24h.parquet", lambda _: _temperatures(by_device=True),
    ),
}  # fmt: skip


def missing(file: str | None) -> bool:
    """Whether the file that a stream needs is not here."""
    return file is not None and not (DATA / file).exists()
