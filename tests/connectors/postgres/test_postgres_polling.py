"""A table polled by a column that grows: each row once, whatever ties there are, and when."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.servers.postgres_database import Database
from support.servers.postgres_server import Server
from windrow import sources
from windrow.connectors.live import LiveReader, Polled, Position, TransientError
from windrow.connectors.postgres import polling
from windrow.connectors.postgres.source import PostgresSource
from windrow.errors import BindingError, DataError, UnsupportedError
from windrow.schema import StreamSchema, columns_of

pytestmark = pytest.mark.postgres

SCHEMA = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
TABLE = "CREATE TABLE readings (id bigint, ts timestamptz DEFAULT '2026-01-01', x int)"


def readings(database: Database, **given: Any) -> PostgresSource:
    return sources.postgres(
        "readings", database.url, **{"position": "id", "every": "0 seconds", **given}
    )


def insert(database: Database, *rows: tuple[int, int]) -> None:
    with database.connection.cursor() as cursor:
        cursor.executemany("INSERT INTO readings (id, x) VALUES (%s, %s)", rows)


@contextmanager
def opened(
    source: PostgresSource, position: Position | None = None, schema: StreamSchema = SCHEMA
) -> Iterator[LiveReader]:
    reader = source.open_live(schema, position)
    try:
        yield reader
    finally:
        reader.close()


def polled(reader: LiveReader, most: int = 100) -> list[Polled]:
    found = []
    while (got := reader.poll(most, 0.0)) is not None:
        found.append(got)
    return found


def numbers(found: list[Polled]) -> list[int]:
    return [x for each in found for x in each.rows.batch.column("x").to_pylist()]


batches = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=6), max_size=5
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(batches, st.integers(1, 4), st.integers(0, 2))
def test_rows_of_one_value_count_once_whenever_they_come(
    database: Database, batches: list[list[tuple[int, int]]], most: int, overlap: int
) -> None:
    """The slow twin: rows that are no further behind the largest before them than the overlap."""
    database.connection.execute("DROP TABLE IF EXISTS readings")
    database.connection.execute(TABLE)
    source, position = readings(database, overlap=str(overlap)), None
    expected: list[int] = []
    found: list[int] = []
    largest = 0
    for number, batch in enumerate(batches):
        # Each batch begins higher up; some of its rows are equal, some a little behind.
        rows = [(number + step, 10 * number + x) for step, x in batch]
        expected += [x for at, x in rows if at >= largest - overlap or not found]
        insert(database, *rows)
        with opened(source, position) as reader:
            for each in polled(reader, most):
                found += numbers([each])
                position = each.position
        largest = max([largest, *(at for at, _ in rows)])
    assert sorted(found) == sorted(expected)


def test_a_batch_does_not_end_between_rows_of_one_value(database: Database) -> None:
    database.connection.execute(TABLE)
    insert(database, *((7, x) for x in range(10)), (8, 10))
    with opened(readings(database)) as reader:
        first, second = polled(reader, 3)
    assert sorted(numbers([first])) == [*range(10)]
    assert numbers([second]) == [10]
    with opened(readings(database), first.position) as reader:
        assert numbers(polled(reader)) == [10]


def test_values_of_many_types_and_a_select(database: Database) -> None:
    database.connection.execute(
        "CREATE TABLE wide AS SELECT timestamptz '2026-01-01 00:00:01.5+01' AS at, 1.25 AS m, "
        "'a' AS k, date '2026-01-02' AS d, ARRAY[1, 2] AS a, bytea '\\x00ff' AS b, true AS f, "
        "timestamp '2026-01-01' AS n"
    )
    kinds = (
        "at timestamp, m decimal(9, 2), k string, d date, a array<int>, b binary, f boolean, "
        "n timestamp_ntz"
    )
    schema = StreamSchema("s", columns_of(kinds), "at")
    source = sources.postgres("SELECT * FROM wide WHERE f;", database.url, "at", overlap="1 second")
    with opened(source, schema=schema) as reader:
        got = reader.poll(10, 0.0)
        assert got is not None
        assert reader.poll(10, 0.0) is None
    assert got.rows.batch.to_pylist() == [
        {
            "at": datetime(2025, 12, 31, 23, 0, 1, 500_000, tzinfo=UTC),
            "m": Decimal("1.25"),
            "k": "a",
            "d": datetime(2026, 1, 2, tzinfo=UTC).date(),
            "a": [1, 2],
            "b": b"\x00\xff",
            "f": True,
            "n": datetime(2026, 1, 1),  # noqa: DTZ001 - it has no zone
        }
    ]
    with opened(source, got.position, schema) as reader:
        assert reader.poll(10, 0.0) is None


def test_where_it_begins_and_ends(database: Database) -> None:
    database.connection.execute(TABLE)
    insert(database, (1, 1), (2, 2), (2, 3))
    with opened(readings(database, starting="latest")) as reader:
        assert polled(reader) == []
        insert(database, (2, 4), (3, 5), (1, 6))
        assert numbers(polled(reader)) == [4, 5]
    bounded = readings(database, bounded=True)
    assert not bounded.is_endless
    with opened(bounded) as reader:
        assert not reader.is_done
        assert len(numbers(polled(reader))) == 6
        assert reader.is_done


def test_rows_that_do_not_fit_are_named(database: Database) -> None:
    database.connection.execute("CREATE TABLE readings (id int, ts timestamptz, x text)")
    for id_, x in ((1, "1"), (2, "no"), (3, "3")):
        database.connection.execute("INSERT INTO readings VALUES (%s, '2026-01-01', %s)", (id_, x))
    with opened(readings(database)) as reader:
        (got,) = polled(reader)
    assert numbers([got]) == [1, 3]
    assert [(bad.line, bad.column) for bad in got.rows.bad] == [(2, "x")]
    assert "readings" in str(got.rows.bad[0].file)
    strict = StreamSchema("s", SCHEMA.columns, "ts", on_bad_row="fail")
    with (
        opened(readings(database), schema=strict) as reader,
        pytest.raises(DataError, match=r"WD870.*readings.*record 2, column 'x'"),
    ):
        polled(reader)


def test_too_many_rows_of_one_value_are_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "MOST_MARKS", 20)
    database.connection.execute(TABLE)
    insert(database, *((7, x) for x in range(30)))
    with opened(readings(database)) as reader, pytest.raises(DataError, match=r"WD877.*20 rows"):
        polled(reader)


def test_what_cannot_be_read_is_told(database: Database) -> None:
    database.connection.execute(TABLE)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"query": "nowhere"}, "WD876.*nowhere"),
        ({"position": "nothing"}, "WD876.*nothing"),
        ({"query": "SELECT x FROM readings"}, "WD876.*ts"),
        ({"query": "SELEKT 1 AS x"}, "WD876.*syntax"),
        ({"query": "INSERT INTO readings (id) VALUES (1) RETURNING *"}, "WD876"),
        ({"url": "a b c"}, "WB448"),
        ({"url": f"{database.url} password=s3cret".replace("tester", "nobody-here")}, "WD876"),
    ]
    for given_, code in wrong:
        options = {"query": "readings", "url": database.url, "position": "id", **given_}
        source = sources.postgres(**options)
        with pytest.raises((DataError, BindingError), match=code) as raised:
            source.check(SCHEMA)
        assert "s3cret" not in str(raised.value)
    assert database.connection.execute("SELECT count(*) FROM readings").fetchone() == (0,)
    away = sources.postgres("readings", "host=/nowhere dbname=x", "id")
    with pytest.raises(TransientError, match="readings"):
        away.open_live(SCHEMA, None)
    with pytest.raises(DataError, match="WD876"):
        away.check(SCHEMA)


def test_a_server_that_is_started_again(server: Server, database: Database) -> None:
    database.connection.execute(TABLE)
    insert(database, (1, 1))
    source = readings(database)
    with opened(source) as reader:
        (got,) = polled(reader)
        server.restart()
        with pytest.raises(TransientError):
            reader.poll(10, 0.0)
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("INSERT INTO readings (id, x) VALUES (2, 2)")
    with opened(source, got.position) as reader:
        assert numbers(polled(reader)) == [2]


def test_sources_that_cannot_be() -> None:
    for given_, code in (
        ({"every": "soon"}, "WB877"),
        ({"overlap": "much"}, "WB877"),
        ({"starting": "now"}, "WB877"),
        ({"position": ""}, "WB876"),
    ):
        with pytest.raises(BindingError, match=code):
            sources.postgres(**{"query": "t", "url": "u", "position": "id", **given_})
    with pytest.raises(UnsupportedError, match="WU871"):
        sources.postgres("t", "u", "id").check_on_spark(SCHEMA)
