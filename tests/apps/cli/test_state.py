"""`windrow state`: what is shown of a file, and what is refused, without Spark at work."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.carried_runs import begun
from support.command_line import events
from support.query_forms import PUSHES
from windrow.apps.cli import app
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.storage import Storage

JOIN = """SELECT a.k, COUNT(*) AS n, SUM(b.l) AS t FROM a [4 SECONDS], b [3 SECONDS]
          WHERE a.k = b.k GROUP BY a.k"""
STREAMS = """
CREATE STREAM a (ts TIMESTAMP, k INT, l BIGINT) TIME ts;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, l SMALLINT) TIME ts;
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    session, _ = begun(JOIN, PUSHES[:20])
    session.export_state("q", tmp_path / "q.wstate")
    return tmp_path / "q.wstate"


def windrow(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["state", *map(str, words)])
    return done.exit_code, done.output


def test_a_file_is_shown(file: Path) -> None:
    code, shown = windrow("show", file)
    assert code == 0
    assert "SELECT a.k, COUNT(*) AS n" in shown
    assert "stream a: " in shown
    assert "all of them whole" in shown
    code, shown = windrow("show", file, "--json")
    (event,) = events(shown)
    assert event["event"] == "state"
    assert event["name"] == "q"
    assert set(event["streams"]) == {"a", "b"}


def test_a_damaged_file_is_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])
    code, shown = windrow("show", file)
    assert code == 1
    assert "WC421" in shown or "WC423" in shown


def test_a_checkpoint_begins_with_a_file(file: Path, tmp_path: Path) -> None:
    into = tmp_path / "checkpoint"
    code, shown = windrow("import", file, "--checkpoint", into, "--query", "r", "--buckets", 3)
    assert (code, "r goes on from" in shown) == (0, True)
    assert QueryCheckpoint(Storage(into), "r").claimed_buckets() == 3
    code, shown = windrow("import", file, "--checkpoint", into, "--query", "r")
    assert code == 1
    assert "WC431" in shown


def test_a_job_may_have_changed_the_query(file: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.wql"
    changed = JOIN.replace("[4 SECONDS]", "[2 SECONDS]")
    job.write_text(f"{STREAMS} CREATE QUERY q AS {changed} INTO console();")
    into = tmp_path / "checkpoint"
    assert windrow("import", file, "--checkpoint", into, "--job", job)[0] == 0
    owner = QueryCheckpoint(Storage(into), "q").owner()
    assert owner is not None
    assert "[2 SECONDS]" in owner.query
    code, shown = windrow("import", file, "--checkpoint", into, "--job", job, "--query", "other")
    assert (code, "WB455" in shown) == (1, True)
    job.write_text(f"{STREAMS} CREATE QUERY q AS {JOIN.replace('[4', '[5')} INTO console();")
    code, shown = windrow("import", file, "--checkpoint", tmp_path / "new", "--job", job)
    assert (code, "WC425" in shown) == (1, True)
