"""Files of a source that go, shrink or are written over between the listing and the last row."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from windrow.connectors.files import checks, parquet_files, reading
from windrow.connectors.files.checks import check_files
from windrow.connectors.files.reading import batches_of
from windrow.errors import DataError
from windrow.schema import StreamSchema, columns_of
from windrow.sources import FileSource

SCHEMA = StreamSchema("s", columns_of({"ts": "timestamp", "n": "bigint"}), "ts")
ROWS = pa.table(
    {"ts": pa.array(range(1_000), pa.timestamp("us", tz="UTC")), "n": list(range(1_000))}
)


def write(file: Path, rows: pa.Table = ROWS) -> FileSource:
    if file.suffix == ".csv":
        pa_csv.write_csv(rows, file)
    else:
        pq.write_table(rows, file)
    return FileSource(file.suffix[1:], str(file), header=True)


def read(source: FileSource) -> int:
    return sum(rows.num_rows for rows, _ in batches_of(SCHEMA, source))


def test_a_file_that_goes_before_it_is_read_is_missed(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / f"{number}.parquet")
    batches = batches_of(SCHEMA, FileSource("parquet", str(tmp_path)))
    (tmp_path / "1.parquet").unlink()
    with pytest.raises(DataError, match=r"WD506.*1\.parquet"):
        list(batches)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_goes_before_it_is_looked_into_is_missed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / f"a.{kind}")
    monkeypatch.setattr(checks, "files_of", lambda _: [tmp_path / f"gone.{kind}"])
    with pytest.raises(DataError, match=rf"WD508.*gone\.{kind} cannot be read: No such file"):
        check_files(SCHEMA, source)


def changed_meanwhile(file: Path, how: str) -> None:
    if how == "truncated":
        with file.open("r+b") as opened:
            opened.truncate(100)
    elif how == "written over":
        os.utime(file, (1, 1))
    elif how == "replaced":
        other = file.with_name("other")
        other.write_bytes(file.read_bytes())
        other.replace(file)
    elif how == "grown":
        with file.open("ab") as opened:
            opened.write(b"1970-01-01 00:00:00Z,1\n")
    elif how == "gone":
        file.unlink()


@pytest.mark.parametrize(
    ("kind", "how", "is_told"),
    [
        ("csv", "truncated", True),
        ("csv", "written over", True),
        ("csv", "replaced", True),
        ("csv", "grown", False),
        ("csv", "gone", False),
        ("parquet", "grown", True),
        ("parquet", "written over", True),
    ],
)
def test_a_file_that_changes_while_it_is_read(
    kind: str, how: str, is_told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (reading, parquet_files):
        monkeypatch.setattr(module, "BATCH_ROWS", 100)
    file = tmp_path / f"a.{kind}"
    batches = batches_of(SCHEMA, write(file))
    first, _ = next(batches)
    assert first.num_rows == 100
    changed_meanwhile(file, how)
    if is_told:
        with pytest.raises(DataError, match=rf"WD507.*a\.{kind} has changed"):
            list(batches)
    else:
        assert sum(rows.num_rows for rows, _ in batches) == 900


def test_a_file_that_stays_is_read(tmp_path: Path) -> None:
    assert read(write(tmp_path / "a.csv")) == 1_000
