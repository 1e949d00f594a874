"""One batch in one bucket: packets in, state read and written, one output for the driver.

Nothing here knows Spark: state comes in as an argument, so a step can be tested on a dictionary.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.governor.bounded.counted_arrivals import ArrivalCounter
from windrow.plan.model import one_block
from windrow.rows.frames import Parts
from windrow.rows.life import ALWAYS, in_life, life_of
from windrow.rows.prepare import Preparer
from windrow.spark.processes.python_worker import plan_of
from windrow.spark.shuffle.arrivals import Arrivals, StreamArrivals, gather
from windrow.spark.shuffle.aside_rows import counted_aside
from windrow.spark.shuffle.far_ahead import far_ahead
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.worker.begun_bucket import begin_bucket
from windrow.spark.worker.bucket_header import SHARD, BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.bucket_step import BucketStep, count_arrivals
from windrow.spark.worker.clock import NEVER, first_after, move_clock
from windrow.spark.worker.live_cache import PROCESS_CACHE, LiveCache
from windrow.spark.worker.live_shard import Live, LiveShard, StepInput, StepResult
from windrow.spark.worker.remote_shards import LentShardLostError
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.shard_segments import ShardSegments
from windrow.windows.lifetime import Lifetime

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["Orders", "ShardStep", "step_of"]

Instants = NDArray[np.int64]
Orders = tuple[dict[int, Lifetime], list[MemberOrder]]


def step_of(
    plan_text: str, fingerprint: str, owner: str, grid_us: int, begins: str, bucket: int
) -> ShardStep:
    """The step of a bucket, as the operator carries it."""
    place = (fingerprint, owner, bucket, PROCESS_CACHE, grid_us, begins)
    return ShardStep(plan_of(plan_text), *place)


class ShardStep(BucketStep):
    """The work of one bucket in every batch; each keeps the ledger of some of the packing tasks.

    grid_us: answers are wanted at its multiples only. begins: the folder with what buckets have
    before their first batch, where the query goes on from another run; '' where it does not.
    """

    def __init__(
        self,
        plan: RunnablePlan,
        fingerprint: str,
        owner: str,
        bucket: int,
        cache: LiveCache,
        grid_us: int = 1,
        begins: str = "",
    ) -> None:
        super().__init__(fingerprint, owner, bucket)
        self.plan, self.cache, self.grid_us, self.begins = plan, cache, grid_us, begins

    def run_batch(self, packets: Iterable[bytes], state: BucketState) -> ShardOutput:
        """Applies the packets of one batch."""
        if self.begins and state.read_header() is None:
            begin_bucket(self.begins, self.bucket, state)
        header = self._read_header(state, self.plan.streams, SHARD)
        before = replace(header)
        arrivals = self._gathered(packets)
        changes = self._table_changes(header, arrivals)
        self._set_far_ahead_aside(header, arrivals)
        late = self._late_rows(arrivals, header)
        life = self._begin_life(header, arrivals)
        segment = self._timely(arrivals, header, life)
        segment = replace(segment, rows={**segment.rows, **changes})
        rows_in, aside = self._rows_in(segment, life), self._aside(arrivals, header, life)
        lifetimes, members = self._take_orders(header, arrivals, state)
        self._move_clock(header, arrivals, life)
        is_last = before.clock_us < life[1] <= header.clock_us
        clocks = (header.clock_us, header.reached_us)
        step = StepInput(segment.rows, segment.times, *clocks, lifetimes, life, is_last, members)
        output = self._applied(before, header, state, segment, step, arrivals)
        output.has_order = bool(lifetimes)
        output.begun = [order.number for order in members if not order.ends]
        output.arrivals = self._counted(segment)
        output.rows_read = sum(came.rows_in for came in arrivals.streams.values())
        output.late, output.rows_in, output.aside = late, rows_in, aside
        output.heavy = arrivals.heavy
        output.unplaced, output.bad = _joined(arrivals, "unplaced"), _joined(arrivals, "bad")
        return output

    def _applied(
        self,
        before: BucketHeader,
        header: BucketHeader,
        state: BucketState,
        segment: Segment,
        step: StepInput,
        arrivals: Arrivals,
    ) -> ShardOutput:
        """Runs the live shard on what has come, and stores that; how the bucket stands then."""
        store = self._segments(header, state)
        live, result, was_rebuilt = self._advance(before, store, step)
        self._count_rows(header, arrivals, segment, result)
        self._store(store, segment, live, result, step)
        header.nonce, header.holder = uuid.uuid4().hex, self.cache.holder_of(live)
        state.write_header(header.to_bytes())
        self.cache.put(self.owner, self.bucket, header.nonce, live)
        output = self._output(header, result, store)
        output.began_us, output.was_rebuilt = before.clock_us, was_rebuilt
        return output

    def _gathered(self, packets: Iterable[bytes]) -> Arrivals:
        return gather(packets, self.plan.streams, self._schemas())

    def _table_changes(
        self,
        header: BucketHeader,  # noqa: ARG002 - a tree notes when they take effect
        arrivals: Arrivals,  # noqa: ARG002 - a tree has tables among them
    ) -> dict[int, pa.RecordBatch]:
        """What changes in tables, with instants, by their numbers; only trees read any."""
        return {}

    def _move_clock(self, header: BucketHeader, arrivals: Arrivals, life: tuple[int, int]) -> None:
        move_clock(header, self._lateness_us(), arrivals.streams, life[1], self.plan)

    def _segments(self, header: BucketHeader, state: BucketState) -> ShardSegments:
        return ShardSegments(self.plan, header, state)

    def _advance(
        self, before: BucketHeader, store: ShardSegments, step: StepInput
    ) -> tuple[Live, StepResult, bool]:
        """The live shard after the batch, its output, and whether it had to be rebuilt."""
        kept = self.cache.take(self.owner, self.bucket, before.nonce, before.holder)
        if kept is not None:
            with contextlib.suppress(LentShardLostError):
                return kept, kept.advance(step), False
        live = self._rebuilt(before, store)
        return live, live.advance(step), before.nonce != ""

    def _rebuilt(self, before: BucketHeader, store: ShardSegments) -> Live:
        """The live shard as it was before the batch, from what is stored."""
        return LiveShard.rebuild(one_block(self.plan), store.stored(), before, self.grid_us)

    def _begin_life(self, header: BucketHeader, arrivals: Arrivals) -> tuple[int, int]:
        """The lifetime of the query, as far as this batch shows."""
        stream = self.plan.streams[0]
        known = header.first_us
        header.first_us = first_after(
            self.plan, known, header.complete_us[stream], arrivals.streams[stream]
        )
        if header.first_us != known:
            header.life_sequence = header.next_sequence
        return life_of(self.plan, header.first_us) or NEVER

    def _take_orders(
        self,
        header: BucketHeader,
        arrivals: Arrivals,
        state: BucketState,  # noqa: ARG002 - those of a bundle keep plans there
    ) -> Orders:
        """Orders that take effect at the clock with which the batch begins.

        Lifetimes that windows get, and queries of a bundle that begin or end.
        """
        order = arrivals.order
        if order is None or order.number <= header.limits.number:
            return {}, []
        header.limits = header.limits.changed(self.plan, order, header.clock_us)
        return {
            input_index: header.limits.lifetimes[input_index] for input_index in order.lifetimes
        }, []

    def _counted(self, segment: Segment) -> Parts | None:
        """What is reported to the driver about rows, to bound what answers may lack."""
        if self.plan.error_percent is None or 0 not in segment.rows:
            return None
        return ArrivalCounter(one_block(self.plan)).count(segment.rows[0]).to_parts()

    def _schemas(self) -> dict[int, pa.Schema]:
        plan = one_block(self.plan)
        return {i: Preparer(plan, i).schema for i in range(len(plan.inputs))}

    def _set_far_ahead_aside(self, header: BucketHeader, arrivals: Arrivals) -> None:
        """Takes rows out that are too far ahead; they are counted by their times."""
        for stream, ahead_us in self._most_ahead_us().items():
            came = arrivals.streams[stream]
            known = (header.newest_us[stream], came.now_us, header.suspects.get(stream))
            verdict = far_ahead(came.clusters, *known, ahead_us)
            header.suspects = {**header.suspects, stream: verdict.suspect}
            if verdict.aside:
                arrivals.leave_out(stream, self._inputs_of(stream), verdict)

    def _most_ahead_us(self) -> dict[str, int]:
        """How far rows of a stream may be ahead of others, if declared."""
        spans = {
            entry.stream.name: entry.stream.most_ahead_of_rows_us for entry in self.plan.inputs
        }
        return {stream: span_us for stream, span_us in spans.items() if span_us is not None}

    def _inputs_of(self, stream: str) -> list[int]:
        return [i for i, entry in enumerate(self.plan.inputs) if entry.stream.name == stream]

    def _timely(self, arrivals: Arrivals, header: BucketHeader, life: tuple[int, int]) -> Segment:
        """The rows of the life, and times, above the completeness with which the batch began."""
        rows = {}
        for input_index, batch in arrivals.rows.items():
            stream = self.plan.inputs[input_index].stream.name
            limit = header.complete_us[stream]
            assert all(each == limit for each in arrivals.streams[stream].combined_above_us)
            times_us = batch.column("ts").to_numpy(zero_copy_only=False)
            timely = times_us > limit
            if life != ALWAYS:
                timely &= in_life(times_us, life)
            kept = batch if timely.all() else batch.filter(pa.array(timely))
            if kept.num_rows:
                rows[input_index] = kept
        times = {}
        for stream, came in arrivals.streams.items():
            if came.times:
                times[stream] = _above(came, header.complete_us[stream])
        return Segment(rows, times)

    def _rows_in(self, segment: Segment, life: tuple[int, int]) -> dict[str, int]:
        """How many rows the query takes of each stream, of those that this bucket counts."""
        return {
            stream: int(np.count_nonzero(in_life(times_us, life)))
            for stream, times_us in segment.times.items()
        }

    def _aside(
        self, arrivals: Arrivals, header: BucketHeader, life: tuple[int, int]
    ) -> dict[str, Any]:
        """What ON ERROR SET ASIDE leaves out of the rows that the query takes."""
        if self.plan.on_error != "set_aside":
            return {}
        timely = {
            entry.alias: (max(header.complete_us[entry.stream.name], life[0] - 1), life[1])
            for entry in self.plan.inputs
        }
        given = [table for came in arrivals.streams.values() for table in came.aside]
        return counted_aside(given, timely)

    def _late_rows(self, arrivals: Arrivals, header: BucketHeader) -> dict[str, pa.Table]:
        late = {}
        schemas = {entry.stream.name: entry.stream for entry in self.plan.inputs}
        for stream, came in arrivals.streams.items():
            if came.oldest:
                rows = pa.concat_tables(came.oldest)
                times = rows.column(schemas[stream].time).cast(pa.int64()).to_numpy()
                late[stream] = rows.filter(pa.array(times <= header.complete_us[stream]))
        return {stream: rows for stream, rows in late.items() if rows.num_rows}

    def _lateness_us(self) -> dict[str, int]:
        return {entry.stream.name: entry.stream.lateness_us for entry in self.plan.inputs}

    def _count_rows(
        self, header: BucketHeader, arrivals: Arrivals, segment: Segment, result: StepResult
    ) -> None:
        for stream, applied in result.applied.items():
            ledger = header.ledgers[stream]
            count_arrivals(ledger, arrivals.streams[stream], len(segment.times.get(stream, ())))
            ledger.applied += applied
            ledger.waiting = result.waiting[stream]

    def _store(
        self,
        store: ShardSegments,
        segment: Segment,
        live: Live,
        result: StepResult,
        step: StepInput,
    ) -> None:
        if step.lifetimes:
            store.change_limits()
        store.remove_expired()
        is_outdated = bool(step.lifetimes) and store.begins_with_snapshot
        if step.is_last or is_outdated or store.is_loose(result.live_rows, segment):
            store.replace_all(live.snapshot())
        else:
            store.append(segment, result.newest_instant_us)
            store.merge_small()

    def _output(
        self, header: BucketHeader, result: StepResult, store: ShardSegments
    ) -> ShardOutput:
        return ShardOutput(
            bucket=self.bucket,
            clock_us=header.clock_us,
            first_us=header.first_us,
            limits=header.limits,
            complete_us=header.complete_us,
            partial=result.partial,
            instants=result.instants,
            windows=list(result.windows),
            running=result.running,
            state_bytes=store.stored_bytes,
            segment_count=len(header.segments),
            was_rebuilt=False,
            ledgers=header.ledgers,
        )


def _above(came: StreamArrivals, limit_us: int) -> Instants:
    times = np.concatenate(came.times)
    if len(came.times) > 1:
        times.sort()
    return times[np.searchsorted(times, limit_us, side="right") :]


def _joined(arrivals: Arrivals, feed: str) -> dict[str, pa.Table]:
    """Per stream, some of the rows that were set aside: unplaced or bad ones."""
    kept = {stream: getattr(came, feed) for stream, came in arrivals.streams.items()}
    return {stream: pa.concat_tables(tables) for stream, tables in kept.items() if tables}
