"""Queries that are trees, and views, in scripts: they run in process, and Spark refuses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.command_line import events
from windrow.apps.cli import app

STREAM = "CREATE STREAM s (ts TIMESTAMP, k STRING, x INT) TIME ts FROM csv('s.csv');\n"
VIEW = "CREATE VIEW counts AS SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k;\n"
TREES = {
    "a query in FROM": (
        "SELECT MAX(n) AS m FROM (SELECT k, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY k) AS q",
        [{"m": 2}],
    ),
    "an outer join": (
        "SELECT a.x, b.x AS y FROM s [1 MINUTE] AS a LEFT JOIN s [1 SECOND] AS b ON a.x + 1 = b.x "
        "ORDER BY a.x",
        [{"x": 1, "y": None}, {"x": 2, "y": 3}, {"x": 3, "y": None}],
    ),
    "a union": ("SELECT x FROM s [1 SECOND] UNION SELECT 1", [{"x": 1}, {"x": 3}]),
    "top rows": ("SELECT x FROM s [1 MINUTE] ORDER BY x DESC LIMIT 1", [{"x": 3}]),
    "ranks": (
        "SELECT x, RANK() OVER (ORDER BY k) AS r FROM s [1 MINUTE] ORDER BY x",
        [{"x": 1, "r": 1}, {"x": 2, "r": 1}, {"x": 3, "r": 3}],
    ),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["2026-01-01 00:00:00,a,1", "2026-01-01 00:00:01,a,2", "2026-01-01 00:00:05,b,3"]
    Path("s.csv").write_text("ts,k,x\n" + "\n".join(rows) + "\n")


def run(script: str, *options: str) -> tuple[int, str, str]:
    Path("job.wql").write_text(script)
    done = CliRunner().invoke(app, ["run", "job.wql", *options])
    return done.exit_code, done.stdout, done.stderr


def last_answer(text: str) -> list[dict[str, object]]:
    """The rows of the last answer of a script's one query."""
    status, stdout, stderr = run(text, "--embedded", "--json")
    assert status == 0, stderr
    answers = [event for event in events(stdout) if event["event"] == "answer"]
    last = [event for event in answers if event["at"] == answers[-1]["at"]]
    apart = ("event", "query", "at", "level", "error_bound")
    return [{name: row[name] for name in row if name not in apart} for row in last]


@pytest.mark.parametrize("form", TREES)
def test_in_process_it_runs(form: str) -> None:
    text, rows = TREES[form]
    found = last_answer(f"{STREAM}CREATE QUERY q AS {text} INTO console();")
    assert sorted(map(str, found)) == sorted(map(str, rows))


def test_on_spark_constants_are_refused() -> None:
    status, _, stderr = run(f"{STREAM}CREATE QUERY q AS SELECT 1 AS x INTO console();")
    assert (status, "WU231" in stderr, "--embedded" in stderr) == (1, True, True)


def test_a_view_runs() -> None:
    script = f"{STREAM}{VIEW}CREATE QUERY q AS SELECT n FROM counts WHERE k = 'a' INTO console();"
    assert last_answer(script) == [{"n": 2}]


def test_views_of_views_run_in_scripts() -> None:
    top = "CREATE VIEW top AS SELECT MAX(n) AS m FROM counts;\n"
    query = "CREATE QUERY q AS SELECT k FROM counts, top WHERE n = m INTO console();"
    assert last_answer(f"{STREAM}{VIEW}{top}{query}") == [{"k": "a"}]
