"""The lock under which a kernel is compiled: a holder that died keeps nobody waiting."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from windrow.compiling.one_compiles import OneCompiles

pytest.importorskip("fcntl", reason="without it everybody compiles")

HOLDER = """
import sys, time
from pathlib import Path
from windrow.compiling.one_compiles import OneCompiles
lock = OneCompiles(Path(sys.argv[1]))
print(lock.wait(), flush=True)
time.sleep(600)
"""


def test_a_holder_that_dies_keeps_nobody_waiting(tmp_path: Path) -> None:
    path = tmp_path / "kernel.lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        assert OneCompiles(path).wait(seconds=0.1) is False
        holder.kill()
    lock = OneCompiles(path)
    assert lock.wait(seconds=0.1)
    lock.leave()


def test_who_waits_goes_on_when_the_holder_leaves(tmp_path: Path) -> None:
    path = tmp_path / "kernel.lock"
    first, second = OneCompiles(path), OneCompiles(path)
    assert first.wait()
    first.leave()
    assert not path.exists()
    assert second.wait(seconds=0.0)
    second.leave()


def test_who_cannot_make_a_file_does_not_wait(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    began = time.monotonic()
    assert OneCompiles(tmp_path / "file" / "kernel.lock").wait() is False
    assert OneCompiles(None).wait() is False
    assert time.monotonic() - began < 5.0
