"""Packing rows for a query: prepared, combined where the query allows it, and routed by key."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.model import one_block
from windrow.rows.frames import table_bytes
from windrow.rows.prepare import Preparer
from windrow.rows.set_aside import NOTED_IN
from windrow.spark.shuffle.aside_rows import TaskLedger
from windrow.spark.shuffle.combining import PaneCombiner, can_combine
from windrow.spark.shuffle.event_times import pack_times
from windrow.spark.shuffle.far_ahead import clusters_of
from windrow.spark.shuffle.heavy_keys import KeySampler
from windrow.spark.shuffle.packed_rows import BucketRows, PackedRows, packed_by_bucket
from windrow.spark.shuffle.packets import Packet
from windrow.spark.shuffle.picking import PanePicker, can_pick
from windrow.spark.shuffle.routing import NO_ROUTING, Router, Routing
from windrow.spark.shuffle.task_packer import TaskPacker

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["LATE_ROWS_PER_TASK", "Packer", "PartitionsRows", "PreparesRows"]

# Late rows are always among the oldest of a task, so these few are all that can be kept of them.
LATE_ROWS_PER_TASK = 256
BAD_TIME_ROWS_PER_TASK = 16

Batches = Iterator[pa.RecordBatch]
Instants = NDArray[np.int64]


class PreparesRows(Protocol):
    """Makes rows of a stream ready for the buckets."""

    def prepared_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Prepared rows, in order of arrival."""


class PartitionsRows(Protocol):
    """Says which bucket gets which rows."""

    def parts(self, input_index: int, prepared: pa.RecordBatch) -> BucketRows:
        """The rows for each of the buckets, in order of arrival."""


class Packer(TaskPacker):
    """Gathers the rows of one task of one stream, of the columns that the query reads."""

    def __init__(
        self,
        plan: RunnablePlan,
        stream: str,
        buckets: tuple[int, ...],
        task: int = 0,
        routing: Routing = NO_ROUTING,
    ) -> None:
        self._plan = plan
        self._complete_us: int | None = None
        self._combiners: dict[int, PaneCombiner | PanePicker] = {}
        self._sampler: KeySampler | None = None
        inputs = [i for i, entry in enumerate(plan.inputs) if entry.stream.name == stream]
        super().__init__(plan.inputs[inputs[0]].stream, buckets, task)
        self._preparers, self._router = self._tools(inputs, routing)

    def _tools(
        self, inputs: list[int], routing: Routing
    ) -> tuple[dict[int, PreparesRows], PartitionsRows]:
        """What makes rows ready, by input, and what partitions them."""
        plan = one_block(self._plan)
        preparers: dict[int, PreparesRows] = {each: Preparer(plan, each) for each in inputs}
        self._sampler = KeySampler.of_block(plan, inputs)
        return preparers, Router(plan, len(self._buckets), routing)

    def combine_above(self, complete_us: int | None, grid_us: int) -> None:
        """Combine rows between ticks, or pick among them, where the query allows it.

        complete_us: rows up to it are late; None: nobody knows.
        """
        kind: type[PaneCombiner | PanePicker] | None = None
        plan = one_block(self._plan)
        if can_combine(plan, grid_us):
            kind = PaneCombiner
        elif can_pick(plan, grid_us):
            kind = PanePicker
        if self._apart_us is not None:
            return  # Rows that are set aside later must not be in one with others.
        if complete_us is not None and kind is not None:
            self._complete_us = complete_us
            self._combiners = {each: kind(plan, each, grid_us) for each in self._preparers}

    def _start(self) -> None:
        super()._start()
        self._rows: list[list[PackedRows]] = [[] for _ in self._buckets]
        self._lacking: set[int] = set()  # buckets whose rows are without late ones
        self._times: list[Instants] = []
        self._oldest: list[pa.RecordBatch] = []
        self._unplaced: list[pa.RecordBatch] = []
        self._aside = TaskLedger([entry.alias for entry in self._plan.inputs])

    def _gather(self, batch: pa.RecordBatch, times_us: Instants) -> None:
        # Looking whether times are in order takes a tenth of sorting them, and most are.
        ordered = times_us if (times_us[1:] >= times_us[:-1]).all() else np.sort(times_us)
        self._times.append(ordered)
        self._oldest.append(_oldest(batch, times_us, ordered))
        self._aside.times_us = times_us
        token = NOTED_IN.set(self._aside)
        try:
            for input_index, preparer in self._preparers.items():
                self._spread(input_index, preparer.prepared_batch(batch))
        finally:
            NOTED_IN.reset(token)

    def _set_aside(self, rows: pa.RecordBatch) -> None:
        kept = sum(batch.num_rows for batch in self._unplaced)
        super()._set_aside(rows)
        shown = rows.slice(0, max(0, BAD_TIME_ROWS_PER_TASK - kept))
        self._unplaced.append(shown)
        self._bad.show(shown)

    def _spread(self, input_index: int, prepared: pa.RecordBatch) -> None:
        if prepared.num_rows == 0:
            return
        if self._sampler is not None:
            self._sampler.add(input_index, prepared)
        combined = self._combined(input_index, prepared)
        chosen = prepared if combined is None else combined
        parts = self._router.parts(input_index, chosen)
        for bucket, packed in packed_by_bucket(input_index, parts):
            if combined is not None:
                self._lacking.add(bucket)
            self._rows[bucket].append(packed)

    def _combined(self, input_index: int, prepared: pa.RecordBatch) -> pa.RecordBatch | None:
        """Fewer rows that stand for those that are not late; None where they are not to be had."""
        if input_index not in self._combiners:
            return None
        timely = prepared.column("ts").to_numpy(zero_copy_only=False) > self._complete_us
        rows = prepared if timely.all() else prepared.filter(pa.array(timely))
        return self._combiners[input_index].combined(rows)

    def _packets(self) -> Iterator[Packet]:
        times = np.concatenate([*self._times, np.empty(0, np.int64)])
        if len(self._times) > 1:
            times.sort()
        told = self._packet()
        self._describe(told, times)
        ledger = self._task % len(self._buckets)
        for bucket, rows in enumerate(self._rows):
            if not rows and bucket != ledger:
                yield told
                continue
            packet = copy(told)
            packet.rows = rows
            packet.combined_above_us = self._complete_us if bucket in self._lacking else None
            if bucket == ledger:
                self._add_ledger(packet, times)
            yield packet

    def _describe(self, packet: Packet, times: Instants) -> None:
        """What every bucket learns about the whole stream."""
        packet.clusters = [] if self._apart_us is None else clusters_of(times, self._apart_us)
        if times.size:
            packet.oldest_us, packet.newest_us = int(times[0]), int(times[-1])

    def _add_ledger(self, packet: Packet, times: Instants) -> None:
        """What only the bucket receives that counts the rows of this task.

        Tasks take turns among the buckets, so that no bucket has the times of all rows.
        """
        packet.rows_in = times.size + self._bad_time + self._bad.count
        packet.bad_time, packet.bad_value = self._bad_time, self._bad.count
        packet.times = pack_times(times)
        packet.heavy = [] if self._sampler is None else self._sampler.drain()
        if self._oldest:
            packet.oldest = table_bytes(pa.Table.from_batches(self._oldest))
        packet.bad, packet.aside = self._bad.to_bytes(), self._aside.to_bytes()
        if self._unplaced:
            packet.unplaced = table_bytes(pa.Table.from_batches(self._unplaced))


def _oldest(batch: pa.RecordBatch, times: Instants, ordered: Instants) -> pa.RecordBatch:
    if times.size <= LATE_ROWS_PER_TASK:
        return batch
    chosen = np.flatnonzero(times <= ordered[LATE_ROWS_PER_TASK - 1])[:LATE_ROWS_PER_TASK]
    return batch.take(pa.array(chosen))
