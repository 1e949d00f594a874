"""Histories in scripts: CREATE HISTORY, questions at the end, and continuous ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from support import building_files
from support.command_line import events, windrow
from windrow.apps.cli import app

SCRIPT = """\
CREATE STREAM temp (location STRING, ts TIMESTAMP, celsius DOUBLE) TIME ts FROM csv('temp.csv');
CREATE HISTORY ON temp (celsius) GROUP BY location LEVELS (1 SECOND FOR 1 HOUR, 1 MINUTE FOREVER);
SELECT location, AVG(celsius) AS mean FROM HISTORY(temp) [FROM '2026-01-01' TO '2026-01-02'
  AT 1 MINUTE] GROUP BY location;
CREATE QUERY rows AS SELECT COUNT(*) AS n FROM HISTORY(temp) [FROM '2026-01-01' TO NOW]
  EVERY (1 MINUTE) INTO console();
"""


def write_job(folder: Path, script: str = SCRIPT) -> None:
    lines = [f"{'kl'[i % 2]},2026-01-01 00:{i // 30:02d}:{2 * i % 60:02d},{i}" for i in range(120)]
    (folder / "temp.csv").write_text("location,ts,celsius\n" + "\n".join(lines) + "\n")
    (folder / "job.wql").write_text(script)


def test_questions_are_answered_at_the_end(tmp_path: Path) -> None:
    write_job(tmp_path)
    done = windrow("run", "job.wql", "--embedded", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    told = events(done.stdout)
    results = [event for event in told if event["event"] == "result"]
    assert [(row["location"], row["mean"], row["exact"]) for row in results] == [
        ("k", 59.0, True),
        ("l", 60.0, True),
    ]
    answers = [event for event in told if event["event"] == "answer"]
    assert [(row["at"][11:16], row["n"], row["level"]) for row in answers] == [
        ("00:00", 1, "A"),
        ("00:01", 31, "A"),
        ("00:02", 61, "A"),
        ("00:03", 91, "A"),
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.stdout, done.stderr


def test_plans_of_questions_are_shown(folder: Path) -> None:
    write_job(folder, SCRIPT + f"EXPLAIN {SCRIPT[SCRIPT.index('SELECT') :].split(';')[0]};")
    status, stdout, _ = run("explain", "job.wql")
    assert status == 0
    assert "the past of temp from 2026-01-01 00:00:00 to 2026-01-02 00:00:00" in stdout
    assert "levels      1 second for 1 hour, 1 minute for ever" in stdout
    status, stdout, _ = run("check", "job.wql")
    assert status == 0
    text = "SELECT MAX(celsius) AS m FROM HISTORY(temp) [FROM '2026-01-01' TO NOW]"
    status, stdout, _ = run("explain", text, "--streams", "job.wql")
    assert "MAX(celsius)" in stdout


def test_continuous_questions_run_on_spark_with_sinks_that_need_no_key(folder: Path) -> None:
    write_job(folder)
    assert run("check", "job.wql", "--spark")[0] == 0
    text = (folder / "job.wql").read_text(encoding="utf-8")
    past = "CREATE QUERY past AS SELECT COUNT(*) AS n FROM HISTORY(temp) [FROM '2026-01-01' TO NOW]"
    kafka = "INTO kafka('topic', servers = 'localhost:9092')"
    write_job(folder, f"{text}\n{past} {kafka};")
    status, _, stderr = run("check", "job.wql", "--spark")
    assert status == 1
    assert "WU422" in stderr


@pytest.mark.long_spark
def test_a_script_with_a_history_says_the_same_on_spark(tmp_path: Path) -> None:
    write_job(tmp_path, SCRIPT.partition("CREATE QUERY")[0])
    here = windrow("run", "job.wql", "--embedded", "--json", folder=tmp_path)
    there = windrow("run", "job.wql", "--json", folder=tmp_path)
    assert (here.returncode, there.returncode) == (0, 0), there.stderr
    told = [events(done.stdout) for done in (here, there)]
    results = [[event for event in each if event["event"] == "result"] for each in told]
    assert len(results[0]) == 2
    assert results[0] == results[1]
    (counts,) = (event for event in told[1] if event["event"] == "ledger")
    assert (counts["stream"], counts["applied"]) == ("temp", 120)


def test_on_spark_bad_rows_are_not_written(folder: Path) -> None:
    aside = "TIME ts ON BAD ROW SET ASIDE INTO parquet('bad') FROM parquet"
    write_job(folder, building_files.SCRIPT.replace("TIME ts FROM parquet", aside))
    status, _, stderr = run("run", "job.wql")
    assert (status, "WU506" in stderr, "--embedded" in stderr) == (1, True, True)


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ("ON temp (celsius)", "ON tmep (celsius)", "WB201"),
        ("ON temp (celsius)", "ON temp (location)", "WB309"),
        ("1 MINUTE FOREVER", "1 MINUTE FOR 10 MINUTES", "WB304"),
        ("AVG(celsius)", "AVG(location)", "WB333"),
        ("TO NOW]", "TO '2026-01-02']", "WB339"),
    ],
)
def test_what_is_wrong_is_found_by_check(folder: Path, right: str, wrong: str, code: str) -> None:
    assert right in SCRIPT
    write_job(folder, SCRIPT.replace(right, wrong))
    status, _, stderr = run("check", "job.wql")
    assert status == 1
    assert code in stderr
    assert "^" in stderr
