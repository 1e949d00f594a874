"""A quarter of a year of trips between the fifteen stations of a bike share.

The same seed gives the same trips. On working days people ride from the rim to the centre in the
morning and back in the evening; on Sundays hardly anybody rides; it gets busier towards spring.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START = datetime(2026, 1, 1, tzinfo=UTC)
START_US = int(START.timestamp()) * 1_000_000
SECOND_US = 1_000_000
DAY_US = 86_400 * SECOND_US
DAYS = 90
CENTRE = ("Cathedral", "Exchange", "Main Station", "Market Hall", "Old Bridge")
RIM = tuple(
    f"{side} {place}"
    for side in ("East", "North", "South", "West")
    for place in ("Gate", "Park", "Quay")
)[:10]
BIKES = 120

STAMP = pa.timestamp("us", tz="UTC")
TRIP = pa.schema(
    [
        ("trip", pa.int64()),
        ("bike", pa.int32()),
        ("begin", STAMP),
        ("origin", pa.string()),
        ("end", STAMP),
        ("destination", pa.string()),
    ]
)
DEPARTURE = pa.schema([("ts", STAMP), ("station", pa.string()), ("trip", pa.int64())])
ARRIVAL = DEPARTURE.append(pa.field("minutes", pa.float64()))
MOVE = pa.schema([("ts", STAMP), ("station", pa.string()), ("bikes", pa.int32())])


def trips(seed: int) -> pa.Table:
    """All trips of that seed in the order in which they began."""
    random = np.random.default_rng(seed)
    days = [_day(random, day) for day in range(DAYS)]
    begin, origin, destination = (np.concatenate(each) for each in zip(*days, strict=True))
    order = np.argsort(begin, kind="stable")
    begin, origin, destination = begin[order], origin[order], destination[order]
    takes_s = np.clip(random.lognormal(6.4, 0.5, begin.size), 120, 7_200).astype(np.int64)
    end = START_US + begin + takes_s * SECOND_US
    bikes = random.integers(1, BIKES + 1, begin.size)
    numbers = np.arange(1, begin.size + 1)
    columns = [numbers, bikes, _stamps(START_US + begin), origin, _stamps(end), destination]
    return pa.table(columns, schema=TRIP)


def streams_of(rides: pa.Table) -> dict[str, pa.Table]:
    """Departures, arrivals, and both as moves (one bike less, one more), in order of time."""
    begin, end = (rides[name].cast(pa.int64()).to_numpy() for name in ("begin", "end"))
    minutes = (end - begin) / (60 * SECOND_US)
    departures = [rides["begin"], rides["origin"], rides["trip"]]
    arrivals = [rides["end"], rides["destination"], rides["trip"], pa.array(minutes)]
    one = np.ones(rides.num_rows, dtype=np.int32)
    moves = [
        pa.table([rides["begin"], rides["origin"], pa.array(-one)], schema=MOVE),
        pa.table([rides["end"], rides["destination"], pa.array(one)], schema=MOVE),
    ]
    return {
        "departures": pa.table(departures, schema=DEPARTURE).sort_by("ts"),
        "arrivals": pa.table(arrivals, schema=ARRIVAL).sort_by("ts"),
        "moves": pa.concat_tables(moves).sort_by("ts"),
    }


def _day(random: np.random.Generator, day: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The trips of a day: when they begin, from where, to where."""
    weekday = (day + START.weekday()) % 7
    count = int((60 + day) * (0.3 if weekday == 6 else 0.6 if weekday == 5 else 1.0))
    rim, centre = random.choice(RIM, count), random.choice(CENTRE, count)
    if weekday >= 5:
        hours = random.normal(14, 3, count)
        inward = random.random(count) < 0.5
    else:
        inward = random.random(count) < 0.5
        hours = np.where(inward, random.normal(8, 0.7, count), random.normal(17.5, 1.2, count))
    begin = day * DAY_US + (np.clip(hours, 0, 23.9) * 3_600 * SECOND_US).astype(np.int64)
    return begin, np.where(inward, rim, centre), np.where(inward, centre, rim)


def _stamps(times_us: np.ndarray) -> pa.Array:
    return pa.array(times_us).cast(STAMP)


def main() -> None:
    """Writes departures.parquet, arrivals.parquet and moves.parquet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the files go")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, table in streams_of(trips(given.seed)).items():
        pq.write_table(table, given.folder / f"{name}.parquet")
        print(f"{given.folder / name}.parquet: {table.num_rows:,} rows")


if __name__ == "__main__":
    main()
