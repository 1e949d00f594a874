"""Files of several batches become one; whatever breaks off, each batch is there once."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow import sinks
from windrow.connectors.parquet import merged_files
from windrow.connectors.parquet.merged_files import batch_file
from windrow.connectors.parquet.writers import ParquetWriter
from windrow.errors import BindingError
from windrow.storage import Storage


class PowerCutError(Exception):
    """Nothing is written any more."""


class FailingStorage(Storage):
    """A folder that fails at one of its writes and removals."""

    left = -1

    def _spend(self) -> None:
        if self.left == 0:
            raise PowerCutError
        self.left -= 1

    def write(self, name: str, data: bytes | memoryview) -> None:
        self._spend()
        super().write(name, data)

    def remove(self, name: str) -> None:
        self._spend()
        super().remove(name)


def table_of(batch: int) -> pa.Table:
    return pa.table({"batch": [batch] * (batch % 3)}, schema=pa.schema([("batch", pa.int64())]))


def opened(folder: Path, batches_per_file: int) -> ParquetWriter:
    writer = ParquetWriter(sinks.parquet(folder, batches_per_file=batches_per_file))
    writer._storage = FailingStorage(folder, is_private=False)
    return writer


def rows_in(folder: Path) -> list[int]:
    files = sorted(folder.glob("*.parquet"))
    return [each for file in files for each in pq.read_table(file)["batch"].to_pylist()]


def wanted(batches: int) -> list[int]:
    return [batch for batch in range(batches) for _ in range(batch % 3)]


def test_files_become_few(tmp_path: Path) -> None:
    writer = opened(tmp_path, 10)
    for batch in range(35):
        writer.write({"answers": table_of(batch)}, batch)
        assert rows_in(tmp_path) == wanted(batch + 1)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names[:3] == [batch_file(8), batch_file(19), batch_file(29)]
    assert len(names) == 3 + 3  # of 30 to 34 two have no rows
    writer.write({"answers": table_of(35)}, 35)
    writer.close()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 7), st.integers(0, 12), st.integers(1, 9)), max_size=6))
def test_power_cuts_leave_each_batch_once(
    tmp_path_factory: pytest.TempPathFactory, runs: list[tuple[int, int, int]]
) -> None:
    """Each run has batches in a file as it likes, and ends at one of its writes."""
    folder = tmp_path_factory.mktemp("answers")
    batch = 0
    for batches_per_file, steps, count in [*runs, (5, -1, 11)]:
        writer = opened(folder, batches_per_file)
        writer.begin(batch, "q")
        assert isinstance(writer._storage, FailingStorage)
        writer._storage.left = steps
        try:
            for _ in range(count):
                writer.write({"answers": table_of(batch)}, batch)
                batch += 1
        except PowerCutError:
            pass
        writer.close()
    merged_files.finish_merge(Storage(folder, is_private=False))
    assert rows_in(folder) == wanted(batch)


def test_large_files_stay_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged_files, "MERGED_BYTES_LIMIT", 100)
    writer = opened(tmp_path, 2)
    for batch in range(8):
        writer.write({"answers": table_of(batch)}, batch)
    assert len(list(tmp_path.iterdir())) == 5
    writer.close()


def test_in_process_files_become_few_too(tmp_path: Path) -> None:
    writer = sinks.parquet(tmp_path, batches_per_file=4).open("q", None)
    for batch in range(9):
        writer.write({"answers": table_of(batch)}, batch)
    assert rows_in(tmp_path) == wanted(9)
    assert len(list(tmp_path.iterdir())) == 3
    again = sinks.parquet(tmp_path).open("q", None)  # they are replaced like any others
    assert list(tmp_path.iterdir()) == []
    again.close()


def test_no_file_holds_less_than_a_batch(tmp_path: Path) -> None:
    with pytest.raises(BindingError, match=r"WB474.*0 batches"):
        sinks.parquet(tmp_path, batches_per_file=0)
