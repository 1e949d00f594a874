"""A small job on disk: a Parquet file, a CSV file and a script that joins them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 200
START = datetime(2026, 1, 1, tzinfo=UTC)

SCRIPT = """\
SET memory = '64 MB';
CREATE STREAM temp (location STRING, ts TIMESTAMP, celsius DOUBLE)
  TIME ts FROM parquet('temp.parquet');
CREATE STREAM smoke (location STRING, ts TIMESTAMP, strength DOUBLE)
  TIME ts LATENESS 10 SECONDS FROM csv('smoke.csv', header = TRUE);
CREATE QUERY alarms AS
  SELECT temp.location, COUNT(*) AS n
  FROM temp [1 MINUTE], smoke [1 MINUTE]
  WHERE temp.location = smoke.location AND temp.celsius >= 40 AND smoke.strength > 0.6
  GROUP BY temp.location HAVING COUNT(*) > 5
  EVERY (20 SECONDS);
CREATE QUERY strength AS
  SELECT COUNT(*) AS n, SUM(strength) AS total FROM smoke [30 SECONDS] INTO memory();
CREATE QUERY counts AS
  SELECT location, COUNT(*) AS n FROM temp [30 SECONDS] GROUP BY location
  INTO parquet('out', feed = 'changes');
"""


def temp_rows() -> list[tuple[str, int, float]]:
    """(location, second, celsius)"""
    return [("kitchen" if i % 2 else "lab", i, float(20 + i % 40)) for i in range(ROWS)]


def smoke_rows() -> list[tuple[str, int, float]]:
    """(location, second, strength)"""
    return [("kitchen" if i % 3 else "lab", i, (i % 10) / 10) for i in range(ROWS)]


def write_job(folder: Path, script: str = SCRIPT) -> Path:
    """Writes data and script; gives the script's path."""
    location, seconds, celsius = zip(*temp_rows(), strict=True)
    stamps = pa.array([START + timedelta(seconds=each) for each in seconds])
    table = pa.table(
        {
            "location": pa.array(location),
            "ts": stamps.cast(pa.timestamp("us", tz="UTC")),
            "celsius": pa.array(celsius),
        }
    )
    pq.write_table(table, folder / "temp.parquet")
    lines = [
        f"{where},{START + timedelta(seconds=second):%Y-%m-%d %H:%M:%S},{strength}"
        for where, second, strength in smoke_rows()
    ]
    (folder / "smoke.csv").write_text("location,ts,strength\n" + "\n".join(lines) + "\n")
    path = folder / "job.wql"
    path.write_text(script)
    return path


def expected_alarms() -> list[tuple[int, str, int]]:
    """(second, location, pairs) at every tick, counted pair by pair."""
    found = []
    for tick in range(0, ROWS, 20):
        for room in ("kitchen", "lab"):
            hot = [s for r, s, c in temp_rows() if r == room and c >= 40 and tick - 60 <= s <= tick]
            smoky = [
                s for r, s, x in smoke_rows() if r == room and x > 0.6 and tick - 60 <= s <= tick
            ]
            if len(hot) * len(smoky) > 5:
                found.append((tick, room, len(hot) * len(smoky)))
    return found
