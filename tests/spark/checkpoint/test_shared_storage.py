"""Where files lie: what pyarrow is asked for, and what Spark is told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyarrow import fs
from pyspark.errors import PySparkException

from windrow.errors import BindingError, CheckpointError
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.cluster import check_executors, refuse_temporary
from windrow.storage import Storage
from windrow.version import __version__


@pytest.mark.parametrize("given", ["{path}", "file:{path}", "file://{path}"])
def test_spark_is_told_that_a_folder_is_one_of_this_file_tree(tmp_path: Path, given: str) -> None:
    checkpoint = QueryCheckpoint(Storage(given.format(path=tmp_path)), "q")
    assert checkpoint.spark_location == f"file://{tmp_path}/q/spark"
    assert checkpoint.control.uri == f"file://{tmp_path}/q/control"


def test_a_folder_may_have_a_space_and_a_sign(tmp_path: Path) -> None:
    folder = tmp_path / "a b%c"
    assert Storage(folder).uri == f"file://{folder}"
    assert Storage(folder.as_uri()).local_path == folder


def test_what_hadoop_calls_s3a_is_s3_to_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def from_uri(uri: str) -> tuple[fs.FileSystem, str]:
        asked.append(uri)
        return fs._MockFileSystem(), "bucket/folder"

    opener = SimpleNamespace(from_uri=from_uri)
    monkeypatch.setattr("windrow.storage.fs.FileSystem", opener)
    for uri in ("s3a://bucket/folder/", "gs://bucket/folder"):
        assert Storage(uri).uri == uri.rstrip("/")
    assert asked == ["s3://bucket/folder/", "gs://bucket/folder"]


@pytest.mark.parametrize("location", ["dbfs:/folder", "wasbs://c@a.host/folder", "hdfs:///folder"])
def test_an_address_that_cannot_be_opened_is_refused(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def from_uri(_uri: str) -> tuple[fs.FileSystem, str]:
        raise OSError("Unable to load libhdfs\nwhere it was looked for")

    if location.startswith("hdfs"):  # what happens depends on the machine
        monkeypatch.setattr("windrow.storage.fs.FileSystem", SimpleNamespace(from_uri=from_uri))
    with pytest.raises(CheckpointError, match=f"WC204.*{location}") as caught:
        Storage(location)
    assert "\n" not in caught.value.message


class Tasks:
    """A cluster whose executors give what a test says, or fail."""

    def __init__(self, given: Any, master: str = "spark://host:7077") -> None:
        self.sparkContext: Any = self
        self.master = master
        self.defaultParallelism = 2
        self._given = given
        self._look: Any = None

    def parallelize(self, _numbers: range, _tasks: int) -> Tasks:
        return self

    def mapPartitions(self, look: Any) -> Tasks:  # noqa: N802 - the name is Spark's
        self._look = look
        return self

    def collect(self) -> list[Any]:
        if isinstance(self._given, Exception):
            raise self._given
        return self._given if self._given is not None else list(self._look([0]))


def test_executors_that_see_the_checkpoint_are_fine(tmp_path: Path) -> None:
    check_executors(Tasks(None), Storage(tmp_path))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*,4]"])
def test_one_process_needs_nothing(master: str, tmp_path: Path) -> None:
    tasks: Any = Tasks(AssertionError(), master)
    refuse_temporary(tasks)
    check_executors(tasks, Storage(tmp_path))


@pytest.mark.parametrize("master", ["yarn", "spark://host:7077", "local-cluster[2,1,1024]"])
def test_a_cluster_needs_a_checkpoint(master: str) -> None:
    tasks: Any = Tasks(None, master)
    with pytest.raises(BindingError, match="WB490"):
        refuse_temporary(tasks)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ([("host", __version__, True), ("other", "0.0.1", True)], r"WB491.*other.*0\.0\.1"),
        ([("host", __version__, False)], "WB492.*host"),
        (PySparkException("ModuleNotFoundError: No module named 'windrow'"), "WB493.*No module"),
    ],
)
def test_executors_that_cannot_work_are_named(given: Any, code: str, tmp_path: Path) -> None:
    tasks: Any = Tasks(given)
    with pytest.raises(BindingError, match=code):
        check_executors(tasks, Storage(tmp_path))
