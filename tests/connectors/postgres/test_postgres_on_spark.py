"""A query on Spark keeps a table of PostgreSQL: in a session, over a restart, and from a script."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.building_files import SCRIPT, write_job
from support.command_line import windrow
from support.servers.postgres_database import Database, same
from support.spark.stream_files import Files, Sessions, embedded, random_batches
from windrow import sinks
from windrow.errors import CheckpointError
from windrow.spark.driver.session import SparkWindrowSession

pytestmark = [pytest.mark.postgres, pytest.mark.spark]

JOINED = (
    "SELECT h.room, COUNT(*) AS n, SUM(c.value) AS total FROM h [15 SECONDS], c [15 SECONDS] "
    "WHERE h.room = c.room GROUP BY h.room"
)


def run(session: SparkWindrowSession, database: Database, *, finish: bool) -> None:
    query = session.query(JOINED, name="q")
    query.start(sinks.postgres(database.url, "totals"), trigger="available")
    query.await_end()
    if finish:
        session.finish()


def test_the_table_equals_the_result_over_a_restart(
    database: Database, files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = random_batches(4, seed=5)
    files.put_all(batches[:2])
    run(sessions.open(files), database, finish=False)
    sessions.opened.pop().stop()
    # Spark gives the last batch again when it does not know that it was done.
    commits = tmp_path / "checkpoint" / "q" / "spark" / "commits"
    last = max(
        (each for each in commits.iterdir() if each.name.isdigit()), key=lambda f: int(f.name)
    )
    last.unlink()
    (commits / f".{last.name}.crc").unlink(missing_ok=True)
    files.put_all(batches[2:])
    run(sessions.open(files), database, finish=True)
    query, _ = embedded(JOINED, batches)
    wanted = [tuple(row.values()) for row in query.result().to_pylist()]
    assert wanted
    assert same(database.rows("SELECT room, n, total FROM totals"), wanted)
    sessions.opened.pop().stop()
    elsewhere = Sessions(sessions.spark, tmp_path / "another")
    with pytest.raises(CheckpointError, match="WC250"):
        run(elsewhere.open(files), database, finish=True)
    elsewhere.opened[0].stop()


def test_a_script_whose_queries_share_an_operator_keeps_two_tables(
    database: Database, tmp_path: Path
) -> None:
    streams, _, _ = SCRIPT.partition("CREATE QUERY alarms")
    _, counts, rest = SCRIPT.partition("CREATE QUERY counts")
    right = "INTO parquet('out', feed = 'changes')"
    assert right in rest
    wanted = f"INTO postgres('counts', url = '{database.url}', feed = 'changes')"
    busy = (
        "CREATE QUERY busy AS SELECT COUNT(*) AS n FROM temp [30 SECONDS] "
        f"INTO postgres('busy', url = '{database.url}');"
    )
    write_job(tmp_path, streams + counts + rest.replace(right, wanted) + busy)
    done = windrow("run", "job.wql", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    left = database.rows("SELECT location, sum(change) FROM counts GROUP BY location ORDER BY 1")
    assert left == [("kitchen", 1), ("lab", 1)]
    assert database.rows("SELECT n FROM busy") == [(31,)]
