"""One batch in one bucket of a query that is a tree."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.prepare import prepared_columns
from windrow.spark.processes.python_worker import tree_of
from windrow.spark.worker.bucket_header import BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.live_cache import PROCESS_CACHE
from windrow.spark.worker.live_shard import Live
from windrow.spark.worker.live_tree import LiveTree
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.shard_segments import ShardSegments
from windrow.spark.worker.shard_step import ShardStep
from windrow.spark.worker.tree_output import with_aside
from windrow.spark.worker.tree_segments import TreeSegments

__all__ = ["TreeStep", "step_of"]


def step_of(
    plan_text: str, fingerprint: str, owner: str, grid_us: int, begins: str, bucket: int
) -> TreeStep:
    """The step of a bucket, as the operator carries it."""
    place = (fingerprint, owner, bucket, PROCESS_CACHE, grid_us, begins)
    return TreeStep(tree_of(plan_text), *place)


class TreeStep(ShardStep):
    """As that of a single block, with a tree in its place."""

    plan: TreePlan

    def run_batch(self, packets: Iterable[bytes], state: BucketState) -> ShardOutput:
        """Applies the packets of one batch; rows that operators set aside are counted, too."""
        output = super().run_batch(packets, state)
        output.aside = with_aside(output.aside, output.partial.header.pop("aside"))
        return output

    def _segments(self, header: BucketHeader, state: BucketState) -> ShardSegments:
        return TreeSegments(self.plan, header, state)

    def _rebuilt(self, before: BucketHeader, store: ShardSegments) -> Live:
        return LiveTree.rebuild(self.plan, store.stored(), before)

    def _schemas(self) -> dict[int, pa.Schema]:
        places = enumerate(self.plan.places)
        return {number: prepared_columns(plan, own).schema for number, (plan, own) in places}
