"""Batches that come again after a crash, and batches in which nothing came."""

from __future__ import annotations

from pathlib import Path

import pytest

from recovery.asked import plan_of_asked
from spark.driven_job import FEEDS, DrivenJob
from spark.stream_files import SECOND, rows


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
