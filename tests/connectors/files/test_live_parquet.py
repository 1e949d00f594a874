"""Folders that fill with Parquet files: each once, when it is complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from windrow import sources
from windrow.connectors.files import parquet_files
from windrow.connectors.files.live_parquet import LiveParquet
from windrow.errors import DataError
from windrow.schema import StreamSchema, columns_of

SCHEMA = StreamSchema("s", columns_of("ts timestamp, x bigint"), "ts")


def write(path: Path, *numbers: int) -> bytes:
    times = pa.array([0] * len(numbers), pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"ts": times, "x": pa.array(numbers, pa.int64())}), path)
    return path.read_bytes()


class Reading:
    def __init__(self, folder: Path) -> None:
        self.source = sources.parquet(folder, follow=True)
        self.now_s, self.position = 0.0, None
        self.open()

    def open(self) -> None:
        position: Any = json.loads(json.dumps(self.position))
        self.reader = LiveParquet(SCHEMA, self.source, position, lambda: self.now_s)

    def read(self, most: int = 100) -> list[int]:
        found: list[int] = []
        self.now_s += 1
        for _ in range(most):
            polled = self.reader.poll(1000, 0)
            if polled is None:
                break
            found += polled.rows.batch["x"].to_pylist()
            self.position = polled.position
        return found


def test_files_come_and_are_read_once(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    assert reading.read() == []
    write(tmp_path / "b", 3, 4)
    write(tmp_path / "a", 1, 2)
    assert reading.read() == [1, 2, 3, 4]
    whole = write(tmp_path / "c", 5)
    (tmp_path / "c").write_bytes(whole[:-3])
    assert reading.read() == []
    (tmp_path / "c").write_bytes(whole)
    reading.open()
    assert reading.read() == [5]
    (tmp_path / "a").unlink()
    write(tmp_path / "d", 6)
    assert reading.read() == [6]
    assert len(reading.position or {}) == 3


def test_a_file_goes_on_behind_its_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "BATCH_ROWS", 2)
    write(tmp_path / "a", *range(7))
    found = []
    reading = Reading(tmp_path)
    for most in (1, 2, 100):
        found += reading.read(most)
        reading.open()
    assert found == [*range(7)]
    assert reading.read() == []


def test_a_file_of_other_columns_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"y": [1]}), tmp_path / "a")
    with pytest.raises(DataError, match="WD505"):
        Reading(tmp_path).read()
