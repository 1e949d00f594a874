"""Bad rows of a stream go where it says, with their bytes; the ledger counts them all."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

import windrow
from windrow.connectors.dead_letters import line_file
from windrow.connectors.dead_letters.places import letters_place, opened_letters
from windrow.errors import BindingError, DataError, UnsupportedError
from windrow.jobs.job import job_of
from windrow.rows.bad_rows import RAW_BYTES, BadRow, BadRows
from windrow.sql.statements import Endpoint

SCRIPT = """
CREATE STREAM s (ts TIMESTAMP, x INT) TIME ts ON BAD ROW SET ASIDE INTO {into} FROM csv('{csv}');
CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [1 HOUR] INTO memory();
"""


def letters(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_rows_of_a_file_that_are_bad_go_to_a_file_of_lines(tmp_path: Path) -> None:
    csv, bad = tmp_path / "in.csv", tmp_path / "new" / "bad.jsonl"
    csv.write_bytes(b"ts,x\n2026-01-01,1\n2026-01-01,\xff\n2026-01-01,no\n2026-01-02,2\n")
    script = tmp_path / "job.wql"
    script.write_text(SCRIPT.format(into=f"jsonl('{bad}')", csv=csv))
    job = job_of(script.read_text())
    into = job.streams["s"].schema.bad_rows_into
    assert into == str(bad)
    session = windrow.connect()
    schema = job.streams["s"].schema
    session.stream("s", schema.types, time="ts", on_bad_row="set aside", bad_rows_into=into)
    source = job.streams["s"].source
    assert source is not None
    for rows, _ in source.read(schema):
        session.push("s", rows)
    session.finish()
    told = letters(bad)
    assert [(each["number"], each["column"], each["place"]) for each in told] == [
        (3, "x", str(csv)),
        (4, "x", str(csv)),
    ]
    assert [base64.b64decode(str(each["raw"])) for each in told] == [
        b"2026-01-01,\xff\n",
        b"2026-01-01,no\n",
    ]
    assert {each["stream"] for each in told} == {"s"}
    assert not any(each["is_cut"] for each in told)
    assert session.ledger().to_pylist()[0]["bad_value"] == 2


def test_rows_that_are_pushed_are_shown(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    for run in range(2):
        session = windrow.connect()
        session.stream(
            "s", "ts timestamp, x int", time="ts", on_bad_row="set aside", bad_rows_into=bad
        )
        session.push("s", [{"ts": "2026-01-01", "x": f"no {run}"}, {"ts": "2026-01-01", "x": 1}])
    told = letters(bad)
    assert ["no 0" in str(each["row"]) for each in told] == [True, False]
    assert [each["raw"] for each in told] == [None, None]


def test_a_file_is_bounded_and_its_newest_lines_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_file, "MOST_LETTERS_BYTES", 2_000)
    bad = tmp_path / "bad.jsonl"
    into = opened_letters("s", str(bad))
    for number in range(100):
        into.add([BadRow("why", line=number, raw=b"x" * 40)])
        assert bad.stat().st_size <= 2_000
    older = letters(tmp_path / "bad.jsonl.1")
    numbers = [each["number"] for each in [*older, *letters(bad)]]
    assert numbers == [*range(100 - len(numbers), 100)]
    assert len(numbers) > 7
    # One that is larger than the limit is written all the same.
    into.add([BadRow("why", line=100, raw=b"x" * 4_000)])
    assert letters(bad)[-1]["number"] == 100


def test_a_line_that_a_crash_has_cut_ends_there(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b'{"at": "2026')
    opened_letters("s", str(bad)).add([BadRow("why")])
    broken, whole = bad.read_text().splitlines()
    assert broken == '{"at": "2026'
    assert json.loads(whole)["why"] == "why"


def test_bytes_go_with_a_row_only_until_it_is_written(tmp_path: Path) -> None:
    row = BadRow("why", raw=b"x" * RAW_BYTES)
    assert row.nbytes > RAW_BYTES
    kept = BadRows()
    kept.add([row])
    assert kept.nbytes < 1_000
    bad = tmp_path / "bad.jsonl"
    opened_letters("s", str(bad)).add([row])
    assert letters(bad)[0]["is_cut"]


def test_places_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="WD514"):
        opened_letters("s", str(tmp_path / "file" / "bad.jsonl"))
    wrong = Endpoint("jsonl", ("bad.txt",), ())
    with pytest.raises(BindingError, match=r"WB526.*bad\.txt"):
        letters_place(wrong)
    with pytest.raises(BindingError, match=r"WB526.*console"):
        letters_place(Endpoint("console", (), ()))
    options = (("servers", "h:1"), ("kafka.security.protocol", "SSL"))
    with pytest.raises(BindingError, match="WB875"):
        letters_place(Endpoint("kafka", ("t",), options))
    assert letters_place(Endpoint("kafka", ("t",), options[:1])) == "kafka://h:1/t"
    with pytest.raises(DataError, match="WD481"):
        opened_letters("s", "kafka://127.0.0.1:1/t")
    job = job_of(SCRIPT.format(into="jsonl('bad.jsonl')", csv="in.csv"))
    with pytest.raises(UnsupportedError, match="WU506"):
        job.check_on_spark()
