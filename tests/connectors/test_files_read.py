"""A file of a source that goes, or changes, between the moment it is listed and the end of a batch.

Spark leaves the first out without a word, and of the second it reads what it expected.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from support.spark.stream_files import COLUMNS, SECOND, Sessions, rows
from windrow import sinks, sources
from windrow.connectors.files.spark_files_read import PlannedFile, changed_file
from windrow.errors import DataError, WindrowError
from windrow.spark.driver import streaming_run

TEXT = "SELECT room, COUNT(*) AS n FROM s [1 HOUR] GROUP BY room"


def planned(file: Path) -> PlannedFile:
    found = file.stat()
    return PlannedFile(f"file:{file}", found.st_size, found.st_mtime_ns // 1_000_000)


def test_a_file_is_the_same_or_not(tmp_path: Path) -> None:
    file = tmp_path / "a b; ü.csv"
    file.write_text("1\n2\n")
    before = planned(file)
    assert changed_file([before]) is None
    with file.open("a") as more:
        more.write("3\n")
    assert changed_file([before]) == str(file)
    grown = planned(file)
    os.utime(file, (1, 1))  # written over with as many bytes
    assert changed_file([grown]) == str(file)
    file.unlink()  # Spark would have failed to open it: it was read before
    assert changed_file([grown]) is None


def put(folder: Path, number: int) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / f"{number}.csv"
    pa_csv.write_csv(rows(*((f"r{number}", i * SECOND, 1.0) for i in range(300))), file)
    os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
    return file


def refuse(table: pa.Table, batch_id: int) -> None:  # noqa: ARG001 - a sink is given them
    raise DataError("WD999", "the sink takes nothing")


def run(sessions: Sessions, folder: Path, sink: Any) -> list[dict[str, Any]]:
    session = sessions.open()
    session.stream("s", COLUMNS, time="ts", source=sources.csv(folder, header=True))
    query = session.query(TEXT, name="q").start(sink, trigger="available")
    try:
        session.finish()
        return sorted(query.result().to_pylist(), key=lambda row: str(row["room"]))
    finally:
        session.stop()


@pytest.mark.long_spark
@pytest.mark.spark
def test_no_file_is_left_out_in_silence(
    sessions: Sessions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    put(folder, 1)
    file = put(folder, 2)
    kept = file.read_bytes()
    with pytest.raises(WindrowError, match="WD999"):
        run(sessions, folder, sinks.foreach(refuse))  # the batch is listed, not committed
    file.unlink()
    with pytest.raises(DataError, match=r"WD430.*/2\.csv was found") as vanished:
        run(sessions, folder, "memory")
    assert "put it back" in vanished.value.hint
    file.write_bytes(kept)
    check = streaming_run.check_files_read

    def grown(spark: Any) -> None:
        with file.open("ab") as more:
            more.write(b"r9,1970-01-01 00:00:01Z,1\n")
        check(spark)

    monkeypatch.setattr(streaming_run, "check_files_read", grown)
    with pytest.raises(DataError, match=r"WD431.*/2\.csv has changed"):
        run(sessions, folder, "memory")
    monkeypatch.undo()
    found = run(sessions, folder, "memory")
    assert [(row["room"], row["n"]) for row in found] == [("r1", 300), ("r2", 300), ("r9", 1)]
