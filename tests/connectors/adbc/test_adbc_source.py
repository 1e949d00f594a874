"""New rows of a table, read over ADBC from a file of SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import windrow
from windrow.connectors.adbc import polling, source
from windrow.schema import StreamSchema, columns_of

SCHEMA = StreamSchema("s", columns_of("ts timestamp, k int"), "ts")
COLUMNS = "ts timestamp, k int"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "a building.db"
    _do(path, 'CREATE TABLE readings (id INTEGER PRIMARY KEY, ts TEXT, k INT, "a b" TEXT)', ())
    return path


def _do(path: Path, statement: str, *rows: tuple[object, ...]) -> None:
    with sqlite3.connect(path) as connection:
        connection.executemany(statement, rows)
    connection.close()


def _add(path: Path, first: int, end: int) -> None:
    rows = [(n, f"2026-01-01 00:00:{n:02}", n, f"n'{n:02}") for n in range(first, end)]
    _do(path, "INSERT INTO readings VALUES (?, ?, ?, ?)", *rows)


def described(path: Path, query: str = "readings", **options: str | bool) -> source.AdbcSource:
    given = {"position": "id", "every": "0 seconds", **options}
    return windrow.sources.adbc(query, "sqlite", str(path), **given)  # type: ignore[arg-type]


def keys(reader: polling.AdbcReader, most: int = 1_000) -> list[int]:
    polled = reader.poll(most, 0.0)
    return [] if polled is None else polled.rows.batch["k"].to_pylist()


def code_of(work: Callable[[], object]) -> str:
    with pytest.raises(windrow.WindrowError) as caught:
        work()
    return caught.value.code


def opened(
    made: source.AdbcSource, position: dict[str, object] | None = None
) -> polling.AdbcReader:
    reader = made.open_live(SCHEMA, position)
    assert isinstance(reader, polling.AdbcReader)
    return reader


@pytest.mark.parametrize("position", ["id", "a b"])
def test_each_row_is_read_once_wherever_it_is_opened_again(database: Path, position: str) -> None:
    made, where, found = described(database, position=position), None, []
    for first, end in ((0, 7), (7, 7), (7, 20), (20, 23)):
        _add(database, first, end)
        reader = opened(made, where)
        for _ in range(3):
            polled = reader.poll(4, 0.0)
            if polled is not None:
                found += polled.rows.batch["k"].to_pylist()
                where = polled.position
        reader.close()
    assert found == list(range(23))


def test_a_session_reads_a_select_and_goes_on(database: Path, tmp_path: Path) -> None:
    _add(database, 0, 5)
    query = "SELECT id, ts, 2 * k AS k FROM readings WHERE k < 9;"
    for end in (5, 12):
        _add(database, 5, end)
        session = windrow.connect(path=tmp_path / "state")
        made = described(database, query, bounded=end == 12)
        session.stream("s", COLUMNS, time="ts", source=made)
        total = session.query("SELECT SUM(k) AS k FROM s [1 MINUTE]", name="total")
        session.start_sources()
        while session.ledger()["rows_in"].to_pylist() != [min(end, 9)]:
            session.wait_for_sources(timeout=0.1)
        session.stop_sources()
        if end == 12:
            session.finish()
        session.stop()
    assert total.result().to_pylist() == [{"k": 2 * sum(range(9))}]


def test_latest_begins_behind_what_is_there(database: Path) -> None:
    _add(database, 0, 5)
    reader = opened(described(database, starting="latest"))
    assert keys(reader) == []
    _add(database, 5, 7)
    assert keys(reader) == [5, 6]
    reader.close()


def test_values_that_do_not_fit_are_set_aside(database: Path) -> None:
    rows = (1, "2026-01-01", "one", ""), (2, "2026-01-01", 2, "")
    _do(database, "INSERT INTO readings VALUES (?, ?, ?, ?)", *rows)
    reader = opened(described(database))
    polled = reader.poll(10, 0.0)
    assert polled is not None
    assert (polled.rows.batch["k"].to_pylist(), len(polled.rows.bad)) == ([2], 1)
    reader.close()


def test_a_column_that_is_not_there_is_no_text(database: Path) -> None:
    _add(database, 0, 2)
    texts = StreamSchema("s", columns_of("ts timestamp, room string"), "ts")
    with pytest.raises(windrow.DataError, match="room") as refused:
        described(database).check(texts)
    assert refused.value.code == "WD879"
    assert code_of(lambda: described(database, position="number").check(SCHEMA)) == "WD879"


def test_a_select_may_end_with_a_comment(database: Path) -> None:
    _add(database, 0, 2)
    reader = opened(described(database, "SELECT id, ts, k FROM readings -- all"))
    assert keys(reader) == [0, 1]
    reader.close()


def test_a_position_that_a_driver_may_misread_is_refused(database: Path) -> None:
    texts = described(database, "SELECT char(92) || id AS id, ts, k FROM readings")
    _add(database, 0, 1)
    reader = opened(texts)
    assert keys(reader) == [0]
    other = replace(texts, driver="snowflake")
    reader._source = other
    with pytest.raises(windrow.DataError, match="backslash") as refused:
        reader._value("a\\' OR 1 = 1 --")
    assert refused.value.code == "WD880"
    reader.close()


@pytest.mark.parametrize(
    "url",
    [
        "x://u:secret@h",
        "u:secret@account/db",
        "x://u:sec[ret@h",
        "host=h password=secret",
        "host=h password='secret word'",
        "x://h/db?token=secret&a=b",
        "x://u:sec/re@t@h",
    ],
)
def test_no_password_is_in_what_a_driver_says(url: str) -> None:
    for secret in ("secret word", "secret", "sec[ret", "sec/re@t"):
        if secret in url:
            assert polling._without_secrets(f"no {secret}!", url) == "no ***!"
            return
    raise AssertionError(url)


def test_what_is_wrong_is_said(database: Path, tmp_path: Path) -> None:
    for options in ({"every": "soon"}, {"starting": "now"}, {"position": ""}):
        assert code_of(lambda options=options: described(database, **options)) == "WB879"
    with_path = lambda: windrow.sources.adbc("t", "/tmp/evil.so", "", "id")  # noqa: E731
    assert code_of(with_path) == "WB879"
    assert code_of(lambda: described(database, "nothing").check(SCHEMA)) == "WD879"
    _add(database, 0, 2)
    assert code_of(lambda: described(tmp_path / "none.db").check(SCHEMA)) == "WD879"
    assert not (tmp_path / "none.db").exists()
    twice = described(database, "SELECT 1 AS id, ts, k FROM readings")
    assert _polled_once(twice) == "WD880"
    halves = described(database, "SELECT id + 0.5 AS id, ts, k FROM readings")
    assert _polled_once(halves) == "WD880"
    other = windrow.sources.adbc("t", "no_such", "x://u:secret@h", "id")
    assert code_of(lambda: other.check(SCHEMA)) == "WU414"
    assert "secret" not in repr(other) + other.shown
    assert (
        polling._without_secrets("at x://u:se%20cret@h: se cret", "x://u:se%20cret@h")
        == "at ***: ***"
    )


def _polled_once(made: source.AdbcSource) -> str:
    reader = opened(made)
    try:
        return code_of(lambda: reader.poll(9, 0.0))
    finally:
        reader.close()
