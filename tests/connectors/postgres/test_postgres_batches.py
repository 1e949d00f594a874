"""Each batch reaches PostgreSQL once: given again, cut off, by two drivers, two checkpoints."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from support.servers.postgres_database import Database, Driven
from support.servers.postgres_server import Server
from windrow.connectors.postgres.writer import PostgresWriter
from windrow.errors import CheckpointError, DataError

pytestmark = pytest.mark.postgres

START = datetime(2026, 1, 1, tzinfo=UTC)
GROUPED = "SELECT k, COUNT(*) AS n FROM s [10 SECONDS] GROUP BY k"


@pytest.fixture
def driven() -> Driven:
    return Driven(GROUPED)


def batch(driven: Driven, number: int) -> dict[str, pa.Table]:
    at = START + timedelta(seconds=number)
    return driven.batch([{"ts": at, "k": "a", "x": 1.0}], through=at)


class Writing(threading.Thread):
    """A batch that is written in a thread of its own, and what came of it."""

    def __init__(self, writer: PostgresWriter, tables: dict[str, pa.Table], number: int) -> None:
        super().__init__()
        self.arguments: tuple[Any, ...] = (tables, number)
        self.writer = writer
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self.writer.write(*self.arguments)
        except DataError as error:
            self.error = error


def test_a_connection_that_is_killed_leaves_nothing_half_done(
    database: Database, driven: Driven, tmp_path: Path
) -> None:
    writer = driven.writer(database, tmp_path)
    writer.write(batch(driven, 0), 0)
    before = database.rows("SELECT * FROM t"), database.rows("SELECT * FROM windrow_batches")
    second = batch(driven, 1)
    # The sink has locked its row and copied its rows by the time that it meets this lock.
    with database.holding("LOCK TABLE t IN EXCLUSIVE MODE"):
        writing = Writing(writer, second, 1)
        for _ in range(2):  # it tries twice
            [process] = database.waiting(writing)
            database.run(f"SELECT pg_terminate_backend({process})")
            while database.rows(f"SELECT FROM pg_stat_activity WHERE pid = {process}"):
                pass
        writing.join()
    assert writing.error is not None
    assert "WD413" in str(writing.error)
    after = database.rows("SELECT * FROM t"), database.rows("SELECT * FROM windrow_batches")
    assert after == before
    writer.write(second, 1)
    assert database.rows("SELECT * FROM t") == [("a", 2)]


def test_a_connection_that_is_killed_once_is_made_up_for(
    database: Database, driven: Driven, tmp_path: Path
) -> None:
    writer = driven.writer(database, tmp_path, feed="changes")
    with database.holding("LOCK TABLE t IN EXCLUSIVE MODE"):
        writing = Writing(writer, batch(driven, 0), 0)
        [process] = database.waiting(writing)
        database.run(f"SELECT pg_terminate_backend({process})")
    writing.join()
    assert writing.error is None
    assert database.rows("SELECT k, n, change FROM t") == [("a", 1, 1)]


def test_a_server_that_fails_between_batches(server: Server, tmp_path: Path) -> None:
    driven = Driven(GROUPED)
    with server.connect() as connection:
        database = Database(server.url, connection)
        writer = driven.writer(database, tmp_path, table="survivor")
        writer.write(batch(driven, 0), 0)
    server.restart()
    with server.connect() as connection:
        database = Database(server.url, connection)
        writer.write(batch(driven, 1), 1)
        assert database.rows("SELECT * FROM survivor") == [("a", 2)]


def test_of_two_drivers_only_one_writes_a_batch(
    database: Database, driven: Driven, tmp_path: Path
) -> None:
    writers = [driven.writer(database, tmp_path, feed="changes") for _ in range(2)]
    tables = batch(driven, 0)
    with database.holding("SELECT FROM windrow_batches FOR UPDATE"):
        writing = [Writing(writer, tables, 0) for writer in writers]
        database.waiting(*writing)
    for each in writing:
        each.join()
        assert each.error is None
    assert database.rows("SELECT k, n, change FROM t") == [("a", 1, 1)]


def test_a_driver_that_was_left_behind_is_refused(
    database: Database, driven: Driven, tmp_path: Path
) -> None:
    old, new = (driven.writer(database, tmp_path) for _ in range(2))
    first, second = batch(driven, 0), batch(driven, 1)
    new.write(first, 3)
    new.write(second, 4)
    with pytest.raises(CheckpointError, match="WC252"):
        old.write(first, 3)
    assert database.rows("SELECT * FROM t") == [("a", 2)]


def test_a_restart_goes_on(database: Database, driven: Driven, tmp_path: Path) -> None:
    first = batch(driven, 0)
    driven.writer(database, tmp_path).write(first, 0)
    again = driven.writer(database, tmp_path)
    again.write(first, 0)
    again.write(batch(driven, 1), 1)
    assert database.rows("SELECT * FROM t") == [("a", 2)]


@pytest.mark.parametrize("feed", ["upserts", "changes"])
def test_a_new_checkpoint_over_an_old_table_is_refused(
    database: Database, driven: Driven, tmp_path: Path, feed: str
) -> None:
    # Nothing has arrived yet from the first, which so loses its claim.
    driven.writer(database, tmp_path / "a", feed=feed)
    driven.writer(database, tmp_path / "b", feed=feed).write(batch(driven, 0), 0)
    with pytest.raises(CheckpointError, match=r"WC250(?s:.*)delete its row in windrow_batches"):
        driven.writer(database, tmp_path / "c", feed=feed)
    # What the hint says to do.
    database.run("TRUNCATE t")
    database.run("DELETE FROM windrow_batches")
    anew = Driven(GROUPED)
    anew.writer(database, tmp_path / "c", feed=feed).write(batch(anew, 0), 0)
    assert database.rows("SELECT k, n FROM t") == [("a", 1)]


def test_rows_that_nobody_wrote_are_refused(
    database: Database, driven: Driven, tmp_path: Path
) -> None:
    database.run("CREATE TABLE t (k text UNIQUE, n bigint)")
    database.run("INSERT INTO t VALUES ('theirs', 1)")
    with pytest.raises(CheckpointError, match=r"WC250.*no query has written"):
        driven.writer(database, tmp_path)


def test_a_record_that_went_is_told(database: Database, driven: Driven, tmp_path: Path) -> None:
    writer = driven.writer(database, tmp_path)
    database.run("DELETE FROM windrow_batches")
    with pytest.raises(CheckpointError, match="WC251"):
        writer.write(batch(driven, 0), 0)


def test_a_query_that_has_run_elsewhere_is_refused(
    database: Database, driven: Driven, tmp_path: Path
) -> None:
    driven.claimed(tmp_path)
    published = tmp_path / "q" / "publish"
    published.mkdir()
    (published / "000000000007.batch").touch()
    with pytest.raises(CheckpointError, match="WC253"):
        driven.writer(database, tmp_path)
    driven.writer(database, tmp_path, feed="answers")
