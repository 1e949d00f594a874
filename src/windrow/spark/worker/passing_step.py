"""One batch in one bucket of a query whose rows pass: only those that wait are stored."""

from __future__ import annotations

from windrow.event_time import START_OF_TIME
from windrow.plan.model import one_block
from windrow.spark.processes.python_worker import plan_of
from windrow.spark.worker.bucket_header import BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.live_cache import PROCESS_CACHE
from windrow.spark.worker.live_passing import LivePassing, waiting_part
from windrow.spark.worker.live_shard import Live, StepInput, StepResult
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.shard_segments import Newest, ShardSegments
from windrow.spark.worker.shard_step import ShardStep

__all__ = ["PassingStep", "step_of"]


def step_of(
    plan_text: str, fingerprint: str, owner: str, grid_us: int, begins: str, bucket: int
) -> PassingStep:
    """The step of a bucket, as the operator carries it."""
    place = (fingerprint, owner, bucket, PROCESS_CACHE, grid_us, begins)
    return PassingStep(plan_of(plan_text), *place)


class PassingStep(ShardStep):
    """As that of any query, with rows that go when the clock has reached them."""

    def _segments(self, header: BucketHeader, state: BucketState) -> ShardSegments:
        return _PassingSegments(self.plan, header, state)

    def _rebuilt(self, before: BucketHeader, store: ShardSegments) -> Live:
        return LivePassing.rebuild(one_block(self.plan), store.stored(), before)

    def _store(
        self,
        store: ShardSegments,
        segment: Segment,
        live: Live,
        result: StepResult,
        step: StepInput,
    ) -> None:
        store.remove_expired()
        came = waiting_part(segment, step.until_us, step.reached_us)
        waiting = sum(window.waiting for window in result.windows)
        if store.is_loose(waiting, came):
            store.replace_all(live.snapshot())
        else:
            store.append(came, START_OF_TIME)
            store.merge_small()


class _PassingSegments(ShardSegments):
    """Segments of rows that are needed until the clock reaches the newest of them."""

    def replace_all(self, segment: Segment) -> None:
        """Puts what waits in the place of all segments."""
        for entry in self._header.segments:
            self._remove(entry)
        self._header.segments.clear()
        self.append(segment, START_OF_TIME)

    def _gone_at(self, newest_us: Newest) -> int:
        return max((at_us for _, at_us in newest_us), default=START_OF_TIME)
