"""What is left in memory and in the temporary directory when sessions stop or are killed."""

from __future__ import annotations

import errno
import os
import platform
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from windrow.spark.processes import leftovers
from windrow.spark.worker import live_cache
from windrow.spark.worker.live_cache import LiveShelf


@pytest.fixture
def ended() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_folders_and_old_logs_of_ended_processes_are_swept_away(
    tmp_path: Path, ended: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(leftovers, "_LOGS", {})
    own = leftovers.temporary_folder()
    host = platform.node()
    gone, new, other = (f"windrow-{host}-{ended}-abc", f"windrow-{host}-{ended}.log", "windrow-x")
    (tmp_path / gone / "query").mkdir(parents=True)
    (tmp_path / other).mkdir()
    (tmp_path / f"windrow-elsewhere-{ended}-abc").mkdir()
    (tmp_path / new).touch()
    os.close(leftovers.opened_log())
    (log,) = tmp_path.glob(f"windrow-{host}-{os.getpid()}-*.log")
    left = {own.name, log.name, new, other, f"windrow-elsewhere-{ended}-abc"}
    assert {path.name for path in tmp_path.iterdir()} == left
    day_before = time.time() - leftovers.LOG_KEPT_S - 1
    for name in (new, log.name):
        os.utime(tmp_path / name, (day_before, day_before))
    os.close(leftovers.opened_log())
    assert {path.name for path in tmp_path.iterdir()} == left - {new}


def test_a_link_that_somebody_has_laid_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(leftovers, "_LOGS", {})
    target = tmp_path / "precious"
    target.write_text("as it was")
    (tmp_path / f"windrow-{platform.node()}-{os.getpid()}.log").symlink_to(target)
    for said in (b"one\n", b"two\n"):
        file = leftovers.opened_log()
        os.write(file, said)
        os.close(file)
    assert target.read_text() == "as it was"
    (log,) = tmp_path.glob("windrow-*-*-*.log")
    assert log.read_text() == "one\ntwo\n"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_without_a_place_for_the_log_spark_starts_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: str) -> tuple[int, str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(leftovers.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(leftovers, "_LOGS", {})
    monkeypatch.setattr(leftovers.tempfile, "mkstemp", full)
    file = leftovers.opened_log()
    os.write(file, b"lost")
    os.close(file)
    assert list(tmp_path.iterdir()) == []


def test_a_live_shard_that_nobody_has_used_for_long_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_cache, "IDLE_LIMIT_S", 10.0)
    clock_s = [0.0]
    shelf = LiveShelf(lambda: clock_s[0])
    stopped, rare, busy = ("stopped", "rare", "busy")
    live: Any = object()
    for owner in (stopped, rare):
        shelf.put(owner, 0, "1", live)
    for second in range(1, 13):
        clock_s[0] = float(second)
        shelf.put(busy, 0, str(second), live)
        if second == 8:
            assert shelf.take(rare, 0, "1") is live
            shelf.put(rare, 0, "2", live)
    assert shelf.take(stopped, 0, "1") is None
    assert shelf.take(rare, 0, "2") is live
    assert shelf.take(busy, 0, "12") is live
