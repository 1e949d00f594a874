"""A bike share: stations that run empty, bikes on the road, and the months behind.

Real trips can be given instead: `--data bayarea_bikeshare_2014.parquet`, a Parquet file with
trip_id, bike_id, start_ts, start_station, end_ts and end_station.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from make_data import ARRIVAL, DEPARTURE, MOVE, TRIP, streams_of, trips

import windrow

QUERIES = {
    "emptying": """
        SELECT station, SUM(bikes) AS balance, COUNT(*) AS moves
        FROM moves [2 HOURS]
        GROUP BY station HAVING SUM(bikes) <= -10
        EVERY (30 MINUTES)""",
    "riding": """
        SELECT COUNT(*) AS bikes FROM departures [3 HOURS] AS gone
        WHERE NOT EXISTS (SELECT 1 FROM arrivals [3 HOURS] WHERE arrivals.trip = gone.trip)
        EVERY (1 HOUR)""",
}
MONTH = """
    SELECT COUNT(*) AS trips, AVG(minutes) AS mean, MAX(minutes) AS longest
    FROM HISTORY(arrivals) [FROM '{begin:%Y-%m-%d}' TO '{end:%Y-%m-%d}']"""
# Hours of the last week, days for ever: a month is made of days.
LEVELS = [("1 hour", "7 days"), ("1 day", "forever")]
BATCH_ROWS = 20_000


def watch(streams: Mapping[str, pa.Table]) -> tuple[dict[str, pa.Table], list[dict[str, object]]]:
    """Every answer of the queries, and the months as the history knows them."""
    session = windrow.connect()
    for name, schema in {"departures": DEPARTURE, "arrivals": ARRIVAL, "moves": MOVE}.items():
        session.stream(name, schema, time="ts")
    session.history("arrivals", measures=["minutes"], by=["station"], levels=LEVELS)
    queries = {name: session.query(text, name=name) for name, text in QUERIES.items()}
    answers: dict[str, list[pa.Table]] = {name: [] for name in queries}
    # As a feed would bring them: some at a time, and answers are read on the way.
    for begin in range(0, max(rows.num_rows for rows in streams.values()), BATCH_ROWS):
        for name, rows in streams.items():
            session.push(name, rows.slice(begin, BATCH_ROWS))
        for name, query in queries.items():
            answers[name].append(query.answers())
    session.finish()
    found = {name: pa.concat_tables([*answers[name], queries[name].answers()]) for name in queries}
    known = []
    for begin, end in months(streams["departures"]):
        answer = session.ask(MONTH.format(begin=begin, end=end)).to_pylist()[0]
        known.append({"month": begin, **answer})
    return found, known


def months(departures: pa.Table) -> list[tuple[datetime, datetime]]:
    """The months in which trips began, from their first day to the first of the next."""
    span = pc.min_max(departures["ts"]).as_py()
    begin = datetime(span["min"].year, span["min"].month, 1, tzinfo=UTC)
    found = []
    while begin <= span["max"]:
        end = (begin + timedelta(days=32)).replace(day=1)
        found.append((begin, end))
        begin = end
    return found


def real_trips(path: Path) -> pa.Table:
    """Trips of a file; those of more than a day are bikes that were lost, and are left out."""
    names = ["trip_id", "bike_id", "start_ts", "start_station", "end_ts", "end_station"]
    rows = pq.read_table(path, columns=names).rename_columns(TRIP.names)
    columns = []
    for column, field in zip(rows.columns, TRIP, strict=True):
        if pa.types.is_timestamp(field.type):
            column = pc.assume_timezone(column, "UTC")
        columns.append(column.cast(field.type))
    rows = pa.table(columns, schema=TRIP)
    took = pc.subtract(rows["end"], rows["begin"])
    return rows.filter(pc.less(took, pa.scalar(timedelta(days=1)))).sort_by("begin")


def main() -> None:
    """Shows the stations that run empty most often, the busiest hour, and each month."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="real trips, as Parquet")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rides = real_trips(given.data) if given.data else trips(given.seed)
    found, known = watch(streams_of(rides))
    times = Counter(found["emptying"]["station"].to_pylist())
    for station, count in times.most_common(3):
        print(f"running empty: {station}, at {count} half hours")
    busiest = max(found["riding"].to_pylist(), key=lambda row: row["bikes"])
    print(f"most bikes on the road: {busiest['bikes']}, {busiest['at']:%a %d %b %H:%M}")
    for month in known:
        mean, how = f"{month['mean']:.1f} minutes", "exact" if month["exact"] else "within bounds"
        print(f"{month['month']:%b %Y}: {month['trips']:,} trips of {mean} on average ({how})")


if __name__ == "__main__":
    main()
