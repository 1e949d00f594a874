"""Files with rows that cannot be read: each is named by file, line and column, or set aside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support import damaged_columns
from windrow.connectors.files import csv_files, jsonl_files
from windrow.connectors.files.checks import check_files
from windrow.connectors.files.reading import batches_of
from windrow.errors import DataError
from windrow.rows.bad_rows import BadRow
from windrow.schema import StreamSchema, columns_of
from windrow.sources import FileSource

COLUMNS = "k string, ts timestamp, x int"
TIME = "2026-01-01 00:00:0"


def stream(policy: str = "auto") -> StreamSchema:
    return StreamSchema("s", columns_of(COLUMNS), "ts", on_bad_row=policy)


def read(file: Path, policy: str, **options: Any) -> tuple[list[dict[str, Any]], list[BadRow]]:
    source = FileSource(file.suffix[1:], str(file), **options)
    check_files(stream(policy), source)
    pieces = [rows for rows, _ in batches_of(stream(policy), source)]
    good = [row for rows in pieces for row in rows.batch.to_pylist()]
    return good, [row for rows in pieces for row in rows.bad]


def refusal(file: Path, policy: str, **options: Any) -> DataError:
    with pytest.raises(DataError, match="WD506") as caught:
        read(file, policy, **options)
    return caught.value


def csv_of(folder: Path, *lines: bytes) -> Path:
    file = folder / "s.csv"
    file.write_bytes(b"k,ts,x\n" + b"".join(line + b"\n" for line in lines))
    return file


def jsonl_of(folder: Path, *lines: bytes) -> Path:
    file = folder / "s.jsonl"
    file.write_bytes(b"".join(line + b"\n" for line in lines))
    return file


GOOD_CSV = f"a,{TIME}1,1".encode()
CSV_FAULTS = {
    "value": (f"a,{TIME}2,one".encode(), "column 3 ('x'): 'one' is not INT"),
    "too large": (f"a,{TIME}2,{2**40}".encode(), "column 3 ('x'): '1099511627776' is not INT"),
    "time": (b"a,noon,1", "column 2 ('ts'): 'noon' is not TIMESTAMP"),
    "too few": (b"a", "Expected 3 columns, got 1"),
    "too many": (f"a,{TIME}2,1,1".encode(), "Expected 3 columns, got 4"),
}


@pytest.mark.parametrize("fault", CSV_FAULTS)
@pytest.mark.parametrize("policy", ["auto", "fail"])
def test_a_line_of_csv_that_cannot_be_read_is_named(
    tmp_path: Path, fault: str, policy: str
) -> None:
    line, said = CSV_FAULTS[fault]
    file = csv_of(tmp_path, GOOD_CSV, f'"a\nb",{TIME}1,1'.encode(), b"", line, GOOD_CSV)
    message = refusal(file, policy).message
    assert message.startswith(f"{file}, line 6")
    assert said in message


@pytest.mark.parametrize("fault", CSV_FAULTS)
def test_lines_of_csv_that_cannot_be_read_are_set_aside(tmp_path: Path, fault: str) -> None:
    line, said = CSV_FAULTS[fault]
    good, bad = read(csv_of(tmp_path, line, GOOD_CSV, GOOD_CSV, line, line), "set aside")
    assert [row["x"] for row in good] == [1, 1]
    assert [row.line for row in bad] == [2, 5, 6]
    assert said.partition(": ")[2] in bad[0].why or said in bad[0].why
    assert bad[0].row == line.decode()


JSON_GOOD = f'{{"k": "a", "ts": "{TIME}1", "x": 1}}'.encode()
JSON_FAULTS = {
    "value": (b'{"x": "one"}', "column 3 ('x'): 'one' is not INT"),
    "fraction": (b'{"x": 1.5}', "column 3 ('x'): 1.5 is not INT"),
    "time": (b'{"ts": "noon"}', "column 2 ('ts'): 'noon' is not TIMESTAMP"),
    "nested": (b'{"k": {"a": 1}}', "column 1 ('k'): {'a': 1} is not STRING"),
    "cut off": (b'{"k": "a"', "it is not JSON: Expecting ',' delimiter at character 1"),
    "no object": (b"[1]", "it is not a JSON object"),
    "null and more": (b'null {"x": 1}', "it is not JSON: Extra data at character 6"),
}


@pytest.mark.parametrize("fault", JSON_FAULTS)
@pytest.mark.parametrize("first", [True, False])
def test_a_line_of_json_that_cannot_be_read_is_named_or_set_aside(
    tmp_path: Path, fault: str, first: bool
) -> None:
    line, said = JSON_FAULTS[fault]
    lines = [line, JSON_GOOD, b"", JSON_GOOD] if first else [JSON_GOOD, b"", line, JSON_GOOD]
    file = jsonl_of(tmp_path, *lines)
    for policy in ("auto", "fail"):
        message = refusal(file, policy).message
        assert message.startswith(f"{file}, line {1 if first else 3}")
        assert said in message
    good, bad = read(file, "set aside")
    assert [row["x"] for row in good] == [1, 1]
    assert [row.line for row in bad] == [1 if first else 3]


@pytest.mark.parametrize("lines", [[b"null"], [b" null\r", b"null"], [b"null", JSON_GOOD]])
def test_lines_that_say_null_are_rows_without_anything(tmp_path: Path, lines: list[bytes]) -> None:
    good, bad = read(jsonl_of(tmp_path, *lines), "auto")
    assert len(good) == len(lines)
    assert (good[0], bad) == ({"k": None, "ts": None, "x": None}, [])


def test_text_that_is_not_utf8_is_set_aside_unless_fail_is_asked(tmp_path: Path) -> None:
    damaged = {
        "s.csv": csv_of(tmp_path, GOOD_CSV, b"\xff" + GOOD_CSV, GOOD_CSV),
        "s.jsonl": jsonl_of(tmp_path, b"", JSON_GOOD, JSON_GOOD.replace(b"a", b"\xff"), JSON_GOOD),
    }
    rows = pa.table({
        "k": damaged_columns.texts([b"a", b"b", b"\xff", b"d"]),
        "ts": pa.array([1, 2, 3, 4]).cast(pa.timestamp("us", "UTC")),
        "x": pa.array([1, 2, 3, 4], pa.int32()),
    })  # fmt: skip
    damaged["s.parquet"] = tmp_path / "s.parquet"
    pq.write_table(rows, damaged["s.parquet"])
    for file in damaged.values():
        good, bad = read(file, "auto")
        assert len(good) == (3 if file.suffix == ".parquet" else 2)
        (row,) = bad
        assert (row.line, row.column, row.file) == (3, "k", str(file))
        of_what = "row" if file.suffix == ".parquet" else "line"
        said = f"{file}, {of_what} 3, column 1 ('k'): its text is not UTF-8"
        assert said in refusal(file, "fail").message


def test_a_row_of_parquet_that_does_not_fit_is_named_or_set_aside(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    times = pa.array([1, 2, 3]).cast(pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"k": ["a", "b", "c"], "ts": times, "x": [1, 2**40, 3]}), file)
    assert f"{file}, row 2, column 3 ('x')" in refusal(file, "auto").message
    good, bad = read(file, "set aside")
    assert ([row["x"] for row in good], [row.line for row in bad]) == ([1, 3], [2])


def test_bad_lines_are_found_behind_many_good_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 300)
    monkeypatch.setattr(csv_files, "CAREFUL_RECORDS", 7)
    monkeypatch.setattr(jsonl_files, "BLOCK_BYTES", 300)
    wrong = {3, 4, 40, 99}
    csv_lines = [GOOD_CSV + (b"x" if i in wrong else b"") for i in range(100)]
    json_lines = [b"oh" if i in wrong else JSON_GOOD for i in range(100)]
    good, bad = read(csv_of(tmp_path, *csv_lines), "set aside")
    assert (len(good), [row.line for row in bad]) == (96, [i + 2 for i in sorted(wrong)])
    good, bad = read(jsonl_of(tmp_path, *json_lines), "set aside")
    assert (len(good), [row.line for row in bad]) == (96, [i + 1 for i in sorted(wrong)])


def test_a_quote_that_nobody_closes_costs_one_row_where_it_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windrow.connectors.files.csv_records.LONGEST_RECORD_BYTES", 100)
    file = csv_of(tmp_path, GOOD_CSV, b'"' + GOOD_CSV, *[GOOD_CSV] * 20)
    good, bad = read(file, "set aside")
    assert (len(good), [row.line for row in bad]) == (21, [3])


def test_a_line_of_json_that_never_ends_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonl_files, "BLOCK_BYTES", 100)
    monkeypatch.setattr(jsonl_files, "LONGEST_LINE_BYTES", 1000)
    file = jsonl_of(tmp_path, JSON_GOOD, b'{"k": "' + b"a" * 5000)
    assert f"{file}, line 2: it is longer than 1,000 bytes" in refusal(file, "set aside").message
