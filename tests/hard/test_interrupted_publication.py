"""A batch that breaks off on the driver, where it is published and given to the sink, then again.

Spark ends the query then. It may be started again in the same process, and asked before that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hard.test_interrupted_buckets import QUERIES, plan_of
from support.faults import (
    Injected,
    chosen_on_spark,
    lines_outside_with,
    raising_at,
    spots_of,
)
from support.spark.driven_job import DrivenJob
from support.spark.stream_files import SECOND, in_order, random_batches
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.query_outlet import QueryOutlet
from windrow.spark.worker.shard_output import ShardOutput
from windrow.storage import Storage

BATCHES = 4
BROKEN = 2
PLACES = 12


class Driver:
    """The driver of one query with its answers in memory."""

    def __init__(self, text: str, folder: Path) -> None:
        self.outlet = QueryOutlet("q", plan_of(text))
        self._checkpoint = QueryCheckpoint(Storage(folder), "q")
        self._checkpoint.claim("f", 1, 0, plan_of(text))
        self.start()

    def start(self) -> None:
        self.outlet.open("memory", self._checkpoint)
        self.outlet.begin(-1)

    def take(self, outputs: Sequence[ShardOutput], batch_id: int) -> None:
        """One batch, as SparkQuery takes it."""
        tables = self.outlet.absorb(outputs, batch_id)
        self.outlet.write(tables, outputs, batch_id)
        self.outlet.save()

    def asked(self) -> tuple[Any, ...]:
        """What it tells between batches."""
        status = self.outlet.status
        late = in_order(self.outlet.late("h"))
        return in_order(self.outlet.result()), late, status.batch_id, status.answers, status.ledgers

    def taken(self) -> list[Any]:
        """All that came since the last call."""
        return [in_order(self.outlet.answers()), in_order(self.outlet.changes())]


def outputs_of(text: str, folder: Path) -> list[list[ShardOutput]]:
    """What the buckets give, batch by batch; some rows are late."""
    job = DrivenJob(plan_of(text), folder)
    made = random_batches(BATCHES, seed=9, disorder_us=6 * SECOND)
    return [job.outputs({name: tables[name] for name in job.plan.streams}) for tables in made]


@pytest.mark.parametrize("name", ["join", "rows", "tolerant"])
def test_a_batch_is_published_whole_or_not_at_all(
    name: str, tmp_path: Path, is_whole: bool
) -> None:
    outputs = outputs_of(QUERIES[name], tmp_path / "buckets")
    steady = Driver(QUERIES[name], tmp_path / "steady")
    known = []
    for number, each in enumerate(outputs):
        if number == BROKEN:
            lines = spots_of(lambda each=each: steady.take(each, BROKEN), lines_outside_with)
        else:
            steady.take(each, number)
        known.append(steady.asked())
    assert known[-1][1]
    wanted = steady.taken()
    for number in chosen_on_spark(lines, is_whole, PLACES):
        driver = Driver(QUERIES[name], tmp_path / str(number))
        for batch_id in range(BROKEN):
            driver.take(outputs[batch_id], batch_id)
        with pytest.raises(Injected), raising_at(number, Injected(), lines_outside_with):
            driver.take(outputs[BROKEN], BROKEN)
        result, late, *status = driver.asked()
        before, after = known[BROKEN - 1 : BROKEN + 1]
        assert [result, *status] in ([before[0], *before[2:]], [after[0], *after[2:]])
        assert late in (before[1], after[1]), lines[number]
        driver.start()
        for batch_id in range(BROKEN, BATCHES):
            driver.take(outputs[batch_id], batch_id)
        assert driver.asked() == known[-1], lines[number]
        assert driver.taken() == wanted, lines[number]


def test_what_is_taken_goes_only_when_it_was_given(tmp_path: Path) -> None:
    """A Ctrl-C in changes() leaves them there, but on the very way out."""
    outputs = outputs_of(QUERIES["rows"], tmp_path / "buckets")
    driver = Driver(QUERIES["rows"], tmp_path / "driver")
    driver.take(outputs[0], 0)
    lines = spots_of(lambda: driver.outlet.changes(limit=10), lines_outside_with)
    left = driver.outlet.changes().num_rows
    assert left
    for number in range(len(lines)):
        driver = Driver(QUERIES["rows"], tmp_path / str(number))
        driver.take(outputs[0], 0)
        with pytest.raises(Injected), raising_at(number, Injected(), lines_outside_with):
            driver.outlet.changes(limit=10)
        assert driver.outlet.changes().num_rows >= left
