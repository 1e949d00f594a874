"""Times without zone, intervals and the session's time zone, from pushed rows to answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow.errors import BindingError
from windrow.jobs.job import job_of
from windrow.plan.catalog import Catalog
from windrow.plan.relations.planner import plan_query
from windrow.plan.serialise import plan_from_json, plan_to_json
from windrow.schema import StreamSchema, columns_of
from windrow.sql import parse_query

START = datetime(2024, 2, 29, 12, tzinfo=UTC)
WALL = datetime(2024, 2, 29, 23, tzinfo=UTC).replace(tzinfo=None)
JOIN = (
    "SELECT COUNT(*) AS n FROM a [1 DAY], b [1 DAY] WHERE a.k = b.k AND {0}",
    "a.ts BETWEEN b.ts - INTERVAL '4' HOUR AND b.ts",
    "CAST(a.ts AS BIGINT) BETWEEN CAST(b.ts AS BIGINT) - 14400 AND CAST(b.ts AS BIGINT)",
)


def test_times_without_zone_and_intervals_go_through_a_query() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, n timestamp_ntz, d interval day to second", time="ts")
    later = session.query(
        "SELECT n, d, n + d AS later, MAX(d) AS most FROM s [1 DAY] GROUP BY n, d"
    )
    session.push("s", [{"ts": START, "n": WALL, "d": timedelta(hours=2)}])
    rows = pa.table(
        {
            "ts": [START, START],
            "n": pa.array([WALL, None], pa.timestamp("us")),
            "d": pa.array([timedelta(hours=2), None], pa.duration("ns")),
        }
    )
    session.push("s", rows)
    session.finish()
    found = sorted(later.result().to_pylist(), key=str)
    assert found == [
        {"n": None, "d": None, "later": None, "most": None},
        {
            "n": WALL,
            "d": timedelta(hours=2),
            "later": WALL + timedelta(hours=2),
            "most": timedelta(hours=2),
        },
    ]
    assert later.result().schema.field("d").type == pa.duration("us")


def test_a_session_means_times_in_its_zone() -> None:
    session = windrow.connect(time_zone="Europe/Berlin")
    session.stream("s", "ts timestamp", time="ts")
    shown = "HOUR(ts) AS h, DATE_TRUNC('DAY', ts) AS day, COUNT(*) AS n"
    query = session.query(f"SELECT {shown} FROM s [1 DAY] GROUP BY 1, 2")
    session.push("s", [{"ts": datetime(2024, 7, 1, 22, 30, tzinfo=UTC)}])
    session.finish()
    midnight = datetime(2024, 7, 1, 22, tzinfo=UTC)
    assert query.result().to_pylist() == [{"h": 0, "day": midnight, "n": 1}]


def test_a_zone_that_does_not_exist_is_refused() -> None:
    with pytest.raises(BindingError, match="WB740"):
        windrow.connect(time_zone="Middle/Earth")


def test_a_script_sets_its_zone_before_its_queries() -> None:
    stream = "CREATE STREAM s (ts TIMESTAMP) TIME ts FROM csv('s.csv');"
    query = "CREATE QUERY q AS SELECT HOUR(ts) AS h FROM s [1 DAY] INTO console();"
    job = job_of(f"SET time_zone = 'Asia/Kolkata'; {stream} {query}")
    assert job.settings.time_zone == job.catalog.time_zone == "Asia/Kolkata"
    with pytest.raises(BindingError, match="WB740"):
        job_of("SET time_zone = 'nowhere';")
    with pytest.raises(BindingError, match="WB746"):
        job_of(f"{stream} {query} SET time_zone = 'Asia/Kolkata';")


def test_an_interval_join_runs_as_one_of_numbers_does() -> None:
    columns = columns_of("ts timestamp, k int")
    catalog = Catalog(StreamSchema("a", columns, "ts"), StreamSchema("b", columns, "ts"))
    texts = [JOIN[0].format(condition) for condition in JOIN[1:]]
    plans = [plan_query(parse_query(text), catalog) for text in texts]
    assert plans[0].algorithm == plans[1].algorithm
    assert plans[0].kind == plans[1].kind == "aggregate"
    assert plan_from_json(plan_to_json(plans[0])) == plans[0]  # type: ignore[arg-type]


@given(
    rows=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 600)), max_size=30)
)
def test_an_interval_join_gives_what_duckdb_gives(rows: list[tuple[int, int, int]]) -> None:
    rows = sorted(rows, key=lambda row: row[2])
    session = windrow.connect()
    for name in ("a", "b"):
        session.stream(name, "ts timestamp, k int", time="ts")
    query = session.query(JOIN[0].format(JOIN[1]))
    for side, key, minute in rows:
        session.push("ab"[side], [{"ts": START + timedelta(minutes=minute), "k": key}])
    session.finish()
    with duckdb.connect() as database:
        database.execute("CREATE TABLE r (side INT, k INT, ts TIMESTAMP)")
        if rows:
            values = [(side, key, WALL + timedelta(minutes=m)) for side, key, m in rows]
            database.executemany("INSERT INTO r VALUES (?, ?, ?)", values)
        wanted = database.execute(
            "SELECT count(*) FROM r a, r b WHERE a.side = 0 AND b.side = 1 AND a.k = b.k"
            " AND a.ts BETWEEN b.ts - INTERVAL '4' HOUR AND b.ts"
        ).fetchone()
    assert query.result().to_pylist() == [{"n": (wanted or (0,))[0]}]


def test_a_frame_ranges_over_an_interval() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x int", time="ts")
    frame = "RANGE BETWEEN INTERVAL '0 00:01:30' DAY TO SECOND PRECEDING AND CURRENT ROW"
    query = session.query(f"SELECT x, SUM(x) OVER (ORDER BY ts {frame}) AS total FROM s [1 DAY]")
    session.push("s", [{"ts": START + timedelta(minutes=each), "x": each} for each in (1, 2, 3, 9)])
    session.finish()
    found = {row["x"]: row["total"] for row in query.result().to_pylist()}
    assert found == {1: 1, 2: 3, 3: 5, 9: 9}
