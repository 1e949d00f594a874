"""kill -9 at random moments, again and again: what reaches the sink is that of an undisturbed run.

Of the driver with its JVM, of Python workers and their daemon, and of executors, while files keep
coming. The seed of each run is printed; RECOVERY_SEED sets it.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from recovery.disturbed_run import DisturbedRun

pytestmark = [pytest.mark.recovery, pytest.mark.spark]

DRIVERS_KILLED = 9
WORKERS_KILLED = 14
DAEMONS_KILLED = 4
EXECUTORS_KILLED = 6


def run_of(folder: Path, queries: tuple[str, ...], *, has_executors: bool = False) -> DisturbedRun:
    seed = int(os.environ.get("RECOVERY_SEED", random.randrange(2**32)))
    sys.stdout.write(f"\nseed {seed}: {', '.join(queries)}\n")
    return DisturbedRun(folder, queries, seed, has_executors=has_executors)


def tell(run: DisturbedRun) -> None:
    """The figures of a run."""
    kills = ", ".join(f"{count} {kind}" for kind, count in sorted(run.kills.items()))
    batches = sum(run.batches().values())
    sys.stdout.write(f"killed {kills}; {batches} batches, {run.replayed} of them replayed\n")
    sys.stdout.flush()


@pytest.mark.parametrize(
    "queries",
    [("join", "late"), ("ticks", "distinct"), ("extremes", "governed")],
    ids=" and ".join,
)
def test_killed_drivers_do_not_show(tmp_path: Path, queries: tuple[str, ...]) -> None:
    run = run_of(tmp_path, queries)
    run.kill_drivers(DRIVERS_KILLED)
    run.finish()
    tell(run)
    run.check()


def test_killed_workers_do_not_show(tmp_path: Path) -> None:
    run = run_of(tmp_path, ("join", "governed"))
    job = run.begin()
    run.kill_below(job, "worker", WORKERS_KILLED)
    run.kill_below(job, "daemon", DAEMONS_KILLED)
    run.finish(job)
    tell(run)
    run.check()


def test_killed_executors_do_not_show(tmp_path: Path) -> None:
    run = run_of(tmp_path, ("extremes", "late"), has_executors=True)
    job = run.begin()
    run.kill_below(job, "executor", EXECUTORS_KILLED)
    run.finish(job)
    tell(run)
    run.check()


def test_a_few_kills(tmp_path: Path) -> None:
    run = run_of(tmp_path, ("late",))
    run.kill_drivers(2)
    job = run.begin()
    run.kill_below(job, "worker", 2)
    run.finish(job)
    tell(run)
    run.check()
