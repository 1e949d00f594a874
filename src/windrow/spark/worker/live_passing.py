"""The live part of a bucket whose rows pass: those that wait for the clock, and nothing else.

A select that only adds rows tells each row when the clock has reached it. Where nobody asks for its
result, no row is needed after that.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.model import QueryPlan
from windrow.rows.frames import Parts, table_bytes
from windrow.rows.prepare import Preparer
from windrow.spark.worker.bucket_header import BucketHeader, SegmentEntry
from windrow.spark.worker.live_shard import StepInput, StepResult
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.waiting_times import WaitingTimes
from windrow.spark.worker.window_report import WindowReport

__all__ = ["PASSED_ON", "LivePassing", "waiting_part"]

PASSED_ON = "passed on"  # what EXPLAIN calls it

Instants = NDArray[np.int64]


class LivePassing:
    """Prepared rows above the clock, in order of arrival, and the times that wait."""

    def __init__(self, plan: QueryPlan) -> None:
        self._rows = Preparer(plan, 0).schema.empty_table()
        # Whoever takes changes only is told no instants of answers.
        self._times = WaitingTimes({stream: _no_instants for stream in plan.streams})

    @classmethod
    def rebuild(
        cls,
        plan: QueryPlan,
        segments: Iterable[tuple[Segment, SegmentEntry]],
        header: BucketHeader,
    ) -> LivePassing:
        """What the stored segments and the header describe."""
        live = cls(plan)
        tables = [live._rows]
        for segment, _ in segments:
            kept = waiting_part(segment, header.clock_us, header.reached_us)
            tables += [_as_table(rows) for rows in kept.rows.values()]
            for stream, times in kept.times.items():
                live._times.add(stream, times)
        live._rows = pa.concat_tables(tables)
        return live

    def advance(self, step: StepInput) -> StepResult:
        """Takes the rows of one batch and moves the clock: rows up to it are told and forgotten."""
        rows = pa.concat_tables([self._rows, *map(_as_table, step.rows.values())])
        is_told = _times_of(rows) <= step.until_us
        told = rows if is_told.all() else rows.filter(pa.array(is_told))
        self._rows = rows.filter(pa.array(~is_told)).combine_chunks()
        for stream, added in step.times.items():
            self._times.add(stream, added)
        applied, instants = self._times.release(step.until_us, step.reached_us)
        waiting = {stream: self._times.waiting(stream) for stream in applied}
        partial = Parts({"rows": told.num_rows}, [table_bytes(told)] if told.num_rows else [])
        running = {"algorithm": PASSED_ON}
        windows = (self._report(),)
        return StepResult(partial, instants, applied, waiting, windows=windows, running=running)

    def _report(self) -> WindowReport:
        size = self._rows.nbytes
        count = self._rows.num_rows
        return WindowReport(0, bytes=size, waiting=count, column_bytes=size, capacity=count)

    def snapshot(self) -> Segment:
        """All rows and times that wait."""
        return Segment({0: self._rows}, self._times.held()[0])


def waiting_part(segment: Segment, clock_us: int, reached_us: int) -> Segment:
    """What of a segment waits still."""
    rows = {}
    for number, batch in segment.rows.items():
        waits = _times_of(batch) > clock_us
        if waits.any():
            rows[number] = batch.filter(pa.array(waits))
    times = {stream: each[each > reached_us] for stream, each in segment.times.items()}
    return Segment(rows, {stream: each for stream, each in times.items() if each.size})


def _times_of(rows: pa.Table | pa.RecordBatch) -> Instants:
    times: Instants = rows.column("ts").to_numpy()
    return times


def _as_table(rows: pa.Table | pa.RecordBatch) -> pa.Table:
    return rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])


def _no_instants(times_us: Instants) -> Instants:
    return times_us[:0]
