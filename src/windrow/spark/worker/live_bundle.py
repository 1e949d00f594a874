"""The live shards of all queries of a bundle in one bucket, on one copy of rows where it can be.

As with the live shard of a single query, all of it can be dropped and rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.operators.registry import first_algorithm
from windrow.operators.sharing import held_values
from windrow.plan.model import QueryPlan
from windrow.rows.faults import FaultError
from windrow.rows.frames import Parts
from windrow.rows.prepare import Preparer, lifetime_of
from windrow.rows.shared_rows import RowPool, Shares, cast_times
from windrow.runtime.pace import Pace
from windrow.runtime.shard import Shard
from windrow.spark.processes.python_worker import plan_of
from windrow.spark.shuffle.carried_rows import CarriedRows
from windrow.spark.shuffle.event_times import pack_times
from windrow.spark.worker.bucket_header import BucketHeader, SegmentEntry
from windrow.spark.worker.bundle_members import Member
from windrow.spark.worker.live_shard import StepInput, StepResult, instants_of
from windrow.spark.worker.pieces import PIECE_UPDATES, run_in_pieces
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.waiting_times import WaitingTimes
from windrow.spark.worker.window_report import WindowReport, window_reports

__all__ = ["LiveBundle"]

Instants = NDArray[np.int64]
Rows = Mapping[str, pa.RecordBatch]  # by stream, as the stream has them


class LiveBundle:
    """What one bucket of a bundle holds in memory, and the times that wait."""

    def __init__(self, carrier: QueryPlan, clock_us: int) -> None:
        self._carried = [CarriedRows(carrier, i) for i in range(len(carrier.inputs))]
        self._streams = carrier.streams
        self._times_of = {each.stream.name: each.stream.time for each in carrier.inputs}
        self._clock_us = clock_us
        self._times = WaitingTimes(dict.fromkeys(carrier.streams, _no_instants))
        self._pool = RowPool()
        self._members: dict[int, _LiveMember] = {}

    @classmethod
    def rebuild(
        cls,
        carrier: QueryPlan,
        segments: Iterable[tuple[Segment, SegmentEntry]],
        header: BucketHeader,
        plans: Mapping[int, QueryPlan],
    ) -> LiveBundle:
        """The bundle that the stored segments, the header and the plans of its queries describe."""
        live = cls(carrier, START_OF_TIME)
        members = map(Member.from_json, header.members)
        waiting = sorted(members, key=lambda each: (each.first_sequence, each.number))
        for segment, entry in segments:
            live._begin_due(waiting, plans, entry.sequence)
            live._feed(live._still_needed(carrier, segment, header.clock_us))
            live._add_times(segment.times)
        live._begin_due(waiting, plans, header.next_sequence)
        live._clock_us = header.clock_us
        for member in live._members.values():
            member.catch_up(header.clock_us)
        live._times.release(header.clock_us, header.reached_us)
        return live

    def advance(self, step: StepInput) -> StepResult:
        """Lets queries begin and end, takes the rows of one batch and moves the clock."""
        for order in step.orders:
            if order.ends:
                self._end(order.number)
            else:
                self._begin(order.number, plan_of(order.plan), order.grid_us, self._clock_us)
        rows = {
            self._streams[input_index]: self._carried[input_index].rows_of_stream(batch)
            for input_index, batch in step.rows.items()
        }
        self._feed(rows)
        self._add_times(step.times)
        self._clock_us = max(self._clock_us, step.until_us)
        given = [member.advance(self._clock_us) for member in self._members.values()]
        partial = Parts(
            {"members": [header for header, _ in given]},
            [section for _, sections in given for section in sections],
        )
        applied, _ = self._times.release(step.until_us, step.reached_us)
        waiting = {stream: self._times.waiting(stream) for stream in applied}
        newest = [member.times.newest_instant_us for member in self._members.values()]
        none = np.empty(0, np.int64)
        return StepResult(partial, none, applied, waiting, max(newest, default=START_OF_TIME))

    def snapshot(self) -> Segment:
        """Not needed: segments of windows of time go by themselves."""
        raise AssertionError("a bundle is rebuilt from segments only")

    def _begin_due(
        self, waiting: list[Member], plans: Mapping[int, QueryPlan], sequence: int
    ) -> None:
        """Let those queries begin that see segments from this one on."""
        while waiting and waiting[0].first_sequence <= sequence:
            member = waiting.pop(0)
            self._begin(member.number, plans[member.number], member.grid_us, member.began_us)

    def _begin(self, number: int, plan: QueryPlan, grid_us: int, clock_us: int) -> None:
        self._members[number] = _LiveMember(number, plan, grid_us, clock_us, self._pool)

    def _end(self, number: int) -> None:
        member = self._members.pop(number, None)
        if member is not None:
            member.shard.close()

    def _still_needed(self, carrier: QueryPlan, segment: Segment, clock_us: int) -> Rows:
        """The rows of a segment without those that have left the longest window."""
        needed = {}
        for input_index, rows in segment.rows.items():
            lifetime = lifetime_of(carrier.inputs[input_index].window)
            held = lifetime.leave(rows.column("ts").to_numpy()) > clock_us
            kept = rows if held.all() else rows.filter(pa.array(held))
            needed[self._streams[input_index]] = self._carried[input_index].rows_of_stream(kept)
        return needed

    def _feed(self, rows: Rows) -> None:
        """Rows that are shared are taken once, before any query takes its part of them."""
        shares = Shares()
        for stream, batch in rows.items():
            shares |= self._pool.append(stream, cast_times(batch, self._times_of[stream]))
        for member in self._members.values():
            member.take(rows, shares)

    def _add_times(self, times: Mapping[str, Instants]) -> None:
        for stream, added in times.items():
            self._times.add(stream, added)
            for member in self._members.values():
                member.times.add(stream, added)


@dataclass(frozen=True)
class _Source:
    stream: str
    preparer: Preparer


class _LiveMember:
    """The shard of one query, and the instants at which it has to answer."""

    def __init__(
        self, number: int, plan: QueryPlan, grid_us: int, clock_us: int, pool: RowPool
    ) -> None:
        self._number = number
        self._sources = [
            _Source(entry.stream.name, Preparer(plan, input_index))
            for input_index, entry in enumerate(plan.inputs)
        ]
        held, is_heavy = held_values(plan, first_algorithm(plan))
        self._readers = pool.readers(plan, held, clock_us, is_heavy=is_heavy)
        self.shard = Shard(plan, grid_us, readers=self._readers)
        self.shard.advance({}, clock_us)
        self._pace = Pace(PIECE_UPDATES)
        self.times = WaitingTimes(instants_of(plan))

    def take(self, rows: Rows, shares: Shares) -> None:
        """Take the query's part of the rows and let them wait."""
        prepared = {}
        for input_index, source in enumerate(self._sources):
            batch = rows.get(source.stream)
            if batch is None or not batch.num_rows:
                continue
            share = shares[self._readers[input_index]] if self._is_shared else None
            if isinstance(share, FaultError):
                raise share
            prepared[input_index] = source.preparer.prepare(batch) if share is None else share
        self.shard.append(prepared)

    def advance(self, clock_us: int) -> Parts:
        """Run to the clock; returns the output, as ShardOutput.by_member() splits it."""
        partial = run_in_pieces(self.shard, {}, clock_us, self._pace)
        _, instants = self.times.release(clock_us, clock_us)
        header = {
            "number": self._number,
            "windows": [report.to_json() for report in self._reports()],
            "running": {
                "algorithm": self.shard.algorithm,
                "figures": asdict(self.shard.figures()),
            },
            "partial": partial.header,
            "sections": len(partial.sections),
        }
        return Parts(header, [pack_times(instants), *partial.sections])

    def _reports(self) -> list[WindowReport]:
        """Its windows, each with its part of the rows that it shares."""
        reports = list(window_reports(self.shard))
        for input_index, reader in enumerate(self._readers if self._is_shared else ()):
            shared = reader.shared
            part = shared.store.nbytes // len(shared.windows)
            own = reports[input_index]
            reports[input_index] = replace(
                own, bytes=own.bytes + part, column_bytes=own.column_bytes + part
            )
        return reports

    @property
    def _is_shared(self) -> bool:
        return bool(self._readers) and self._readers[0].is_open

    def catch_up(self, clock_us: int) -> None:
        """Run to the clock without emitting what was emitted before."""
        run_in_pieces(self.shard, {}, clock_us, self._pace)
        self.shard.show_all_on_grid()
        self.times.release(clock_us, clock_us)


def _no_instants(times_us: Instants) -> Instants:
    return times_us[:0]
