"""Heat and smoke in a building: alarms, and heat that no smoke explains.

Real readings can be given instead: `--data iot_temp_smoke_24h.parquet`, a Parquet file with ts,
device, temp_c and smoke. Nothing burnt there, so say what is to count: `--celsius 22 --strength
0.02`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from make_data import readings

import windrow

ALARMS = """
    SELECT temp.location, COUNT(*) AS pairs, MAX(temp.celsius) AS hottest
    FROM temp [10 MINUTES], smoke [10 MINUTES]
    WHERE temp.location = smoke.location
      AND temp.celsius >= {celsius} AND smoke.strength > {strength}
    GROUP BY temp.location HAVING COUNT(*) > 5
    EVERY (5 SECONDS)"""
UNEXPLAINED = """
    SELECT DISTINCT location FROM temp [5 MINUTES] AS hot
    WHERE celsius >= {celsius}
      AND NOT EXISTS (SELECT 1 FROM smoke [10 MINUTES]
                      WHERE smoke.location = hot.location AND smoke.strength > {strength})"""


def watch(
    streams: Mapping[str, pa.Table], celsius: float = 40.0, strength: float = 0.6
) -> dict[str, pa.Table]:
    """Every answer about alarms, and every change of the rooms whose heat is unexplained."""
    session = windrow.connect(memory="64 MB")
    session.stream(
        "temp", "location string, ts timestamp, celsius double", time="ts", lateness="10 seconds"
    )
    session.stream(
        "smoke", "location string, ts timestamp, strength double", time="ts", lateness="10 seconds"
    )
    alarms = session.query(ALARMS.format(celsius=celsius, strength=strength), name="alarms")
    unexplained = session.query(
        UNEXPLAINED.format(celsius=celsius, strength=strength), name="unexplained"
    )
    for name, rows in streams.items():
        session.push(name, rows)
    session.finish()
    return {"alarms": alarms.answers(), "unexplained": unexplained.changes()}


def episodes(changes: pa.Table) -> list[tuple[str, datetime, datetime | None]]:
    """A feed of changes as the times for which each row held; None: it still does."""
    begun: dict[str, datetime] = {}
    ended: list[tuple[str, datetime, datetime | None]] = []
    for row in changes.to_pylist():
        if row["change"] > 0:
            begun[row["location"]] = row["at"]
        else:
            ended.append((row["location"], begun.pop(row["location"]), row["at"]))
    return ended + [(location, at, None) for location, at in begun.items()]


def first_alarms(answers: pa.Table) -> dict[str, tuple[datetime, datetime, int]]:
    """By room: when it first and last alarmed, and the most pairs that it had."""
    found: dict[str, tuple[datetime, datetime, int]] = {}
    for row in answers.to_pylist():
        first, _, most = found.get(row["location"], (row["at"], row["at"], 0))
        found[row["location"]] = (first, row["at"], max(most, row["pairs"]))
    return found


def real_readings(path: Path) -> dict[str, pa.Table]:
    """Readings of a file: its devices are the rooms."""
    rows = pq.read_table(path, columns=["device", "ts", "temp_c", "smoke"])
    rows = rows.set_column(0, "location", rows["device"].cast(pa.string()))
    return {
        "temp": rows.select(["location", "ts", "temp_c"]).rename_columns({"temp_c": "celsius"}),
        "smoke": rows.select(["location", "ts", "smoke"]).rename_columns({"smoke": "strength"}),
    }


def main() -> None:
    """Shows each room that alarmed, beside the fires that were set, and unexplained heat."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="real readings, as Parquet")
    parser.add_argument("--celsius", type=float, default=40.0, help="what is hot")
    parser.add_argument("--strength", type=float, default=0.6, help="what is smoke")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    streams, fires = (real_readings(given.data), ()) if given.data else readings(given.seed)
    found = watch(streams, given.celsius, given.strength)
    print(f"fires that were set: {', '.join(sorted(fire.room for fire in fires)) or 'none'}")
    for room, (first, last, most) in sorted(first_alarms(found["alarms"]).items()):
        print(f"alarm: {room}, {first:%H:%M:%S} to {last:%H:%M:%S}, at most {most:,} pairs")
    for room, begin, end in sorted(episodes(found["unexplained"])):
        until = f"to {end:%H:%M:%S}" if end else "and still at the end"
        print(f"heat without smoke: {room}, from {begin:%H:%M:%S} {until}")


if __name__ == "__main__":
    main()
