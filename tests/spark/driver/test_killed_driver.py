"""kill -9 of the whole job, driver and workers, at moments that a seed chooses."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

import windrow
from support.spark import killed_job
from support.spark.stream_files import SECOND, Files, read_sink, rows

pytestmark = [pytest.mark.slow, pytest.mark.spark]

FILES = 30
KILLS = 3
PATIENCE_S = 240


def test_what_reaches_the_sink_is_that_of_an_undisturbed_run(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    sys.stdout.write(f"seed {seed}\n")
    moments = random.Random(seed)
    batches = [_batch(number) for number in range(FILES)]
    Files(None, tmp_path / "in").put_all(batches)
    kills = 0
    while not (tmp_path / "done").exists():
        job = _start(tmp_path)
        if kills < KILLS and _wait_for_output(job, tmp_path, moments):
            os.killpg(job.pid, signal.SIGKILL)
            kills += 1
        assert job.wait(PATIENCE_S) in (0, -signal.SIGKILL)
    assert kills == KILLS
    assert _told(tmp_path) == _undisturbed(batches)


def _batch(number: int) -> dict[str, pa.Table]:
    start = 10 * number * SECOND
    return {
        name: rows(*((f"room {i % 3}", start + i * SECOND + shift, i / 7) for i in range(10)))
        for shift, name in ((0, "a"), (SECOND // 2, "b"))
    }


def _start(root: Path) -> subprocess.Popen[bytes]:
    # A group of its own, so that the JVM and the Python workers die with the driver.
    command = [sys.executable, killed_job.__file__, str(root)]
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(command, start_new_session=True, env={**os.environ, **paths})


def _wait_for_output(job: subprocess.Popen[bytes], root: Path, moments: random.Random) -> bool:
    """Wait until some more files have come out; False when the job ended before."""
    wanted = len(_outputs(root)) + moments.randrange(1, 6)
    until = time.monotonic() + PATIENCE_S
    while len(_outputs(root)) < wanted:
        assert time.monotonic() < until
        if job.poll() is not None:
            return False
        time.sleep(0.01)
    time.sleep(moments.random() * 0.5)
    return job.poll() is None


def _outputs(root: Path) -> list[Path]:
    return sorted((root / "out").glob("*.parquet"))


def _told(root: Path) -> list[dict[str, object]]:
    return read_sink(root / "out").to_pylist()


def _undisturbed(batches: list[dict[str, pa.Table]]) -> list[dict[str, object]]:
    session = windrow.connect()
    for name in ("a", "b"):
        session.stream(name, batches[0][name].schema, time="ts")
    query = session.query(killed_job.QUERY)
    for batch in batches:
        for name, table in batch.items():
            session.push(name, table)
    session.finish()
    return query.changes().to_pylist()
