"""Rows arrive in PostgreSQL exactly as they are, and the table equals the result at every batch."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from support.servers.postgres_database import Database, Driven, same

pytestmark = pytest.mark.postgres

START = datetime(2026, 1, 1, tzinfo=UTC)
ODD_TEXT = "tab\t, \"quote\" 'single' \\. \\N \n\\.\nnew line, é 漢 😀 {} %s"

GROUPED = "SELECT k, COUNT(*) AS n, SUM(x) AS total FROM s [10 SECONDS] GROUP BY k"
WHOLE = "SELECT COUNT(*) AS n, MAX(x) AS top FROM s [10 SECONDS]"
DISTINCT = "SELECT DISTINCT k, x FROM s [10 SECONDS]"
BY_NUMBER = "SELECT x, COUNT(*) AS n FROM s [10 SECONDS] GROUP BY x"


@pytest.mark.parametrize("text", [GROUPED, WHOLE, DISTINCT, BY_NUMBER])
def test_the_table_equals_the_result_after_every_batch(
    database: Database, tmp_path: Path, text: str
) -> None:
    driven = Driven(text)
    writer = driven.writer(database, tmp_path)
    choice = random.Random(7)
    seconds = changed = 0
    for batch_id in range(40):
        rows = []
        for _ in range(choice.randrange(6)):
            seconds += choice.randrange(4)
            rows.append(
                {
                    "ts": START + timedelta(seconds=seconds),
                    "k": choice.choice(["a", "b", "", None, ODD_TEXT]),
                    "x": choice.choice([1.5, -2.0, None, float("nan"), float("inf"), 1e300]),
                }
            )
        tables = driven.batch(rows)
        changed += bool(tables["changes"].num_rows)
        for _ in range(choice.choice([1, 1, 2])):  # Spark may give a batch again
            writer.write(tables, batch_id)
        found = database.rows("SELECT * FROM t")
        # Without GROUP BY there is a row before anything has changed: of no rows at all.
        assert same(found, driven.result() if changed or text != WHOLE else [])
    assert changed > 20


LAST = datetime(2199, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
EVERY_TYPE = (
    "ts timestamp, b boolean, i8 tinyint, i16 smallint, i32 int, i64 bigint, f32 float, "
    "f64 double, money decimal(18, 4), s string, d date"
)
VALUES = [
    {
        "ts": datetime(1, 1, 1, 0, 0, 0, 1, tzinfo=UTC),
        "b": True,
        "i8": -128,
        "i16": -(2**15),
        "i32": -(2**31),
        "i64": -(2**63),
        "f32": 0.10000000149011612,
        "f64": 5e-324,
        "money": Decimal("-99999999999999.9999"),
        "s": ODD_TEXT,
        "d": date(1, 1, 1),
    },
    {
        "ts": LAST,
        "b": False,
        "i8": 127,
        "i16": 2**15 - 1,
        "i32": 2**31 - 1,
        "i64": 2**63 - 1,
        "f32": float("-inf"),
        "f64": -0.0,
        "money": Decimal("0.0001"),
        "s": "",
        "d": date(9999, 12, 31),
    },
    {"ts": START, "f32": float("nan"), "f64": float("nan")},
]


@pytest.mark.parametrize("feed", ["upserts", "changes"])
def test_every_type_arrives_exactly(database: Database, tmp_path: Path, feed: str) -> None:
    names = ", ".join(VALUES[0])
    driven = Driven(f"SELECT DISTINCT {names} FROM s [UNBOUNDED]", EVERY_TYPE)
    writer = driven.writer(database, tmp_path, feed=feed)
    writer.write(driven.batch(sorted(VALUES, key=lambda row: row["ts"]), through=LAST), 0)
    # The client reads a real by its shortest text; as a double it shows all its bits.
    found = database.rows(f"SELECT {names} FROM t".replace("f32", "f32::float8"))
    assert same(found, driven.result())
    assert len(found) == len(VALUES)


NESTED = (
    "ts timestamp, bin binary, big decimal(38, 10), day interval day to second, "
    "months interval year to month, local timestamp_ntz, a array<int>, b array<decimal(20, 2)>, "
    "m map<string, int>, st struct<x: decimal(38, 2), y: struct<z: string, w: double>>, "
    "ar array<struct<p: timestamp>>"
)


def test_nested_values_arrive_as_arrays_and_json(database: Database, tmp_path: Path) -> None:
    driven = Driven("SELECT * FROM s [9 SECONDS]", NESTED)
    writer = driven.writer(database, tmp_path, feed="changes")
    row = {
        "ts": START,
        "bin": b"\x00\xff",
        "big": Decimal("1234567890123456789012345678.5"),
        "day": timedelta(days=1, microseconds=1),
        "months": 14,
        "local": datetime(2026, 1, 1, 12),  # noqa: DTZ001 - it has no zone
        "a": [1, None],
        "b": [Decimal("1.50")],
        "m": [("k", 1)],
        "st": {"x": Decimal("12345678901234567890.12"), "y": {"z": "é", "w": float("nan")}},
        "ar": [{"p": START}],
    }
    writer.write(driven.batch([row, {"ts": START}], through=START), 0)
    found, empty = database.rows("SELECT * FROM t ORDER BY bin")
    assert found[3:10] == tuple(list(row.values())[1:8])
    (json,) = database.rows("SELECT m::text, st::text, ar::text FROM t WHERE m IS NOT NULL")
    assert json == (
        '{"k": 1}',
        '{"x": 12345678901234567890.12, "y": {"w": "NaN", "z": "é"}}',
        '[{"p": "2026-01-01T00:00:00.000000Z"}]',
    )
    assert set(empty[3:]) == {None}


def test_a_sum_of_38_digits_arrives_exactly(database: Database, tmp_path: Path) -> None:
    driven = Driven("SELECT SUM(m) AS total FROM s [1 HOUR]", "ts timestamp, m decimal(18, 9)")
    writer = driven.writer(database, tmp_path)
    rows = [{"ts": START, "m": Decimal("999999999.999999999")}] * 1_001
    writer.write(driven.batch(rows, through=START), 0)
    assert database.rows("SELECT total FROM t") == [(Decimal("999999999.999999999") * 1_001,)]


@pytest.mark.parametrize("feed", ["changes", "answers"])
def test_changes_and_answers_are_added(database: Database, tmp_path: Path, feed: str) -> None:
    driven = Driven(GROUPED)
    writer = driven.writer(database, tmp_path, table="public.History of Q", feed=feed)
    added = []
    for batch_id in range(5):
        rows = [{"ts": START + timedelta(seconds=4 * batch_id), "k": "a", "x": 1.0}]
        tables = driven.batch(rows)
        added += [tuple(row.values()) for row in tables[feed].to_pylist()]
        writer.write(tables, batch_id)
        writer.write(tables, batch_id)
    assert added
    assert same(database.rows('SELECT * FROM "History of Q"'), added)


def test_a_table_of_the_users_own_keeps_its_other_columns(
    database: Database, tmp_path: Path
) -> None:
    database.run(
        "CREATE TABLE t (note text DEFAULT 'ours', n numeric, k varchar UNIQUE, total float8)"
    )
    driven = Driven(GROUPED)
    writer = driven.writer(database, tmp_path)
    writer.write(driven.batch([{"ts": START, "k": "a", "x": 1.0}], through=START), 0)
    database.run("UPDATE t SET note = 'theirs'")
    later = START + timedelta(seconds=1)
    writer.write(driven.batch([{"ts": later, "k": "a", "x": 1.0}], through=later), 1)
    assert database.rows("SELECT note, k, n FROM t") == [("theirs", "a", 2)]
