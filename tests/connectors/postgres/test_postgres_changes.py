"""Rows of PostgreSQL's log of changes: each once, in the order of commits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from support.servers.postgres_database import Database
from windrow import sources
from windrow.connectors.live import LiveReader, Position
from windrow.connectors.postgres import slot_reader
from windrow.connectors.postgres.changes import PostgresChanges
from windrow.errors import BindingError, DataError
from windrow.schema import StreamSchema, columns_of

pytestmark = pytest.mark.postgres

COLUMNS = 'ts timestamp, x int, y double, "a b" string, yes boolean'
SCHEMA = StreamSchema("s", columns_of(COLUMNS.replace('"a b"', "k")), "ts")
TABLE = """CREATE TABLE readings (id bigserial, ts timestamptz DEFAULT '2026-01-01 12:00+02',
    x int, y float8, k text, yes boolean, many int[] DEFAULT '{1,2}')"""


@pytest.fixture
def table(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[PostgresChanges]:
    monkeypatch.setattr(slot_reader, "LOOK_EVERY_S", 0.0)
    database.run(TABLE)
    slot = f"slot_{database.url.partition('dbname=db_')[2][:8]}"
    yield sources.postgres_changes("readings", database.url, slot)
    database.run(
        f"SELECT pg_drop_replication_slot('{slot}') FROM pg_replication_slots "
        f"WHERE slot_name = '{slot}'"
    )


def taken(reader: LiveReader, most: int = 100) -> tuple[list[Any], Position | None]:
    found, position = [], None
    while (polled := reader.poll(most, 0.0)) is not None:
        found += polled.rows.batch["x"].to_pylist()
        position = polled.position
    return found, position


def test_values_and_orders_are_those_of_the_table(
    database: Database, table: PostgresChanges
) -> None:
    reader = table.open_live(SCHEMA, None)
    with psycopg.connect(database.url) as late:
        late.execute("INSERT INTO readings (x, k) VALUES (1, 'it''s a [b]: ')")
        database.run(
            "INSERT INTO readings (x, y, yes) VALUES (2, 'NaN', true), (3, -1e-300, false)"
        )
        database.run("CREATE TABLE others (x int)")
        database.run("INSERT INTO others VALUES (9)")
    database.run("UPDATE readings SET x = 7 WHERE x = 2; DELETE FROM readings WHERE x = 3")
    with psycopg.connect(database.url) as undone:
        undone.execute("INSERT INTO readings (x) VALUES (8)")
        undone.rollback()
    rows, polled = [], reader.poll(1, 0.0)
    while polled is not None:
        rows += polled.rows.batch.to_pylist()
        polled = reader.poll(1, 0.0)
    reader.close()
    assert [row["x"] for row in rows] == [2, 3, 1]
    assert (str(rows[0]["y"]), rows[1]["y"], rows[2]["y"]) == ("nan", -1e-300, None)
    assert [row["k"] for row in rows] == [None, None, "it's a [b]: "]
    assert [row["yes"] for row in rows] == [True, False, None]
    assert {row["ts"].isoformat() for row in rows} == {"2026-01-01T10:00:00+00:00"}


def test_each_row_is_read_once_whatever_was_confirmed(
    database: Database, table: PostgresChanges
) -> None:
    reader, found, position = table.open_live(SCHEMA, None), [], None
    for number in range(12):
        database.run(f"INSERT INTO readings (x) VALUES ({3 * number}), ({3 * number + 1})")
        database.run(f"INSERT INTO readings (x) VALUES ({3 * number + 2})")
        some, position = taken(reader, most=2)
        found += some
        if number % 3 == 1 and position is not None:
            reader.confirmed(position)
        if number % 2:
            reader.close()
            reader = table.open_live(SCHEMA, position)
    reader.close()
    assert found == list(range(36))


def test_a_slot_that_was_moved_by_others_is_refused(
    database: Database, table: PostgresChanges
) -> None:
    reader = table.open_live(SCHEMA, None)
    database.run("INSERT INTO readings (x) VALUES (1)")
    _, position = taken(reader)
    assert position is not None
    reader.confirmed(position)
    reader.close()
    table.open_live(SCHEMA, position).close()
    database.run("INSERT INTO readings (x) VALUES (2)")
    database.run(f"SELECT pg_logical_slot_get_changes('{table.slot}', NULL, NULL)")
    with pytest.raises(DataError, match="WD881"):
        table.open_live(SCHEMA, position)


def test_texts_that_look_like_times_stay_as_they_are(
    database: Database, table: PostgresChanges
) -> None:
    reader = table.open_live(SCHEMA, None)
    database.run("INSERT INTO readings (k) VALUES ('2026-01-01 is -12')")
    polled = reader.poll(10, 0.0)
    reader.close()
    assert polled is not None
    (row,) = polled.rows.batch.to_pylist()
    assert (row["k"], row["ts"].hour) == ("2026-01-01 is -12", 10)


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE other (ts timestamptz, x int) PARTITION BY RANGE (x)",
        "CREATE UNLOGGED TABLE other (ts timestamptz, x int)",
        "CREATE VIEW other AS SELECT ts, x FROM readings",
    ],
)
def test_tables_that_the_log_never_names_are_refused(
    database: Database, table: PostgresChanges, made: str
) -> None:
    database.run(made)
    schema = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
    with pytest.raises(DataError, match="not in PostgreSQL's log") as refused:
        sources.postgres_changes("other", database.url, table.slot).check(schema)
    assert refused.value.code == "WD876"


def test_what_is_wrong_is_said(database: Database, table: PostgresChanges) -> None:
    with pytest.raises(BindingError, match="WB877"):
        sources.postgres_changes("t", database.url, "a slot")
    with pytest.raises(DataError, match="WD876"):
        sources.postgres_changes("nothing", database.url, table.slot).check(SCHEMA)
    other = StreamSchema("s", columns_of("ts timestamp, z int"), "ts")
    with pytest.raises(DataError, match="'z'"):
        table.check(other)
    with pytest.raises(DataError, match="WD881"):
        table.open_live(SCHEMA, {"commit": 1})
