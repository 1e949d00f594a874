"""kill -9 at random moments, again and again: what reaches the sink is that of an undisturbed run.

Of the driver with its JVM, of Python workers and their daemon, and of executors, while files keep
coming. The seed of each run is printed; RECOVERY_SEED sets it.
"""

from __future__ import annotations

import os
import random
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.recovery.asked import plan_of_asked
from support.recovery.disturbed_run import DisturbedRun
from support.recovery.places import Tables, TopicsOfKafka
from support.servers.kafka_broker import Broker
from support.servers.postgres_database import Database
from support.spark.stream_files import SECOND
from windrow.spark.shuffle.combining import can_combine
from windrow.spark.shuffle.picking import can_pick

pytestmark = [pytest.mark.recovery, pytest.mark.spark]

DRIVERS_KILLED = 9
DRIVERS_KILLED_ELSEWHERE = 5
WORKERS_KILLED = 14
DAEMONS_KILLED = 4
EXECUTORS_KILLED = 6


Runs = Callable[..., DisturbedRun]


@pytest.fixture
def run_of(tmp_path: Path) -> Iterator[Runs]:
    """Makes the run of some queries; none of its processes outlives the test."""
    made: list[DisturbedRun] = []

    def make(*queries: str, **options: Any) -> DisturbedRun:
        seed = int(os.environ.get("RECOVERY_SEED", random.randrange(2**32)))
        sys.stdout.write(f"\nseed {seed}: {', '.join(queries)}\n")
        made.append(DisturbedRun(tmp_path, queries, seed, **options))
        return made[-1]

    yield make
    for run in made:
        run.end()


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
def test_killed_drivers_do_not_show(run_of: Runs, queries: tuple[str, ...]) -> None:
    run = run_of(*queries)
    run.kill_drivers(DRIVERS_KILLED)
    run.finish()
    tell(run)
    run.check()


def test_killed_drivers_of_queries_that_share_an_operator_do_not_show(run_of: Runs) -> None:
    run = run_of("ticks", "distinct", is_shared=True)
    run.kill_drivers(DRIVERS_KILLED_ELSEWHERE)
    run.finish()
    tell(run)
    run.check()


def test_kills_do_not_show_where_rows_are_combined(run_of: Runs) -> None:
    assert can_combine(plan_of_asked("combined"), 5 * SECOND)
    assert can_pick(plan_of_asked("picked"), 5 * SECOND)
    run = run_of("combined", "picked")
    run.kill_drivers(DRIVERS_KILLED_ELSEWHERE)
    job = run.begin()
    run.kill_below(job, "worker", DRIVERS_KILLED_ELSEWHERE)
    run.finish(job)
    tell(run)
    run.check()


def test_kills_do_not_show_in_stages_and_tables(run_of: Runs) -> None:
    run = run_of("staged", "kinds")
    run.kill_drivers(DRIVERS_KILLED_ELSEWHERE)
    job = run.begin()
    run.kill_below(job, "worker", DRIVERS_KILLED_ELSEWHERE)
    run.finish(job)
    tell(run)
    run.check()


def test_killed_workers_do_not_show(run_of: Runs) -> None:
    run = run_of("join", "governed")
    job = run.begin()
    run.kill_below(job, "worker", WORKERS_KILLED)
    run.kill_below(job, "daemon", DAEMONS_KILLED)
    run.finish(job)
    tell(run)
    run.check()


def test_killed_executors_do_not_show(run_of: Runs) -> None:
    run = run_of("extremes", "late", has_executors=True)
    job = run.begin()
    run.kill_below(job, "executor", EXECUTORS_KILLED)
    run.finish(job)
    tell(run)
    run.check()


def test_killed_drivers_do_not_show_in_tables(run_of: Runs, database: Database) -> None:
    run = run_of("join", "late", place=Tables(database.url))
    run.kill_drivers(DRIVERS_KILLED_ELSEWHERE)
    run.finish()
    tell(run)
    run.check()


def test_killed_drivers_do_not_show_in_topics(
    run_of: Runs, spark: SparkSession, broker: Broker, jars: list[str]
) -> None:
    place = TopicsOfKafka(spark, broker.servers, f"{uuid.uuid4().hex[:8]}-", jars)
    run = run_of("ticks", "distinct", place=place)
    run.kill_drivers(DRIVERS_KILLED_ELSEWHERE)
    run.finish()
    tell(run)
    run.check()


def test_a_few_kills(run_of: Runs) -> None:
    run = run_of("late", "kinds")
    run.kill_drivers(2)
    job = run.begin()
    run.kill_below(job, "worker", 2)
    run.finish(job)
    tell(run)
    run.check()
