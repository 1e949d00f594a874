"""The bikes: every answer, worked out by DuckDB from all trips."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from support.gallery import Rows, job_answers, module_of, program_of, rows_of, ticks, worked_out

NAME = "bike-share"
Streams = dict[str, pa.Table]


@pytest.fixture(scope="module")
def streams() -> Streams:
    made = module_of(NAME, "make_data")
    return made.streams_of(made.trips(1))


@pytest.fixture(scope="module")
def found(streams: Streams) -> tuple[dict[str, pa.Table], list[dict[str, object]]]:
    return program_of(NAME).watch(streams)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    folder = tmp_path_factory.mktemp(NAME)
    return {**job_answers(NAME, folder), "folder": [{"path": folder}]}


def emptying(streams: Streams) -> Rows:
    return worked_out(
        """SELECT t, station, sum(bikes)::BIGINT AS balance, count(*) FROM ticks, moves
           WHERE ts BETWEEN t - INTERVAL 2 HOURS AND t GROUP BY ALL HAVING balance <= -10""",
        ticks=ticks([streams["moves"]], 1_800),
        moves=streams["moves"],
    )


def riding(streams: Streams) -> Rows:
    sides = {name: streams[name] for name in ("departures", "arrivals")}
    return worked_out(
        """SELECT t, count(d.trip) FROM ticks LEFT JOIN departures AS d
             ON d.ts BETWEEN t - INTERVAL 3 HOURS AND t
             AND NOT EXISTS (SELECT 1 FROM arrivals AS a WHERE a.trip = d.trip
                             AND a.ts BETWEEN t - INTERVAL 3 HOURS AND t)
           GROUP BY ALL""",
        ticks=ticks(sides.values(), 3_600),
        **sides,
    )


def test_stations_that_run_empty(
    streams: Streams,
    found: tuple[dict[str, pa.Table], list[dict[str, object]]],
    job: dict[str, list[dict[str, object]]],
) -> None:
    names, expected = ("at", "station", "balance", "moves"), emptying(streams)
    assert len(expected) > 100
    assert rows_of(found[0]["emptying"], *names) == expected
    assert rows_of(job["emptying"], *names) == expected


def test_bikes_on_the_road(
    streams: Streams,
    found: tuple[dict[str, pa.Table], list[dict[str, object]]],
    job: dict[str, list[dict[str, object]]],
) -> None:
    expected = riding(streams)
    assert rows_of(found[0]["riding"], "at", "bikes") == expected
    written = f"{job['folder'][0]['path']}/example-data/{NAME}/riding/*.parquet"
    assert worked_out(f"""SELECT "at", bikes FROM '{written}'""") == expected


def test_the_ways_of_the_last_week(
    streams: Streams, job: dict[str, list[dict[str, object]]]
) -> None:
    sides = {name: streams[name] for name in ("departures", "arrivals")}
    expected = worked_out(
        """SELECT d.station, a.station, count(*) AS trips, avg(minutes)
           FROM departures AS d, arrivals AS a, (SELECT max(ts) AS t FROM arrivals)
           WHERE d.trip = a.trip AND d.ts >= t - INTERVAL 7 DAYS AND a.ts >= t - INTERVAL 7 DAYS
           GROUP BY ALL HAVING trips >= 15""",
        **sides,
    )
    rows = rows_of(job["routes"], "origin", "destination", "trips", "minutes")
    assert [row[:3] for row in rows] == [row[:3] for row in expected] != []
    assert all(math.isclose(row[3], exact[3]) for row, exact in zip(rows, expected, strict=True))


def test_the_months(
    streams: Streams, found: tuple[dict[str, pa.Table], list[dict[str, object]]]
) -> None:
    expected = worked_out(
        """SELECT date_trunc('month', ts), count(*), avg(minutes), max(minutes) FROM arrivals
           GROUP BY ALL""",
        arrivals=streams["arrivals"],
    )
    months = rows_of(found[1], "month", "trips", "mean", "longest")
    assert all(month["exact"] for month in found[1])
    assert [(row[0], row[1], row[3]) for row in months] == [
        (row[0], row[1], row[3]) for row in expected
    ]
    assert all(math.isclose(row[2], exact[2]) for row, exact in zip(months, expected, strict=True))
