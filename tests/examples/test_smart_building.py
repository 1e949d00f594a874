"""The building: every answer, worked out by DuckDB from all readings."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from support.gallery import Rows, job_answers, module_of, program_of, rows_of, ticks, worked_out

NAME = "smart-building"
Streams = dict[str, pa.Table]


@pytest.fixture(scope="module")
def streams() -> Streams:
    return module_of(NAME, "make_data").readings(1)[0]


@pytest.fixture(scope="module")
def found(streams: Streams) -> dict[str, pa.Table]:
    return program_of(NAME).watch(streams)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    folder = tmp_path_factory.mktemp(NAME)
    return {**job_answers(NAME, folder), "folder": [{"path": folder}]}


def alarms(streams: Streams, every_s: int) -> Rows:
    return worked_out(
        """SELECT t, temp.location, count(*) AS pairs, max(celsius) FROM ticks, temp, smoke
           WHERE temp.location = smoke.location AND celsius >= 40 AND strength > 0.6
             AND temp.ts BETWEEN t - INTERVAL 10 MINUTES AND t
             AND smoke.ts BETWEEN t - INTERVAL 10 MINUTES AND t
           GROUP BY ALL HAVING pairs > 5""",
        ticks=ticks(streams.values(), every_s),
        **streams,
    )


def unexplained(streams: Streams, instants: pa.Table) -> Rows:
    return worked_out(
        """SELECT DISTINCT t, location FROM instants, temp
           WHERE celsius >= 40 AND temp.ts BETWEEN t - INTERVAL 5 MINUTES AND t
             AND NOT EXISTS (SELECT 1 FROM smoke WHERE smoke.location = temp.location
                             AND strength > 0.6 AND smoke.ts BETWEEN t - INTERVAL 10 MINUTES AND t)
        """,
        instants=instants,
        **streams,
    )


def test_alarms(
    streams: Streams, found: dict[str, pa.Table], job: dict[str, list[dict[str, object]]]
) -> None:
    names = ("at", "location", "pairs", "hottest")
    assert rows_of(found["alarms"], *names) == alarms(streams, 5)
    assert rows_of(job["alarms"], *names) == alarms(streams, 120)


def test_the_rooms_that_alarm_are_those_that_burnt(found: dict[str, pa.Table]) -> None:
    fires = module_of(NAME, "make_data").readings(1)[1]
    assert set(program_of(NAME).first_alarms(found["alarms"])) == {fire.room for fire in fires}


def test_unexplained_heat_at_every_change(
    streams: Streams, found: dict[str, pa.Table], job: dict[str, list[dict[str, object]]]
) -> None:
    instants = pa.table({"t": found["unexplained"]["at"].unique()})
    expected = unexplained(streams, instants)
    added_up = """SELECT t, location FROM instants, changes WHERE "at" <= t
                  GROUP BY ALL HAVING sum(change) > 0"""
    assert len(expected) > 5
    assert worked_out(added_up, instants=instants, changes=found["unexplained"]) == expected
    written = f"{job['folder'][0]['path']}/example-data/{NAME}/unexplained/*.parquet"
    in_files = added_up.replace("changes", f"'{written}'")
    assert worked_out(in_files, instants=instants) == expected


def test_warm_rooms_at_the_end(streams: Streams, job: dict[str, list[dict[str, object]]]) -> None:
    expected = worked_out(
        """SELECT location, avg(celsius) AS mean FROM (
             SELECT *, row_number() OVER (PARTITION BY location ORDER BY ts DESC) AS nth FROM temp)
           WHERE nth <= 10 GROUP BY ALL HAVING mean > 22""",
        temp=streams["temp"],
    )
    rows = rows_of(job["warm"], "location", "mean")
    assert [room for room, _ in rows] == [room for room, _ in expected]
    assert all(
        math.isclose(mean, exact) for (_, mean), (_, exact) in zip(rows, expected, strict=True)
    )
