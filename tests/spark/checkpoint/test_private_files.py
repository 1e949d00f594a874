"""Who may read a checkpoint, and what is said when a disk is full or must not be written to."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

from spark.worker.test_history_step import BY_ROOM, H, batches_of_h, in_order, kept_of_h
from spark.worker.test_two_attempts import JOIN, plan_of
from support.spark.driven_job import DrivenJob
from support.spark.history_buckets import Buckets
from support.spark.stream_files import random_batches
from windrow import storage as storage_module
from windrow.connectors.parquet.writers import ParquetWriter
from windrow.errors import CheckpointError, DataError
from windrow.plan.history_schema import declared_history
from windrow.sinks import parquet
from windrow.spark.checkpoint.driver_lease import DriverLease
from windrow.spark.checkpoint.history_checkpoint import HistoryCheckpoint
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.failures import failure_of
from windrow.storage import Storage


def modes(folder: Path) -> set[str]:
    """The rights of all that is in a folder, and of itself."""
    return {
        f"{'folder' if path.is_dir() else 'file'} {stat.S_IMODE(path.stat().st_mode):o}"
        for path in [folder, *folder.rglob("*")]
    }


def fill(folder: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(folder), "q")
    checkpoint.identity()
    DriverLease(checkpoint.storage, "query 'q'", lambda: False).take()
    checkpoint.control.write("order.json", b"{}")
    HistoryCheckpoint(Storage(folder), "h").claim(HISTORY, 1, None)


HISTORY = declared_history(H, ["value"], ["room"], [("1 second", "forever")])


def test_a_checkpoint_is_closed_to_others(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        fill(tmp_path / "deep" / "state")
    finally:
        os.umask(before)
    assert modes(tmp_path / "deep") == {"folder 700", "file 600"}


def test_a_group_that_was_let_in_stays_so(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o775)
    before = os.umask(0o002)
    try:
        Storage(tmp_path / "shared").inside("q").write("a", b"1")
    finally:
        os.umask(before)
    assert modes(tmp_path / "shared" / "q") == {"folder 770", "file 660"}


def test_an_archive_is_closed_to_others_and_answers_are_not(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        buckets = kept_of_h(1, tmp_path / "archive")
        push_all(buckets)
        writer = ParquetWriter(parquet(tmp_path / "answers"))
        writer.write({"answers": pa.table({"n": [1]})}, 0)
    finally:
        os.umask(before)
    assert modes(tmp_path / "archive") == {"folder 700", "file 600"}
    assert modes(tmp_path / "answers") == {"folder 755", "file 644"}


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENOSPC, "WC207"), (errno.EDQUOT, "WC207"), (errno.EROFS, "WC206")],
)
def test_what_the_disk_refuses_is_told_as_it_is(
    number: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(tmp_path / "state")
    storage.write("a", b"before")

    class Refusing:
        def __enter__(self) -> Refusing:
            return self

        def __exit__(self, *_: object) -> None:
            return

        def write(self, data: bytes) -> None:  # noqa: ARG002 - as a file
            raise OSError(number, os.strerror(number))

    def refusing(path: Path) -> Any:
        path.touch()
        return Refusing()

    monkeypatch.setattr(storage_module, "create_private", refusing)
    with pytest.raises(CheckpointError, match=rf"{code}.*state/a.*{os.strerror(number)}") as told:
        storage.write("a", b"after")
    assert "new one" not in told.value.hint
    assert storage.read("a") == b"before"
    assert os.listdir(tmp_path / "state") == ["a"]


def test_a_lock_that_cannot_be_made_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage(tmp_path)
    (tmp_path / "driver.lock").mkdir()
    with pytest.raises(CheckpointError, match=r"WC206.*driver\.lock"):
        DriverLease(storage, "query 'q'", lambda: False).take()
    monkeypatch.setattr(storage_module.fs, "FileSelector", lambda *_, **__: _refuse())
    with pytest.raises(CheckpointError, match="WC203"):
        storage.names()


def _refuse() -> None:
    raise OSError(errno.EACCES, "Permission denied")


STATE_STORE = (
    "[CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT] Error writing state store files for provider"
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("java.io.IOException: No space left on device", "WC208"),
        (f"{STATE_STORE}\nCaused by: java.io.IOException: No space left on device", "WC208"),
        ("org.rocksdb.RocksDBException: IO error: No space left on device: /tmp/7.sst", "WC208"),
        ("OSError: [Errno 122] Disk quota exceeded", "WC208"),
        (f"{STATE_STORE}\nCaused by: java.io.IOException: Read-only file system", "WC209"),
        (f"{STATE_STORE}\nCaused by: java.io.EOFException", "WC223"),
        ("java.io.FileNotFoundException: /in/a.csv (Permission denied)", "WX401"),
    ],
)
def test_what_the_disk_refuses_spark_is_told_as_it_is(text: str, code: str) -> None:
    error = failure_of("query 'q'", PySparkException(text))
    assert error.code == code
    assert ("new one" in error.hint) == (code == "WC223")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, text=True)
    except OSError as problem:
        pytest.skip(f"a small disk cannot be mounted here: {problem}")
    if mounted.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_told_and_nothing_on_it_is_lost(small_disk: Path) -> None:
    storage = Storage(small_disk / "state")
    storage.write("kept", b"1")
    with pytest.raises(CheckpointError, match="WC207"):
        storage.write("large", bytes(1 << 20))
    storage.write("small", bytes(10_000))  # what was written in part has gone
    assert (storage.names(), storage.read("kept")) == (["kept", "small"], b"1")


def push_all(buckets: Buckets) -> None:
    for table in batches_of_h(14):
        buckets.push(table)


def test_an_archive_without_a_place_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    buckets = kept_of_h(1, tmp_path / "file" / "archive")
    with pytest.raises(DataError, match=r"WD520.*nothing can be written.*archive"):
        push_all(buckets)


def test_a_history_goes_on_when_there_is_room_again(small_disk: Path) -> None:
    steady, buckets = kept_of_h(1), kept_of_h(1, small_disk / "archive")
    failed: list[DataError] = []
    for table in batches_of_h(14):
        filler = fill_up(small_disk)
        before = [state.copy() for state in buckets.states]
        try:
            buckets.push(table)
        except DataError as error:
            failed.append(error)
            filler.unlink()
            buckets.states = before
            buckets.push(table)
        filler.unlink(missing_ok=True)
        steady.push(table)
    assert failed
    assert all(error.code == "WD520" and "the disk is full" in error.message for error in failed)
    recent = BY_ROOM.replace("1970-01-01", "1970-01-01 00:01:55")
    assert in_order(buckets.ask(recent)) == in_order(steady.ask(recent))


def fill_up(disk: Path) -> Path:
    """A file that takes all the room there is."""
    room = os.statvfs(disk)
    filler = disk / "filler"
    filler.write_bytes(bytes(room.f_bavail * room.f_bsize))
    return filler


def test_a_query_goes_on_when_there_is_room_again(small_disk: Path, tmp_path: Path) -> None:
    made = random_batches(3, seed=3)
    steady = DrivenJob(plan_of(JOIN), tmp_path / "steady")
    job = DrivenJob(plan_of(JOIN), small_disk / "state")
    wanted = [steady.batch(batch) for batch in made]
    assert job.batch(made[0]) == wanted[0]
    filler = fill_up(small_disk)
    before = [state.copy() for state in job.states]
    with pytest.raises(CheckpointError, match="WC207"):
        job.batch(made[1])
    filler.unlink()
    job.states = before
    assert [job.batch(batch) for batch in made[1:]] == wanted[1:]
