"""What is left in memory and in the temporary directory when sessions stop or are killed."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from windrow.spark import leftovers
from windrow.spark.bucket import live_cache
from windrow.spark.bucket.live_cache import LiveShelf


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
    own = leftovers.temporary_folder()
    host = platform.node()
    gone, new, other = (f"windrow-{host}-{ended}-abc", f"windrow-{host}-{ended}.log", "windrow-x")
    (tmp_path / gone / "query").mkdir(parents=True)
    (tmp_path / other).mkdir()
    (tmp_path / f"windrow-elsewhere-{ended}-abc").mkdir()
    (tmp_path / new).touch()
    log = leftovers.own_log()
    log.touch()
    left = {own.name, log.name, new, other, f"windrow-elsewhere-{ended}-abc"}
    assert {path.name for path in tmp_path.iterdir()} == left
    day_before = time.time() - leftovers.LOG_KEPT_S - 1
    for name in (new, log.name):
        os.utime(tmp_path / name, (day_before, day_before))
    leftovers.own_log()
    assert {path.name for path in tmp_path.iterdir()} == left - {new}


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
