"""One batch in one bucket of a bundle: as that of a single query, with queries that come and go."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from windrow.rows.life import ALWAYS
from windrow.spark.processes.python_worker import plan_of
from windrow.spark.shuffle.arrivals import gather
from windrow.spark.shuffle.carried_rows import CarriedRows
from windrow.spark.shuffle.carrier import keeping, needed_us
from windrow.spark.shuffle.member_orders import MemberOrder, orders_in_turn
from windrow.spark.worker.bucket_header import SHARD, BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.bundle_members import Member, forget_plan, plan_stored, store_plan
from windrow.spark.worker.clock import move_clock
from windrow.spark.worker.live_bundle import LiveBundle
from windrow.spark.worker.live_cache import PROCESS_CACHE
from windrow.spark.worker.live_shard import Live, StepInput
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.shard_segments import ShardSegments
from windrow.spark.worker.shard_step import ShardStep, bad_rows, unplaced_rows

__all__ = ["BundleStep", "step_of"]


def step_of(carrier_text: str, fingerprint: str, owner: str, bucket: int) -> BundleStep:
    """The step of a bucket, as the operator carries it; each query has a grid of its own."""
    return BundleStep(plan_of(carrier_text), fingerprint, owner, bucket, PROCESS_CACHE)


class BundleStep(ShardStep):
    """The work of one bucket in every batch; `plan` is the bundle's carrier."""

    _state: BucketState | None = None  # during a batch

    def run_batch(self, packets: Iterable[bytes], state: BucketState) -> ShardOutput:
        """Applies the packets of one batch."""
        header = self._read_header(state, self.plan.streams, SHARD)
        before = replace(header)
        arrivals = gather(packets, self.plan.streams, self._schemas())
        self._set_far_ahead_aside(header, arrivals)
        late = self._late_rows(arrivals, header)
        segment = self._timely(arrivals, header, ALWAYS)
        known = (_numbers(header), header.last_member, header.missed_members)
        orders = orders_in_turn(arrivals.members, *known)
        self._take_orders(header, orders, state)
        move_clock(header, self._lateness_us(), arrivals.streams)
        store = ShardSegments(keeping(self.plan, header.kept_us), header, state)
        times = (header.clock_us, header.reached_us)
        shown = [order.to_json() for order in orders]
        step = StepInput(segment.rows, segment.times, *times, orders=shown)
        self._state = state
        live, result, was_rebuilt = self._advance(before, store, step)
        self._settle_ledgers(header, arrivals, segment, result)
        for number in _ended(orders):
            forget_plan(state, number)
        store.append(segment, result.newest_instant_us)
        if orders:
            store.change_limits()  # rows are needed longer now, or not so long
        store.remove_expired()
        store.merge_small()
        header.nonce, header.holder = uuid.uuid4().hex, self.cache.holder_of(live)
        state.write_header(header.to_bytes())
        self.cache.put(self.owner, self.bucket, header.nonce, live)
        output = self._output(header, result, store)
        output.began_us, output.was_rebuilt, output.late = before.clock_us, was_rebuilt, late
        output.unplaced, output.bad = unplaced_rows(arrivals), bad_rows(arrivals)
        output.begun = [each.number for each in orders if not each.ends]
        return output

    def _schemas(self) -> dict[int, pa.Schema]:
        return {i: CarriedRows(self.plan, i).schema for i in range(len(self.plan.inputs))}

    def _take_orders(
        self, header: BucketHeader, orders: Sequence[MemberOrder], state: BucketState
    ) -> None:
        """Let queries begin and end in the header, from the clock on with which the batch begins.

        The plans of those that end stay until the live bundle is through with them.
        """
        if not orders and header.kept_us:
            return
        begun = [order for order in orders if not order.ends]
        for order in begun:
            store_plan(state, order)
            member = Member(order.number, order.grid_us, header.next_sequence, header.clock_us)
            header.members = [*header.members, member.to_json()]
            self._note_begun(header, order.number)
        ended = _ended(orders)
        header.members = [parts for parts in header.members if parts[0] not in ended]
        plans = [plan_stored(state, number) for number in _numbers(header)]
        header.kept_us = [needed_us(plans, stream) for stream in self.plan.streams]

    @staticmethod
    def _note_begun(header: BucketHeader, number: int) -> None:
        """A query has had that number; those below it whose orders have not come may still come."""
        skipped = range(header.last_member + 1, number)
        missed = [each for each in header.missed_members if each != number]
        header.missed_members = [*missed, *skipped]
        header.last_member = max(header.last_member, number)

    def _rebuilt(self, before: BucketHeader, store: ShardSegments) -> Live:
        assert self._state is not None
        plans = {number: plan_stored(self._state, number) for number in _numbers(before)}
        return LiveBundle.rebuild(store.plan, store.stored(), before, plans)


def _numbers(header: BucketHeader) -> list[int]:
    return [parts[0] for parts in header.members]


def _ended(orders: Iterable[MemberOrder]) -> set[int]:
    return {order.number for order in orders if order.ends}
