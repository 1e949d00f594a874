"""What shards give in many pieces is published as if each had given one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from support.join_texts import small_scenarios
from support.live_texts import general_selects
from support.recovery.asked import plan_of_asked
from support.runners import Model, exactly
from support.spark.driven_job import DrivenJob
from support.spark.stream_files import SECOND, rows
from support.streams import Action, Push, instant, plan_of
from windrow.output.publish import Publisher
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import Preparer, bucket_of, can_shard
from windrow.runtime.pace import Pace
from windrow.runtime.shard import Shard
from windrow.spark.driver.clock_steps import clock_steps
from windrow.spark.worker.pieces import Piece, parts_of, pieces_of, run_in_pieces
from windrow.spark.worker.shard_output import ShardOutput
from windrow.windows.instants import WaitingInstants

GROUPED = (
    "SELECT a.s AS s, COUNT(*) AS n FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k GROUP BY a.s"
)
TICKING = "SELECT k, SUM(d) AS d FROM a [3 SECONDS] GROUP BY k EVERY (1 SECOND)"


def published(
    plan: QueryPlan, actions: list[Action], buckets: int, updates: int
) -> tuple[list[list[str]], int]:
    """Answers, changes and result, and the number of pieces; all rows come before the clock moves.

    A grid as on Spark, where only ticks are wanted.
    """
    model = Model()
    for action in actions:
        model.take(action)
    grid_us = plan.every_us or 1
    clock_us = model.last(plan) // grid_us * grid_us + 60 * 1_000_000 * grid_us
    preparers = [Preparer(plan, position) for position in range(len(plan.inputs))]
    rows = model.rows_as_batches()
    waiting = WaitingInstants()
    for preparer, entry in zip(preparers, plan.inputs, strict=True):
        times = rows[entry.stream.name].column("ts").cast(pa.int64()).to_numpy()
        waiting.add(preparer.instants(times))
    outputs, count = [], 0
    for bucket in range(buckets):
        dealt = {}
        for position, entry in enumerate(plan.inputs):
            prepared = preparers[position].prepared_batch(rows[entry.stream.name])
            mine = bucket_of(plan, position, prepared, buckets) == bucket
            dealt[position] = prepared.filter(pa.array(mine))
        data = run_in_pieces(Shard(plan, grid_us), dealt, clock_us, Pace(updates))
        count += len(pieces_of(data))
        instants = waiting.release(clock_us)
        outputs.append(ShardOutput(bucket, clock_us, {}, data, instants, [], 0, 0, False))
    publisher = Publisher(plan)
    for partials, instants, until_us in clock_steps(outputs):
        publisher.absorb(partials, instants, until_us)
    tables = (publisher.answers(), publisher.changes(), publisher.result())
    return [exactly(table) for table in tables], count


@given(
    st.one_of(general_selects(), st.sampled_from([GROUPED, TICKING])),
    small_scenarios(),
    st.integers(1, 3),
)
def test_pieces_do_not_show(text: str, actions: list[Action], buckets: int) -> None:
    plan = plan_of(text)
    buckets = buckets if can_shard(plan) else 1
    whole, one_each = published(plan, actions, buckets, 1_000_000)
    assert one_each == buckets
    assert published(plan, actions, buckets, 2)[0] == whole


def test_a_burst_is_cut() -> None:
    begin_us = 1_700_000_000_000_000
    rows = tuple({"ts": instant(begin_us + 1000 * n), "k": 1, "s": "x"} for n in range(50))
    actions: list[Action] = [Push("a", rows), Push("b", rows)]
    plan = plan_of(GROUPED)
    whole, _ = published(plan, actions, 1, 1_000_000)
    in_pieces, count = published(plan, actions, 1, 10)
    assert in_pieces == whole
    assert count >= 100 // 10


def test_what_is_complete_is_told_once_also_at_the_epoch(tmp_path: Path) -> None:
    job = DrivenJob(plan_of_asked("ticks"), tmp_path)
    outputs = job.outputs({"a": rows(("r1", -2 * SECOND, 1.0), ("r1", 9 * SECOND, 1.0))})
    [piece] = pieces_of(outputs[0].partial)
    partial = replace(piece.partial(), complete_at=-SECOND)
    outputs[0].partial = parts_of([Piece(piece.until_us, partial.to_parts())])
    stops = iter([0])  # one step ends at the instant 0
    steps = list(clock_steps(outputs, lambda until_us: next(stops, until_us)))
    told = [each.complete_at for partials, _, _ in steps for _, each in partials]
    assert told == [-SECOND, None]
