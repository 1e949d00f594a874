"""A smart building, generated: heat and smoke in every room, and the fires behind them.

The same seed gives the same building. Fires raise both heat and smoke; decoys raise one of the two,
or both for too short a moment, and must not alarm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import instant_of

__all__ = ["ALARM_QUERY", "LATENESS", "SCHEMAS", "Building", "Fire", "Slice", "building"]

ALARM_QUERY = """\
SELECT temp.location, COUNT(*) AS n
FROM temp [10 MINUTES], smoke [10 MINUTES]
WHERE temp.location = smoke.location AND temp.celsius >= 40 AND smoke.strength > 0.6
GROUP BY temp.location HAVING COUNT(*) > 5
EVERY (5 SECONDS)"""

SCHEMAS = {
    "temp": pa.schema(
        [
            ("location", pa.string()),
            ("ts", pa.timestamp("us", tz="UTC")),
            ("celsius", pa.float64()),
        ]
    ),
    "smoke": pa.schema(
        [
            ("location", pa.string()),
            ("ts", pa.timestamp("us", tz="UTC")),
            ("strength", pa.float64()),
        ]
    ),
}
LATENESS = "10 seconds"

SECOND_US = 1_000_000
MINUTE_US = 60 * SECOND_US
START_US = instant_of("2026-01-01 09:00:00")
LENGTH_US = 30 * MINUTE_US
READING_US = 5 * SECOND_US
SLICE_US = 30 * SECOND_US
DISORDER_US = 5 * SECOND_US  # readings are delivered up to so much after they were taken

BURNS_US = 2 * MINUTE_US
IGNITIONS_MINUTE = (2, 6, 10, 14)  # the last must be out and out of the window before the end
ROOMS = (
    *("lobby", "kitchen", "canteen", "workshop", "server room", "archive", "library", "studio"),
    *(f"office {number}" for number in range(101, 109)),
    *(f"lab {number}" for number in range(201, 209)),
)
DECOY_ROOMS = ("kitchen", "workshop", "server room")

Instants = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Fire:
    """A room that burnt, from when to when."""

    room: str
    ignited_us: int
    out_us: int


@dataclass(frozen=True)
class Slice:
    """What is delivered in half a minute: rows per stream, slightly out of order."""

    until_us: int
    rows: dict[str, pa.Table]


@dataclass(frozen=True)
class Building:
    """Half an hour of readings, and the truth about them."""

    rooms: tuple[str, ...]
    fires: tuple[Fire, ...]
    slices: tuple[Slice, ...]


def building(seed: int) -> Building:
    """The building of that seed."""
    random = np.random.default_rng(seed)
    fires = _fires(random)
    temp, smoke = [], []
    for room in ROOMS:
        times = _times(random)
        temp.append((room, times, _celsius(random, room, times, fires)))
        times = _times(random)
        smoke.append((room, times, _strength(random, room, times, fires)))
    delivered = {"temp": _delivered(random, "temp", temp)}
    delivered["smoke"] = _delivered(random, "smoke", smoke)
    return Building(ROOMS, fires, _slices(delivered))


def _fires(random: np.random.Generator) -> tuple[Fire, ...]:
    possible = [room for room in ROOMS if room not in DECOY_ROOMS]
    rooms = random.choice(possible, size=len(IGNITIONS_MINUTE), replace=False)
    fires = []
    for room, minute in zip(rooms, IGNITIONS_MINUTE, strict=True):
        ignited = START_US + minute * MINUTE_US + int(random.integers(0, 60)) * SECOND_US
        fires.append(Fire(str(room), ignited, ignited + BURNS_US))
    return tuple(fires)


def _times(random: np.random.Generator) -> Instants:
    """A reading every five seconds; each sensor starts at a moment of its own."""
    first = START_US + int(random.integers(0, READING_US))
    return np.arange(first, START_US + LENGTH_US, READING_US, dtype=np.int64)


def _celsius(
    random: np.random.Generator, room: str, times: Instants, fires: tuple[Fire, ...]
) -> Values:
    usual = random.uniform(19.0, 23.0)
    values = usual + np.clip(random.normal(0.0, 0.4, times.size), -1.5, 1.5)
    values += 300.0 * _heat(room, times, fires)
    if room == "kitchen":  # somebody cooks: hot, and no smoke
        values[_between(times, 4, 16)] = random.uniform(42.0, 60.0)
    if room == "server room":  # two readings gone wrong
        values[times.searchsorted(START_US + 8 * MINUTE_US) :][:2] = 85.0
    return np.round(values, 1)


def _strength(
    random: np.random.Generator, room: str, times: Instants, fires: tuple[Fire, ...]
) -> Values:
    usual = np.abs(np.clip(random.normal(0.05, 0.03, times.size), -0.2, 0.2))
    values: Values = np.clip(usual + 3.0 * _heat(room, times, fires), 0.0, 1.0)
    if room == "workshop":  # somebody solders: smoke, and no heat
        values[_between(times, 5, 17)] = random.uniform(0.7, 0.9)
    if room == "server room":  # two and two make four, which is not yet an alarm
        values[times.searchsorted(START_US + 8 * MINUTE_US) :][:2] = 0.95
    return np.round(values, 3)


def _heat(room: str, times: Instants, fires: tuple[Fire, ...]) -> Values:
    """0 without fire, growing to 1 while it burns, and soon gone when it is out."""
    heat = np.zeros(times.size, dtype=np.float64)
    for fire in fires:
        if fire.room == room:
            growing = (times - fire.ignited_us) / BURNS_US
            fading = 1.0 - (times - fire.out_us) / (30 * SECOND_US)
            heat = np.maximum(heat, np.clip(np.minimum(growing, fading), 0.0, 1.0))
    return heat


def _between(times: Instants, first_minute: int, last_minute: int) -> NDArray[np.bool_]:
    since = times - START_US
    within: NDArray[np.bool_] = (since >= first_minute * MINUTE_US) & (
        since < last_minute * MINUTE_US
    )
    return within


def _delivered(
    random: np.random.Generator, stream: str, sensors: list[tuple[str, Instants, Values]]
) -> tuple[Instants, pa.Table]:
    """All readings of a stream in the order of their delivery."""
    rooms = np.repeat([room for room, _, _ in sensors], [times.size for _, times, _ in sensors])
    times = np.concatenate([times for _, times, _ in sensors])
    values = np.concatenate([values for _, _, values in sensors])
    arrivals = times + random.integers(0, DISORDER_US, times.size)
    order = np.argsort(arrivals, kind="stable")
    schema = SCHEMAS[stream]
    stamps = pa.array(times[order]).cast(schema.field("ts").type)
    table = pa.table([pa.array(rooms[order]), stamps, pa.array(values[order])], schema=schema)
    return arrivals[order], table


def _slices(delivered: dict[str, tuple[Instants, pa.Table]]) -> tuple[Slice, ...]:
    ends = range(START_US + SLICE_US, START_US + LENGTH_US + DISORDER_US + SLICE_US, SLICE_US)
    slices = []
    starts = dict.fromkeys(delivered, 0)
    for end in ends:
        rows = {}
        for stream, (arrivals, table) in delivered.items():
            stop = int(arrivals.searchsorted(end))
            rows[stream] = table.slice(starts[stream], stop - starts[stream])
            starts[stream] = stop
        slices.append(Slice(end, rows))
    return tuple(slices)
