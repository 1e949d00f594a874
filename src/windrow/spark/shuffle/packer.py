"""Packing: the rows of one task become one packet per bucket.

Rows leave the JVM once and cross the shuffle as a few large binaries instead of row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext

from windrow.event_time import MAX_EVENT_TIME
from windrow.plan.model import QueryPlan
from windrow.rows.frames import table_bytes
from windrow.rows.prepare import Preparer
from windrow.rows.weighted_rows import WEIGHT
from windrow.spark.processes.python_worker import plan_of, settle_worker
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.shuffle.bad_values import BadValues
from windrow.spark.shuffle.combining import PaneCombiner, can_combine
from windrow.spark.shuffle.event_times import pack_times
from windrow.spark.shuffle.far_ahead import clusters_of
from windrow.spark.shuffle.heavy_keys import KeySampler
from windrow.spark.shuffle.known_completeness import known_completeness
from windrow.spark.shuffle.packets import Packet, packets_batch
from windrow.spark.shuffle.picking import PanePicker, can_pick
from windrow.spark.shuffle.routing import NO_ROUTING, Router, Routing

__all__ = ["LATE_ROWS_PER_TASK", "DealsOut", "Packer", "PreparesRows", "packing"]

# A task's rows are sent on when they hold this much, so that no packet nears the limit of a value.
TASK_BYTES_LIMIT = 256 << 20
# Late rows are always among the oldest of a task, so these few are all that can be kept of them.
LATE_ROWS_PER_TASK = 256
BAD_TIME_ROWS_PER_TASK = 16

Batches = Iterator[pa.RecordBatch]
Instants = NDArray[np.int64]


def packing(
    plan_text: str,
    stream: str,
    buckets: tuple[int, ...],
    routing: Routing = NO_ROUTING,
    packer_of: Callable[..., Packer] | None = None,
    grid_us: int = 1,
    owner: str = "",
) -> Callable[[Batches], Batches]:
    """The function that Spark runs over each partition of the stream.

    grid_us, owner: rows may be combined between instants of the grid, for the query of this owner.
    """
    kind = packer_of or Packer

    def pack(batches: Batches) -> Batches:
        settle_worker()
        with shipping_errors():
            context = TaskContext.get()
            task = context.partitionId() if context is not None else 0
            plan = plan_of(plan_text)
            packer = kind(plan, stream, buckets, task, routing)
            if grid_us > 1 and not routing.keys:
                packer.combine_above(known_completeness(context, owner, stream), grid_us)
            for batch in batches:
                packer.add(batch)
                if packer.held_bytes > TASK_BYTES_LIMIT:
                    yield packer.take()
            yield packer.take()

    return pack


class PreparesRows(Protocol):
    """Makes rows of a stream ready for the buckets."""

    def prepare(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Prepared rows, in order of arrival."""


class DealsOut(Protocol):
    """Says which bucket gets which rows."""

    def parts(self, position: int, prepared: pa.RecordBatch) -> list[pa.RecordBatch]:
        """The rows for each of the buckets, in order of arrival."""


class Packer:
    """Gathers the rows of one task of one stream."""

    def __init__(
        self,
        plan: QueryPlan,
        stream: str,
        buckets: tuple[int, ...],
        task: int = 0,
        routing: Routing = NO_ROUTING,
    ) -> None:
        self._plan = plan
        self._complete_us: int | None = None
        self._combiners: dict[int, PaneCombiner | PanePicker] = {}
        self._buckets = buckets
        self._task = task
        self._sequence = 0
        self._sampler: KeySampler | None = None
        positions = [i for i, entry in enumerate(plan.inputs) if entry.stream.name == stream]
        self._preparers, self._router = self._tools(plan, positions, routing)
        self._schema = plan.inputs[positions[0]].stream
        self._apart_us = self._schema.most_ahead_of_rows_us
        self._start()

    def _tools(
        self, plan: QueryPlan, positions: list[int], routing: Routing
    ) -> tuple[dict[int, PreparesRows], DealsOut]:
        """What makes rows ready, by position, and what deals them out."""
        preparers: dict[int, PreparesRows] = {each: Preparer(plan, each) for each in positions}
        self._sampler = KeySampler(plan, positions)
        return preparers, Router(plan, len(self._buckets), routing)

    def combine_above(self, complete_us: int | None, grid_us: int) -> None:
        """Combine rows between ticks, or pick among them, where the query allows it.

        complete_us: rows up to it are late; None: nobody knows.
        """
        kind: type[PaneCombiner | PanePicker] | None = None
        if can_combine(self._plan, grid_us):
            kind = PaneCombiner
        elif can_pick(self._plan, grid_us):
            kind = PanePicker
        if self._apart_us is not None:
            return  # Rows that are set aside later must not be in one with others.
        if complete_us is not None and kind is not None:
            self._complete_us = complete_us
            self._combiners = {each: kind(self._plan, each, grid_us) for each in self._preparers}

    def _start(self) -> None:
        self.held_bytes = 0
        self._rows: list[list[tuple[int, bytes | memoryview]]] = [[] for _ in self._buckets]
        self._weighted: list[list[int]] = [[] for _ in self._buckets]
        self._lacking: set[int] = set()  # buckets whose rows are without late ones
        self._times: list[Instants] = []
        self._oldest: list[pa.RecordBatch] = []
        self._unplaced: list[pa.RecordBatch] = []
        self._bad_time = 0
        self._bad = BadValues(self._schema)

    def add(self, given: pa.RecordBatch) -> None:
        """Takes one batch of the stream's rows, of the columns that the query reads."""
        if given.num_rows == 0:
            return
        batch = self._bad.taken(given)
        column = batch.column(self._schema.time).cast(pa.int64())
        times = column.fill_null(MAX_EVENT_TIME).to_numpy(zero_copy_only=False)
        placed = self._bad.placed(times)
        if not placed.all():
            self._set_aside(batch.filter(pa.array(~placed)))
            batch, times = batch.filter(pa.array(placed)), times[placed]
        # Looking whether times are in order takes a tenth of sorting them, and most are.
        ordered = times if (times[1:] >= times[:-1]).all() else np.sort(times)
        self._times.append(ordered)
        self._oldest.append(_oldest(batch, times, ordered))
        self.held_bytes += batch.nbytes
        for position, preparer in self._preparers.items():
            self._spread(position, preparer.prepare(batch))

    def _set_aside(self, rows: pa.RecordBatch) -> None:
        kept = sum(batch.num_rows for batch in self._unplaced)
        self._bad_time += rows.num_rows
        shown = rows.slice(0, max(0, BAD_TIME_ROWS_PER_TASK - kept))
        self._unplaced.append(shown)
        self._bad.show(shown)

    def _spread(self, position: int, prepared: pa.RecordBatch) -> None:
        if prepared.num_rows == 0:
            return
        if self._sampler is not None:
            self._sampler.add(position, prepared)
        combined = self._combined(position, prepared)
        chosen = prepared if combined is None else combined
        for bucket, rows in enumerate(self._router.parts(position, chosen)):
            if rows.num_rows:
                if combined is not None:
                    self._lacking.add(bucket)
                if WEIGHT in rows.schema.names:
                    self._weighted[bucket].append(len(self._rows[bucket]))
                self._rows[bucket].append((position, memoryview(rows.serialize())))

    def _combined(self, position: int, prepared: pa.RecordBatch) -> pa.RecordBatch | None:
        """Fewer rows that stand for those that are not late; None where they are not to be had."""
        if position not in self._combiners:
            return None
        timely = prepared.column("ts").to_numpy(zero_copy_only=False) > self._complete_us
        rows = prepared if timely.all() else prepared.filter(pa.array(timely))
        return self._combiners[position].combined(rows)

    def take(self) -> pa.RecordBatch:
        """The packets of everything gathered so far, one per bucket; gathering starts anew."""
        times = np.concatenate([*self._times, np.empty(0, np.int64)])
        if len(self._times) > 1:
            times.sort()
        packets = [self._packet(bucket, times) for bucket in range(len(self._buckets))]
        self._sequence += 1
        self._start()
        return packets_batch(self._buckets, packets)

    def _packet(self, bucket: int, times: Instants) -> bytes:
        packet = Packet(
            stream=self._schema.name,
            task=self._task,
            sequence=self._sequence,
            rows_in=times.size + self._bad_time + self._bad.count,
            bad_time=self._bad_time,
            bad_value=self._bad.count,
            now_us=self._bad.now_us,
            clusters=[] if self._apart_us is None else clusters_of(times, self._apart_us),
            newest_us=int(times[-1]) if times.size else None,
            oldest_us=int(times[0]) if times.size else None,
            rows=self._rows[bucket],
            weighted=self._weighted[bucket],
            combined_above_us=self._complete_us if bucket in self._lacking else None,
        )
        if bucket == 0:  # the ledger bucket
            packet.times = pack_times(times)
            packet.heavy = [] if self._sampler is None else self._sampler.take()
            if self._oldest:
                packet.oldest = table_bytes(pa.Table.from_batches(self._oldest))
            packet.bad = self._bad.to_bytes()
            if self._unplaced:
                packet.unplaced = table_bytes(pa.Table.from_batches(self._unplaced))
        return packet.to_bytes()


def _oldest(batch: pa.RecordBatch, times: Instants, ordered: Instants) -> pa.RecordBatch:
    if times.size <= LATE_ROWS_PER_TASK:
        return batch
    chosen = np.flatnonzero(times <= ordered[LATE_ROWS_PER_TASK - 1])[:LATE_ROWS_PER_TASK]
    return batch.take(pa.array(chosen))
