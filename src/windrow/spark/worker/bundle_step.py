"""One batch in one bucket of a bundle: as that of a single query, with queries that come and go."""

from __future__ import annotations

import pyarrow as pa

from windrow.plan.model import one_block
from windrow.spark.processes.python_worker import plan_of
from windrow.spark.shuffle.arrivals import Arrivals
from windrow.spark.shuffle.carried_rows import CarriedRows
from windrow.spark.shuffle.carrier import keeping, needed_us
from windrow.spark.shuffle.member_orders import orders_in_turn
from windrow.spark.worker.bucket_header import BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.bundle_members import Member, forget_plan, plan_stored, store_plan
from windrow.spark.worker.live_bundle import LiveBundle
from windrow.spark.worker.live_cache import PROCESS_CACHE
from windrow.spark.worker.live_shard import Live, StepInput, StepResult
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.shard_segments import ShardSegments
from windrow.spark.worker.shard_step import Orders, ShardStep

__all__ = ["BundleStep", "step_of"]


def step_of(carrier_text: str, fingerprint: str, owner: str, bucket: int) -> BundleStep:
    """The step of a bucket, as the operator carries it; each query has a grid of its own."""
    return BundleStep(plan_of(carrier_text), fingerprint, owner, bucket, PROCESS_CACHE)


class BundleStep(ShardStep):
    """The work of one bucket in every batch; `plan` is the bundle's carrier."""

    def _schemas(self) -> dict[int, pa.Schema]:
        carrier = one_block(self.plan)
        return {i: CarriedRows(carrier, i).schema for i in range(len(carrier.inputs))}

    def _segments(self, header: BucketHeader, state: BucketState) -> ShardSegments:
        return ShardSegments(keeping(one_block(self.plan), header.kept_us), header, state)

    def _take_orders(self, header: BucketHeader, arrivals: Arrivals, state: BucketState) -> Orders:
        """Let queries begin and end in the header.

        The plans of those that end stay until the live bundle is through with them.
        """
        known = (_numbers(header), header.last_member, header.missed_members)
        orders = orders_in_turn(arrivals.members, *known)
        if not orders and header.kept_us:
            return {}, []
        for order in orders:
            if not order.ends:
                store_plan(state, order)
                member = Member(order.number, order.grid_us, header.next_sequence, header.clock_us)
                header.members = [*header.members, member.to_json()]
                self._note_begun(header, order.number)
        ended = {order.number for order in orders if order.ends}
        header.members = [parts for parts in header.members if parts[0] not in ended]
        plans = [plan_stored(state, number) for number in _numbers(header)]
        header.kept_us = [needed_us(plans, stream) for stream in self.plan.streams]
        return {}, orders

    @staticmethod
    def _note_begun(header: BucketHeader, number: int) -> None:
        """A query has had that number; those below it whose orders have not come may still come."""
        skipped = range(header.last_member + 1, number)
        missed = [each for each in header.missed_members if each != number]
        header.missed_members = [*missed, *skipped]
        header.last_member = max(header.last_member, number)

    def _rebuilt(self, before: BucketHeader, store: ShardSegments) -> Live:
        plans = {number: plan_stored(store.state, number) for number in _numbers(before)}
        return LiveBundle.rebuild(one_block(store.plan), store.stored(), before, plans)

    def _store(
        self,
        store: ShardSegments,
        segment: Segment,
        live: Live,  # noqa: ARG002 - a bundle is rebuilt from segments only
        result: StepResult,
        step: StepInput,
    ) -> None:
        for order in step.orders:
            if order.ends:
                forget_plan(store.state, order.number)
        store.append(segment, result.newest_instant_us)
        if step.orders:
            store.change_limits()  # rows are needed longer now, or not so long
        store.remove_expired()
        store.merge_small()


def _numbers(header: BucketHeader) -> list[int]:
    return [parts[0] for parts in header.members]
