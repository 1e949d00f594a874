"""Two drivers on one checkpoint: the second is refused, or the first finds itself left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from windrow.errors import CheckpointError
from windrow.spark.checkpoint.driver_lease import DriverLease
from windrow.storage import Storage

# A driver in a process of its own: it takes the checkpoint and holds it until its input ends.
OTHER = """
import sys
from windrow.spark.checkpoint.driver_lease import DriverLease
from windrow.storage import Storage
lease = DriverLease(Storage(sys.argv[1]), "query 'q'", lambda: True)
lease.take()
print("taken", flush=True)
sys.stdin.read()
"""


def lease(folder: Path, is_in_use: bool = True) -> DriverLease:
    return DriverLease(Storage(folder), "query 'q'", lambda: is_in_use)


def test_a_second_driver_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OTHER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"taken\n"
        mine = lease(tmp_path)
        with pytest.raises(CheckpointError, match=rf"WC215.*process {other.pid} "):
            mine.take()
        other.kill()
    mine.take()
    mine.check()
    mine.release()


def test_a_query_that_has_ended_gives_way_in_its_own_process(tmp_path: Path) -> None:
    ended, running = lease(tmp_path, is_in_use=False), lease(tmp_path)
    ended.take()
    ended.take()
    running.take()
    with pytest.raises(CheckpointError, match="WC215"):
        ended.take()
    running.release()
    ended.take()
    ended.release()


def test_a_driver_that_was_left_behind_gives_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Storage, "local_path", None)  # as in a store that has no locks
    first, second = lease(tmp_path), lease(tmp_path)
    first.take()
    first.check()
    second.take()
    second.check()
    with pytest.raises(CheckpointError, match="WC216"):
        first.check()
    (tmp_path / "driver.json").write_text("[")
    with pytest.raises(CheckpointError, match="WC216"):
        second.check()
