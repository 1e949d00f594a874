"""What is wrong with a script or its files: code, place, exit code, and no traceback."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from support.building_files import SCRIPT, write_job
from support.command_line import environment
from windrow.apps.cli import app

BAD_SCRIPTS = {
    "WB203": ("temp.celsius >= 40", "temp.celsus >= 40", "celsus"),
    "WB200": ("CREATE STREAM smoke", "CREATE STREAM temp", "temp"),
    "WB114": ("TIME ts FROM parquet", "TIME tz FROM parquet", "temp"),
    "WB501": ("'out', feed", "'out', 'in', feed", "parquet"),
    "WB502": ("parquet('temp.parquet')", "parquet()", "parquet"),
    "WB503": ("header = TRUE", "header = 1", "csv"),
    "WB504": ("header = TRUE", "files_per_batch = 0", "csv"),
    "WB505": ("feed = 'changes'", "feed = 'all'", "parquet"),
    "WB506": ("feed = 'changes'", "path = 'in'", "parquet"),
    "WB507": ("header = TRUE", "heeder = TRUE", "csv"),
    "WB510": ("parquet('temp.parquet')", "parket('temp.parquet')", "parket"),
    "WB511": ("header = TRUE", "delimiter = '::'", "csv"),
    "WB512": ("memory()", "memroy()", "memroy"),
    "WB526": ("TIME ts FROM", "TIME ts ON BAD ROW SET ASIDE INTO console() FROM", "console"),
    "WB513": ("SET memory", "SET memroy", "memroy"),
    "WB103": ("'64 MB'", "'64 apples'", "memory"),
    "WB514": ("memory = '64 MB'", "checkpoint = 3", "checkpoint"),
    "WB101": ("memory = '64 MB'", "trigger = 'often'", "trigger"),
    "WB515": (" FROM parquet('temp.parquet')", "", "temp"),
    "WB517": ("QUERY counts", "QUERY alarms", "alarms"),
    "WS151": ("header = TRUE", "header = TRUE, header = TRUE", "header"),
    "WB518": (
        "CREATE QUERY alarms",
        2 * "CREATE HISTORY ON temp (celsius) LEVELS (1 SECOND FOR 1 DAY); "
        + "CREATE QUERY alarms",
        "temp",
    ),
}


COUNTED = "CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [1 HOUR];"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("code", BAD_SCRIPTS)
def test_check_points_at_what_is_wrong(folder: Path, code: str) -> None:
    right, wrong, word = BAD_SCRIPTS[code]
    assert right in SCRIPT
    write_job(folder, SCRIPT.replace(right, wrong, 1))
    status, stdout, stderr = run("check", "job.wql")
    assert (status, stdout) == (1, "")
    first, line, carets, *_ = stderr.splitlines()
    assert first.startswith(f"[{code}] ")
    start = len(carets) - len(carets.lstrip())
    assert line[start : start + carets.count("^")] == word
    assert "Traceback" not in stderr


def test_a_script_without_a_query_is_refused(folder: Path) -> None:
    write_job(folder, "SET memory = '1 MB';")
    status, _, stderr = run("check", "job.wql")
    assert (status, stderr[:7]) == (1, "[WB516]")


def test_errors_for_machines_have_parts(folder: Path) -> None:
    write_job(folder, SCRIPT.replace("celsius >= 40", "celsus >= 40"))
    status, stdout, stderr = run("check", "job.wql", "--json")
    error = json.loads(stdout)
    assert (status, error["event"], error["code"]) == (1, "error", "WB203")
    assert (error["line"], error["column"]) == (9, 49)
    assert "celsius" in error["hint"]
    assert "^^^^^^" in stderr


def test_a_good_script_passes(folder: Path) -> None:
    write_job(folder)
    good = "job.wql: good (2 streams, 3 queries), runs on Spark and in this process\n"
    for runner in ((), ("--spark",), ("--embedded",), ("--spark", "--embedded")):
        assert run("check", "job.wql", *runner) == (0, good, "")
    status, stdout, _ = run("check", "job.wql", "--json")
    event = json.loads(stdout)
    assert (status, event["queries"], event["runs_on"]) == (0, 3, ["spark", "embedded"])


def test_check_says_where_a_script_runs(folder: Path) -> None:
    constant = "CREATE QUERY one AS SELECT 1 AS x;"
    write_job(folder, f"{SCRIPT}\n{constant}")
    status, stdout, stderr = run("check", "job.wql")
    assert (status, stdout.endswith("runs in this process\n")) == (0, True)
    assert stderr.startswith("not on Spark: [WU231]")
    assert run("check", "job.wql", "--embedded")[0] == 0
    status, stdout, stderr = run("check", "job.wql", "--spark")
    assert (status, stdout, stderr[:7]) == (1, "", "[WU231]")
    written = re.search(r"FROM parquet\([^)]*\)", SCRIPT)
    assert written is not None
    streaming = SCRIPT.replace(written[0], "FROM rate()", 1)
    write_job(folder, streaming)
    status, stdout, stderr = run("check", "job.wql")
    assert (status, stdout.endswith("runs on Spark\n")) == (0, True)
    assert stderr.startswith("not in this process: [WU502]")
    assert run("check", "job.wql", "--embedded")[0] == 1
    write_job(folder, f"{streaming}\n{constant}")
    status, stdout, stderr = run("check", "job.wql")
    assert (status, stdout) == (1, "")
    assert "[WU231]" in stderr
    assert "[WU502]" in stderr


def test_check_tells_all_that_is_wrong(folder: Path) -> None:
    script = """
CREATE STREAM temp (location STRING, ts TIMESTAMP, celsius DOUBLE) TIME ts FROM csv('a.csv');
CREATE STREAM smoke (location STRING, ts TIMESTAMP, strength NUMBERS) TIME ts FROM csv('b.csv');
CREATE QUERY one AS SELECT COUNT(*) AS n FROM temp [1 HOUR] WHERE celsus > 40;
CREATE QUERY two AS SELEC 1;
CREATE QUERY three AS SELECT COUNT(*) AS n FROM smoke [1 HOUR];
CREATE QUERY four AS SELECT celsius FROM temp [1 HOUR] PIVOT (SUM(celsius) FOR location);
CREATE QUERY five AS SELECT COUNT(*) AS n FROM temp [1 HOUR];
"""
    write_job(folder, script)
    status, stdout, stderr = run("check", "job.wql")
    told = [line for line in stderr.splitlines() if line.startswith("[W")]
    assert (status, stdout) == (1, "")
    found = [(line[1:3], line.split("(line ")[1][:1]) for line in told]
    assert found == [("WB", "3"), ("WB", "4"), ("WS", "5"), ("WU", "7")]
    events = [json.loads(line) for line in run("check", "job.wql", "--json")[1].splitlines()]
    assert [each["line"] for each in events] == [3, 4, 5, 7]


def test_a_script_that_is_not_text(folder: Path) -> None:
    (folder / "job.wql").write_bytes(b"\xff\xfe\x00")
    status, _, stderr = run("check", "job.wql")
    assert (status, stderr[:7]) == (1, "[WD510]")


def spoil_parquet(folder: Path) -> None:
    (folder / "temp.parquet").write_text("no Parquet")


def drop_parquet_column(folder: Path) -> None:
    pq.write_table(pa.table({"location": ["lab"]}), folder / "temp.parquet")


def spoil_csv(folder: Path) -> None:
    (folder / "smoke.csv").write_bytes(b"\xff\xff")


def reorder_csv(folder: Path) -> None:
    (folder / "smoke.csv").write_text("ts,location,strength\n")


def drop_csv_column(folder: Path) -> None:
    (folder / "smoke.csv").write_text("location,ts\n")


def spoil_csv_value(folder: Path) -> None:
    (folder / "smoke.csv").write_text("location,ts,strength\nlab,2026-01-01 00:00:00,much\n")


def remove_parquet(folder: Path) -> None:
    (folder / "temp.parquet").unlink()


SPOILT = {
    "WD501": remove_parquet,
    "WD502": spoil_parquet,
    "WD503": spoil_csv,
    "WD504": reorder_csv,
    "WD505": drop_parquet_column,
    "WD506": spoil_csv_value,
}


@pytest.mark.parametrize("code", SPOILT)
def test_files_that_cannot_serve(folder: Path, code: str) -> None:
    write_job(folder)
    SPOILT[code](folder)
    status, _, stderr = run("run", "job.wql", "--embedded")
    assert status == 1
    said = stderr.partition("[W")[2].splitlines()
    assert said[0].startswith(code[1:])
    assert "^" in said[2]


def test_a_csv_without_a_column(folder: Path) -> None:
    write_job(folder)
    drop_csv_column(folder)
    status, _, stderr = run("run", "job.wql", "--embedded")
    assert (status, "has no column 'strength'" in stderr) == (1, True)


def test_explain_shows_every_plan(folder: Path) -> None:
    write_job(folder)
    status, stdout, _ = run("explain", "job.wql")
    assert status == 0
    assert [line for line in stdout.splitlines() if line.endswith(":")] == [
        "alarms:",
        "strength:",
        "counts:",
    ]
    assert "join key  temp.location" in stdout


def test_explain_takes_a_query_and_the_streams_of_a_script(folder: Path) -> None:
    write_job(folder)
    query = "SELECT COUNT(*) FROM temp [10 MINUTES]"
    status, stdout, _ = run("explain", query, "--streams", "job.wql", "--json")
    assert (status, json.loads(stdout)["event"]) == (0, "plan")
    status, _, stderr = run("explain", query)
    assert (status, stderr[:7]) == (1, "[WB201]")
    assert stderr.splitlines()[2].index("^") == query.index("temp")


NOTHING = ["", "/* nothing */", "SET memory = '1 MB';"]


@pytest.mark.parametrize("text", NOTHING)
def test_nothing_to_explain_is_an_error(folder: Path, text: str) -> None:
    write_job(folder, text)
    for given in (text, "job.wql"):
        status, stdout, stderr = run("explain", given)
        assert (status, stdout, stderr[:7]) == (1, "", "[WB516]")


@pytest.mark.parametrize("name", ["nowhere.wql", "nowhere.sql", "nowhere"])
def test_explain_of_a_file_that_is_not_there_is_wrong_usage(name: str) -> None:
    status, _, stderr = run("explain", name)
    assert status == 2
    assert f"'{name}' does not exist" in " ".join(stderr.split())


RATES = {"temp": "STREAM=ROWS", "temp=x": "STREAM=ROWS", "tmp=5": "did you mean temp"}
RATES |= {f"temp={number}": "above 0" for number in ("-5", "0", "nan", "inf")}


@pytest.mark.parametrize("rate", RATES)
def test_a_rate_that_cannot_be_is_wrong_usage(folder: Path, rate: str) -> None:
    write_job(folder)
    status, _, stderr = run("explain", "job.wql", "--rate", rate)
    assert (status, RATES[rate] in stderr) == (2, True)
    assert run("explain", "job.wql", "--rate", "TEMP=5")[0] == 0


def test_without_spark_the_error_says_how_to_get_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("pyspark", "pyspark.sql"):  # the second is found by itself once it was imported
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "windrow.spark.driver.job", raising=False)
    write_job(folder)
    status, _, stderr = run("run", "job.wql")
    assert (status, "[WU510]" in stderr) == (1, True)


@pytest.mark.parametrize(
    "arguments", [["dmeo"], ["run"], ["demo", "--seed", "x"], ["run", "job.wql", "--fast"]]
)
def test_wrong_usage_ends_with_two(folder: Path, arguments: list[str]) -> None:
    write_job(folder)
    assert run(*arguments)[0] == 2


def test_version() -> None:
    assert run("--version") == (0, "windrow 0.1.0\n", "")


def test_what_runs_on_spark_only(folder: Path) -> None:
    write_job(folder, "CREATE STREAM s (ts TIMESTAMP, n BIGINT) TIME ts FROM rate();" + COUNTED)
    status, _, stderr = run("run", "job.wql", "--embedded")
    assert (status, "[WU502]" in stderr) == (1, True)


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    write_job(folder)
    (folder / "out").write_text("a file")
    status, _, stderr = run("run", "job.wql", "--embedded")
    assert (status, "[WD511]" in stderr, "^^^^^^" in stderr) == (1, True, True)


def test_files_of_an_earlier_run_are_not_mixed_with_those_of_this_one(folder: Path) -> None:
    write_job(folder)
    assert run("run", "job.wql", "--embedded")[0] == 0
    (folder / "out" / "mine.parquet").write_text("old")
    written = folder / "out" / "batch-000000000000.parquet"
    shutil.copy(written, folder / "out" / "batch-000000000099.parquet")
    assert run("run", "job.wql", "--embedded")[0] == 0
    names = {file.name for file in (folder / "out").iterdir()}
    assert "batch-000000000099.parquet" not in names
    assert {"mine.parquet", "batch-000000000000.parquet"} <= names


def test_files_of_a_job_on_spark_are_not_removed(folder: Path) -> None:
    write_job(folder)
    (folder / "out").mkdir()
    theirs = folder / "out" / "batch-000000000007.parquet"
    pq.write_table(pa.table({"n": [1]}), theirs)
    status, _, stderr = run("run", "job.wql", "--embedded")
    assert (status, "[WD513]" in stderr) == (1, True)
    assert pq.read_table(theirs)["n"].to_pylist() == [1]
    theirs.write_text("half of a file")
    assert "[WD513]" in run("run", "job.wql", "--embedded")[2]


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is full")
def test_output_that_cannot_be_written_is_told(folder: Path, options: list[str]) -> None:
    write_job(folder)
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "windrow", "check", "job.wql", *options]
        done = subprocess.run(
            command, cwd=folder, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr[:7]) == (1, "[WD512]")


def test_an_empty_file_and_a_time_that_is_none_are_told_with_their_file(folder: Path) -> None:
    write_job(folder)
    (folder / "smoke.csv").write_text("")
    assert "it is empty" in run("run", "job.wql", "--embedded")[2]
    (folder / "smoke.csv").write_text("location,ts,strength\nlab,noon,1\n")
    stderr = run("run", "job.wql", "--embedded")[2]
    assert "[WD506] smoke.csv" in stderr
    assert "smoke.csv, line 2, column 2 ('ts'): 'noon' is not TIMESTAMP" in stderr
