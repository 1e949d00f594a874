"""Batches that come again after a crash, and batches in which nothing came."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.recovery.asked import plan_of_asked
from support.spark.driven_job import FEEDS, DrivenJob
from support.spark.stream_files import SECOND, rows
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.query_outlet import QueryOutlet
from windrow.storage import Storage


@pytest.mark.parametrize("again", [0, 1, 2])
def test_a_batch_that_comes_again_counts_once(tmp_path: Path, again: int) -> None:
    job = DrivenJob(plan_of_asked("ticks"), tmp_path)
    given = []
    for number in range(again + 1):
        before = job.states[0].copy()
        table = rows(("r1", number * 10 * SECOND, 1.0), ("r2", number * 10 * SECOND + 1, 2.0))
        given.append(job.batch({"a": table}))
    told = job.publication.status.to_dict()
    # Spark had not committed the last batch: its state is that of the batch before.
    job.restart()
    job.states, job.batch_id = [before], again
    assert job.batch({"a": table}) == given[-1]
    # What a shard was built from shows in what is reported of it.
    passing = ("batch_ms", "rebuilt", "rebuilt_so_far", "figures")
    told_again = job.publication.status.to_dict()
    assert [told_again[name] for name in told if name not in passing] == [
        told[name] for name in told if name not in passing
    ]


def test_a_batch_in_which_nothing_came_is_passed_over(tmp_path: Path) -> None:
    job = DrivenJob(plan_of_asked("ticks"), tmp_path)
    job.batch({"a": rows(("r1", 0, 1.0))})
    job.publication.pass_over(1)
    job.publication.save()
    job.restart()
    outputs = job.outputs({"a": rows(("r1", 9 * SECOND, 1.0))})
    given = job.publication.absorb(2, outputs, FEEDS)
    assert given["answers"]["n"].to_pylist() == [1, 1, 1]


def test_memory_holds_a_batch_once_though_it_comes_again_after_a_start(tmp_path: Path) -> None:
    job = DrivenJob(plan_of_asked("ticks"), tmp_path / "job")
    outlet = QueryOutlet("q", job.plan)
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    checkpoint.claim("f", 1, 0, job.plan)
    late = [("r1", None, 1.0), ("r1", 9 * SECOND, 1.0)]
    for number, entries in enumerate([[("r1", 0, 1.0)], late]):
        outputs = job.outputs({"a": rows(*entries)})
        outlet.open("memory", checkpoint)
        outlet.write(outlet.absorb(outputs, number), outputs, number)
        outlet.save()
    taken = outlet.changes()
    # The query had been stopped before Spark committed the last batch, and is started again.
    outlet.open("memory", checkpoint)
    outlet.write(outlet.absorb(outputs, 1), outputs, 1)
    assert taken.num_rows > 0
    assert outlet.changes().num_rows == 0
    assert outlet.bad_time("a").num_rows == 1
    assert outlet.answers()["n"].to_pylist() == [1, 1, 1]  # nobody had taken them before
