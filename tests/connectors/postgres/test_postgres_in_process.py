"""A job in this process writes to PostgreSQL: each answer once, however often it dies."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from support.building_files import write_job
from support.memory_folder import KilledError
from support.servers.postgres_database import Database
from windrow.durable import job as durable_job
from windrow.durable.folder import GrowingFile
from windrow.embedded.job import run_embedded
from windrow.errors import CheckpointError
from windrow.jobs.job import Job, job_of

pytestmark = pytest.mark.postgres

SCRIPT = """
SET memory = '64 MB';
CREATE STREAM temp (location STRING, ts TIMESTAMP, celsius DOUBLE)
  TIME ts FROM parquet('temp.parquet');
CREATE QUERY now AS
  SELECT location, COUNT(*) AS n, MAX(celsius) AS top FROM temp [20 SECONDS] GROUP BY location
  INTO postgres('now', url = 'URL');
CREATE QUERY log AS
  SELECT location, COUNT(*) AS n FROM temp [20 SECONDS] GROUP BY location EVERY (5 SECONDS)
  INTO postgres('log', url = 'URL', feed = 'answers');
CREATE ALERT hot AS
  SELECT location, MAX(celsius) AS top FROM temp [5 SECONDS] GROUP BY location
  WHEN top > 50 FOR '2 seconds' INTO postgres('events', url = 'URL');
"""


class Silent:
    """Watches a job, and says nothing."""

    def nothing(self, *_: object) -> None: ...

    answered = ended = advanced = stood = operated = counted = nothing


def job(database: Database) -> Job:
    return job_of(SCRIPT.replace("URL", database.url))


def run(folder: Path, database: Database, state: str, dies_at: int = 0) -> bool:
    """Run the job; whether it came to its end."""
    calls = itertools.count(1)
    append = GrowingFile.append

    def counted(self: GrowingFile, pieces: list[bytes]) -> None:
        if next(calls) == dies_at:
            raise KilledError
        append(self, pieces)

    watcher: Any = Silent()
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setattr(GrowingFile, "append", counted)
        patched.setattr("windrow.connectors.files.parquet_files.BATCH_ROWS", 64)
        try:
            if state:
                durable_job.run_durable(job(database), watcher, state)
            else:
                run_embedded(job(database), watcher)
        except KilledError:
            return False
    return True


def tables(database: Database) -> list[Any]:
    return [
        sorted(database.rows(f"SELECT * FROM {name}"), key=repr)
        for name in ("now", "log", "events")
    ]


def test_a_job_that_dies_writes_what_a_whole_one_does(database: Database, tmp_path: Path) -> None:
    write_job(tmp_path, SCRIPT)
    assert run(tmp_path, database, "")
    wanted = tables(database)
    assert all(wanted)
    assert run(tmp_path, database, "")  # upserts begin anew, the others add
    now, log, _ = tables(database)
    assert (now, len(log)) == (wanted[0], 2 * len(wanted[1]))
    with pytest.raises(CheckpointError, match=r"WC250.*a run without state"):
        run(tmp_path, database, "state")
    for name in ("now", "log", "events", "windrow_batches"):
        database.run(f"DELETE FROM {name}")
    for dies_at in (9, 5, 7):
        assert not run(tmp_path, database, "again", dies_at)
    assert run(tmp_path, database, "again")
    assert tables(database) == wanted
