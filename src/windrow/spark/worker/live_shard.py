"""A live shard: a bucket's shard in memory, with the times that wait of the rows it counts.

It is only ever a cache of what the state store holds: it can be dropped and rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.rows.frames import Parts
from windrow.rows.life import ALWAYS, life_of
from windrow.rows.prepare import Preparer
from windrow.rows.weighted_rows import WEIGHT, with_weights
from windrow.runtime.pace import Pace
from windrow.runtime.shard import Shard
from windrow.spark.shuffle.member_orders import MemberOrder
from windrow.spark.worker.bucket_header import BucketHeader, SegmentEntry
from windrow.spark.worker.clock import NEVER
from windrow.spark.worker.pieces import PIECE_UPDATES, run_in_pieces, trim
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.waiting_times import WaitingTimes
from windrow.spark.worker.window_report import WindowReport, window_reports
from windrow.windows.lifetime import Lifetime

__all__ = ["Live", "LiveShard", "StepInput", "StepResult", "all_rows", "instants_of"]

Instants = NDArray[np.int64]


@dataclass(frozen=True)
class StepInput:
    """What one batch brings to a live shard.

    lifetimes: those that windows get before the rows come. until_us: the clock; reached_us: how far
    the streams are. is_last: the life of the query ends with it, and no row is needed afterwards.
    orders: queries of a bundle that begin and end before the rows come.
    """

    rows: Mapping[int, pa.RecordBatch]
    times: Mapping[str, Instants]
    until_us: int
    reached_us: int
    lifetimes: Mapping[int, Lifetime] = field(default_factory=dict)
    life: tuple[int, int] = ALWAYS
    is_last: bool = False
    orders: Sequence[MemberOrder] = ()


@dataclass(frozen=True)
class StepResult:
    """The output of one step of a live shard, as values that can cross a process boundary."""

    partial: Parts  # worker.pieces
    instants: Instants
    applied: Mapping[str, int] = field(default_factory=dict)
    waiting: Mapping[str, int] = field(default_factory=dict)
    newest_instant_us: int = START_OF_TIME  # the last instant that is still to come
    windows: tuple[WindowReport, ...] = ()
    running: Mapping[str, Any] = field(default_factory=dict)  # algorithm and figures, for EXPLAIN

    @property
    def live_rows(self) -> int:
        """Rows that the shard holds, over all windows."""
        return sum(window.rows for window in self.windows)


class Live(Protocol):
    """What a bucket holds in memory between batches."""

    def advance(self, step: StepInput) -> StepResult:
        """Takes what one batch brings and moves the clock."""

    def snapshot(self) -> Segment:
        """Everything that it holds, as one segment."""


class LiveShard:
    """The shard of one bucket, and the times that wait of the rows that it counts."""

    def __init__(self, plan: QueryPlan, shard: Shard) -> None:
        self._plan = plan
        self._shard = shard
        self._pace = Pace(PIECE_UPDATES)
        self._times = WaitingTimes(instants_of(plan))

    @classmethod
    def rebuild(
        cls,
        plan: QueryPlan,
        segments: Iterable[tuple[Segment, SegmentEntry]],
        header: BucketHeader,
        grid_us: int,
    ) -> LiveShard:
        """The live shard that the stored segments and the header describe."""
        stored = list(segments)
        live = cls(plan, _shard_of(plan, stored, header, grid_us))
        life = life_of(plan, header.first_us) or NEVER
        for segment, entry in stored:
            is_known = entry.sequence >= header.life_sequence
            for stream, times in segment.times.items():
                live._times.add(stream, times, life if is_known else NEVER)
            if segment.instants is not None:
                live._times.add_instants(segment.instants)
        live._times.release(header.clock_us, header.reached_us)
        return live

    def advance(self, step: StepInput) -> StepResult:
        """Takes the rows of one batch and moves the clock."""
        partial = run_in_pieces(self._shard, step.rows, step.until_us, self._pace, step.lifetimes)
        if step.is_last:
            self._forget_rows()
        if self._plan.error_percent is not None:
            trim(self._shard)  # it may take turns, and become narrow again without an order
        windows = window_reports(self._shard)
        running = {"algorithm": self._shard.algorithm, "figures": asdict(self._shard.figures())}
        for stream, added in step.times.items():
            self._times.add(stream, added, step.life)
        applied, instants = self._times.release(step.until_us, step.reached_us)
        waiting = {stream: self._times.waiting(stream) for stream in applied}
        newest = self._times.newest_instant_us
        return StepResult(partial, instants, applied, waiting, newest, windows, running)

    def _forget_rows(self) -> None:
        """Nothing moves any more: a shard without rows, which has nothing to say, is enough."""
        clock_us = self._shard.clock
        self._shard.close()
        self._shard = Shard(self._plan)
        self._shard.advance({}, clock_us)

    def snapshot(self) -> Segment:
        """Everything that it holds, as one segment."""
        times, instants = self._times.held()
        return Segment(times=times, snapshot=self._shard.snapshot(), instants=instants)


def _shard_of(
    plan: QueryPlan,
    segments: list[tuple[Segment, SegmentEntry]],
    header: BucketHeader,
    grid_us: int,
) -> Shard:
    clock_us, limits = header.clock_us, header.limits
    if not segments or segments[0][0].snapshot is None:
        everything = all_rows([segment for segment, _ in segments])
        held = {
            input_index: limits.held(plan, input_index, each)
            for input_index, each in everything.items()
        }
        return Shard.rebuild(plan, held, clock_us, grid_us, limits.lifetimes)
    # A snapshot and the segments after it: run on from it, then build it once more, because only a
    # shard that is built at the clock knows that every group is to be reported on the grid.
    shard = Shard.restore(plan, bytes(segments[0][0].snapshot), grid_us)
    for segment, entry in segments[1:]:
        rows = {input_index: _one_batch(table) for input_index, table in segment.rows.items()}
        changes = {
            input_index: shard.prepared(input_index, batch) for input_index, batch in rows.items()
        }
        shard.advance(changes, entry.clock_us)
    shard.advance({}, clock_us)
    return Shard.restore(plan, shard.snapshot(), grid_us) if grid_us > 1 else shard


def all_rows(segments: list[Segment]) -> dict[int, pa.Table]:
    """The rows of segments by input, in order of arrival."""
    rows: dict[int, list[pa.Table]] = {}
    for segment in segments:
        for input_index, table in segment.rows.items():
            rows.setdefault(input_index, []).append(table)
    return {input_index: _joined(tables) for input_index, tables in rows.items()}


def _joined(tables: list[pa.Table]) -> pa.Table:
    if any(WEIGHT in table.schema.names for table in tables):
        weighted = [with_weights(_one_batch(table)) for table in tables]
        return pa.Table.from_batches(weighted)
    return pa.concat_tables(tables)


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches = table.to_batches()
    return pa.concat_batches(batches) if batches else pa.RecordBatch.from_pylist([], table.schema)


def instants_of(plan: QueryPlan) -> dict[str, Callable[[Instants], Instants]]:
    """Per stream, the instants at which rows of these times ask for an answer."""
    preparers: dict[str, list[Preparer]] = {}
    for input_index, entry in enumerate(plan.inputs):
        preparers.setdefault(entry.stream.name, []).append(Preparer(plan, input_index))
    is_first_only = plan.every_us is not None
    return {stream: _joined_instants(each, is_first_only) for stream, each in preparers.items()}


def _joined_instants(
    preparers: list[Preparer], is_first_only: bool
) -> Callable[[Instants], Instants]:
    def instants(times_us: Instants) -> Instants:
        if is_first_only:  # answers come at ticks: only when the first row came counts
            times_us = times_us[:1]
        return np.concatenate([preparer.instants(times_us) for preparer in preparers])

    return instants
