"""What a PostgreSQL sink refuses, each once, and that no password is ever shown."""

from __future__ import annotations

import subprocess
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.servers.postgres_database import Database, Driven
from windrow import sinks
from windrow.errors import BindingError, DataError, Place
from windrow.jobs.job import job_of

pytestmark = pytest.mark.postgres

START = datetime(2026, 1, 1, tzinfo=UTC)
GROUPED = "SELECT k, COUNT(*) AS n FROM s [10 SECONDS] GROUP BY k"


def test_sinks_that_cannot_be() -> None:
    with pytest.raises(BindingError, match="WB444"):
        sinks.postgres("", "t", feed="all")
    with pytest.raises(BindingError, match="WB445"):
        sinks.postgres("", "a.b.c")
    with pytest.raises(BindingError, match="WB446"):
        sinks.postgres("", "t", feed="changes", key=["k"])


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("k text UNIQUE", "no column 'n'"),
        ("k text UNIQUE, n integer", "cannot hold all of bigint"),
        ("k text, n bigint", r"no UNIQUE constraint on \(k\)"),
    ],
)
def test_tables_that_cannot_serve(
    database: Database, tmp_path: Path, columns: str, problem: str
) -> None:
    database.run(f"CREATE TABLE t ({columns})")
    with pytest.raises(BindingError, match=f"WB447.*{problem}"):
        Driven(GROUPED).writer(database, tmp_path)


def test_a_text_that_postgresql_cannot_hold(database: Database, tmp_path: Path) -> None:
    driven = Driven(GROUPED)
    writer = driven.writer(database, tmp_path)
    with pytest.raises(DataError, match="WD413"):
        writer.write(driven.batch([{"ts": START, "k": "a\0b"}], through=START), 0)
    assert database.rows("SELECT * FROM t") == []


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("postgresql://keyed:s3cret@/{name}?host={folder}", DataError),
        ("host={folder} dbname={name} user=keyed password=s3cret", DataError),
        ("host={folder} nonsense s3cret", BindingError),
        ("postgresql://keyed:s3cret@[::1/x", BindingError),
    ],
)
def test_no_password_is_shown(
    database: Database, tmp_path: Path, address: str, error: type[Exception]
) -> None:
    info = database.connection.info
    url = address.format(folder=info.host, name=info.dbname)
    with pytest.raises(error, match=r"WB448|WD413") as raised:
        Driven(GROUPED).writer(Database(url, database.connection), tmp_path)
    shown = "".join(traceback.format_exception(raised.value))
    assert "s3cret" not in shown
    assert "s3cret" not in repr(sinks.postgres(url, "t"))


def test_no_password_of_a_script_is_shown() -> None:
    script = (
        "CREATE STREAM s (ts TIMESTAMP) TIME ts;\nCREATE QUERY q AS SELECT COUNT(*) AS n FROM s "
        "[1 HOUR] INTO postgres('t', url = 'postgresql://me:s3cret@db/x', feet = 'all');"
    )
    with pytest.raises(BindingError, match="WB507") as raised:
        job_of(script)
    assert "s3cret" not in str(raised.value)
    assert "postgresql://me:******@db/x" in str(raised.value)
    line = "url = 'host=db password = s3cret user=me'"
    assert "password = ****** user" in Place(line, 1, 1).underlined()


def test_without_the_client_the_error_says_how_to_get_it(tmp_path: Path) -> None:
    program = """
import sys
sys.modules["psycopg"] = None
from windrow import sinks
from windrow.errors import UnsupportedError
try:
    sinks.postgres("", "t").open_on_spark(None, None)
except UnsupportedError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert "[WU414]" in done.stdout
    assert "windrow-sql[postgres]" in done.stdout
