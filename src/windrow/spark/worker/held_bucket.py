"""What a bucket of a query holds, read from its state: for another run that goes on from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.carryover.carryover import follows_from_rows
from windrow.plan.model import QueryPlan
from windrow.rows.frames import unpack
from windrow.spark.worker.begun_bucket import segments_of
from windrow.spark.worker.bucket_header import BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.live_shard import LiveShard
from windrow.spark.worker.live_tree import LiveTree
from windrow.spark.worker.segments import Segment

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["held_bucket"]


def held_bucket(plan: RunnablePlan, header: BucketHeader, state: BucketState) -> Segment:
    """Its rows, or its shard where these do not say all, and the times that wait."""
    stored = segments_of(plan, header, state).stored()
    if not isinstance(plan, QueryPlan):
        return LiveTree.rebuild(plan, stored, header).snapshot()
    segment = LiveShard.rebuild(plan, stored, header, grid_us=1).snapshot()
    if segment.snapshot is None or not follows_from_rows(plan):
        return segment
    _, tables = unpack("shard", segment.snapshot)
    rows = {int(number): table for number, table in tables.items() if table.num_rows}
    return Segment(rows, segment.times, instants=segment.instants)
