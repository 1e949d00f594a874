"""`windrow run`: the whole way from files to answers, in process and on Spark."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.building_files import SCRIPT, START, expected_alarms, write_job
from support.command_line import events, windrow


def answers_of(stdout: str, query: str) -> list[tuple[int, str, int]]:
    rows = [e for e in events(stdout) if e["event"] == "answer" and e["query"] == query]
    return [
        (
            round((datetime.fromisoformat(row["at"]) - START).total_seconds()),
            row["location"],
            row["n"],
        )
        for row in rows
    ]


def changes_in(folder: Path) -> pa.Table:
    return pa.concat_tables([pq.read_table(file) for file in sorted(folder.iterdir())])


def test_a_job_in_process_gives_every_answer(tmp_path: Path) -> None:
    write_job(tmp_path)
    done = windrow("run", "job.wql", "--embedded", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert answers_of(done.stdout, "alarms") == expected_alarms()
    results = [e for e in events(done.stdout) if e["event"] == "result"]
    assert [(e["query"], e["n"]) for e in results] == [("strength", 31)]
    left = changes_in(tmp_path / "out").group_by("location").aggregate([("change", "sum")])
    assert dict(zip(*left.to_pydict().values(), strict=True)) == {"kitchen": 1, "lab": 1}


@pytest.mark.long_spark
@pytest.mark.spark
def test_the_same_job_on_spark_gives_the_same(tmp_path: Path) -> None:
    for name in ("embedded", "spark"):
        (tmp_path / name).mkdir()
        write_job(tmp_path / name)
    embedded = windrow("run", "job.wql", "--embedded", "--json", folder=tmp_path / "embedded")
    spark = windrow("run", "job.wql", "--json", folder=tmp_path / "spark")
    assert spark.returncode == 0, spark.stderr
    shown = [
        [event for event in events(done.stdout) if event["event"] in ("answer", "result")]
        for done in (embedded, spark)
    ]
    assert shown[0] == shown[1]
    assert changes_in(tmp_path / "embedded" / "out") == changes_in(tmp_path / "spark" / "out")


def test_people_get_a_table_and_no_colour_off_a_terminal(tmp_path: Path) -> None:
    write_job(tmp_path)
    done = windrow("run", "job.wql", "--embedded", folder=tmp_path)
    assert done.returncode == 0
    assert "alarms:\nat                   location    n\n" in done.stdout
    assert "2026-01-01 00:00:40  kitchen    80\n" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert "Running job.wql" in done.stderr


def test_an_explain_in_a_script_prints_the_plan(tmp_path: Path) -> None:
    write_job(tmp_path, SCRIPT + "EXPLAIN SELECT COUNT(*) FROM temp [1 HOUR];")
    done = windrow("run", "job.wql", "--embedded", folder=tmp_path)
    assert "input temp [1 hour]" in done.stdout


def test_rows_set_aside_are_told(tmp_path: Path) -> None:
    # Rows of one batch never make each other late: the late one is in the next file.
    write_job(tmp_path, SCRIPT.replace("smoke.csv", "smoke*.csv"))
    (tmp_path / "smoke2.csv").write_text(
        "location,ts,strength\nlab,2026-01-01 00:00:01,0.9\nlab,,0.9\n"
    )
    done = windrow("run", "job.wql", "--embedded", "--json", folder=tmp_path)
    assert done.returncode == 0
    ledger = next(e for e in events(done.stdout) if e.get("stream") == "smoke")
    assert (ledger["rows_in"], ledger["late"], ledger["bad_time"]) == (202, 1, 1)
    assert "stream smoke: 1 rows set aside, which arrived later than the lateness" in done.stderr


JSONL = """\
CREATE STREAM s (ts TIMESTAMP, day DATE, k INT, price DECIMAL(10, 2), open BOOLEAN)
  TIME ts FROM jsonl('s-*.jsonl');
CREATE QUERY q AS SELECT day, SUM(price) AS total, COUNT(k) AS n FROM s [1 HOUR]
  WHERE open GROUP BY day INTO memory();
"""


def test_json_lines_from_several_files(tmp_path: Path) -> None:
    (tmp_path / "job.wql").write_text(JSONL)
    for number, zone in enumerate(("Z", "")):
        lines = [
            f'{{"ts": "2026-01-01T0{number}:00:0{i}{zone}", "day": "2026-01-01", "k": {i},'
            f' "price": "{i}.25", "open": true, "unknown": [1]}}'
            for i in range(3)
        ]
        lines.append(f'{{"ts": "2026-01-01T0{number}:00:03{zone}", "open": false}}')
        (tmp_path / f"s-{number}.jsonl").write_text("\n".join(lines) + "\n")
    done = windrow("run", "job.wql", "--embedded", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    result = next(e for e in events(done.stdout) if e["event"] == "result")
    # The clock ends at 01:00:03; of the first file only its last row, not open, is in the hour.
    assert (result["day"], result["total"], result["n"]) == ("2026-01-01", "3.75", 3)


def test_a_missing_script_is_wrong_usage(tmp_path: Path) -> None:
    done = windrow("run", "nothing.wql", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing.wql" in done.stderr


def test_bad_rows_of_files_are_set_aside_told_and_written(tmp_path: Path) -> None:
    aside = "TIME ts LATENESS 10 SECONDS MAX AHEAD 1 DAY ON BAD ROW SET ASIDE INTO parquet('bad')"
    write_job(tmp_path, SCRIPT.replace("TIME ts LATENESS 10 SECONDS", aside))
    with (tmp_path / "smoke.csv").open("ab") as file:
        file.write(b"lab,2026-01-01 00:03:19,much\n\xff,2026-01-01 00:03:19,1\n")
        file.write(b"lab\nlab,2199-01-01 00:00:00,1\n")
    done = windrow("run", "job.wql", "--embedded", "--json", folder=tmp_path)
    assert done.returncode == 0
    ledger = next(e for e in events(done.stdout) if e.get("stream") == "smoke")
    counts = [ledger[name] for name in ("rows_in", "applied", "bad_time", "bad_value", "waiting")]
    assert counts == [204, 200, 1, 3, 0]
    assert "stream smoke: 3 rows set aside, which had a value" in done.stderr
    assert "  smoke: smoke.csv, line 202, strength: 'much' is not DOUBLE" in done.stderr
    bad = pq.read_table(tmp_path / "bad").sort_by("line").to_pylist()
    assert [row["line"] for row in bad] == [202, 203, 204, None]
    assert [row["column"] for row in bad] == ["strength", "location", None, "ts"]


def test_a_row_of_the_year_2199_does_not_keep_its_file_from_being_read(tmp_path: Path) -> None:
    write_job(tmp_path)
    lines = (tmp_path / "smoke.csv").read_text().splitlines(keepends=True)
    lines.insert(1, "lab,2199-01-01 00:00:00,0.9\n")
    (tmp_path / "smoke.csv").write_text("".join(lines))
    done = windrow("run", "job.wql", "--embedded", "--json", folder=tmp_path)
    ledger = next(e for e in events(done.stdout) if e.get("stream") == "smoke")
    counts = [ledger[name] for name in ("rows_in", "applied", "late", "bad_time")]
    assert counts == [201, 200, 0, 1]
    assert [e for e in events(done.stdout) if e.get("query") == "alarms"]
