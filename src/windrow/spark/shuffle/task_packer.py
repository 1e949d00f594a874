"""Packing: the rows of one task become one packet per bucket.

Rows leave the JVM once and cross the shuffle as a few large binaries instead of row by row. Every
bucket gets a packet, an empty one too, so that all come to the same completeness.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext

from windrow.event_time import MAX_EVENT_TIME
from windrow.schema import StreamSchema
from windrow.spark.processes.python_worker import prepare_worker
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.shuffle.bad_values import BadValues
from windrow.spark.shuffle.batch_time import known_time
from windrow.spark.shuffle.packets import Packet, packets_batch

__all__ = ["TaskPacker", "packing"]

# A task's rows are sent on when they hold this much, so that no packet nears the limit of a value.
TASK_BYTES_LIMIT = 256 << 20

Batches = Iterator[pa.RecordBatch]
Instants = NDArray[np.int64]


def packing(
    packer_of: Callable[[int, TaskContext | None], TaskPacker],
    rows_of: Callable[[Batches], Batches] = iter,
) -> Callable[[Batches], Batches]:
    """The function that Spark runs over each partition of a stream.

    packer_of: makes the packer of a task, by its number. rows_of: the rows, of what Spark gives.
    """

    def pack(batches: Batches) -> Batches:
        prepare_worker()
        with shipping_errors():
            context = TaskContext.get()
            packer = packer_of(context.partitionId() if context is not None else 0, context)
            packer.now_us = known_time(context)
            for batch in rows_of(batches):
                packer.add(batch)
                if packer.held_bytes > TASK_BYTES_LIMIT:
                    yield packer.take()
            yield packer.take()

    return pack


class TaskPacker(ABC):
    """Gathers the rows of one task of one stream; names: of these columns, all where none is."""

    def __init__(
        self, schema: StreamSchema, buckets: tuple[int, ...], task: int, names: Sequence[str] = ()
    ) -> None:
        self._schema = schema
        self._names = names
        self._apart_us = schema.most_ahead_of_rows_us
        self._buckets = buckets
        self.now_us: int | None = None  # when the batch began, where that is known
        self._task = task
        self._sequence = 0
        self._start()

    def _start(self) -> None:
        """Nothing is gathered."""
        self.held_bytes = 0
        self._bad_time = 0
        self._bad = BadValues(self._schema)

    def add(self, given: pa.RecordBatch) -> None:
        """Takes one batch of the stream's rows."""
        if given.num_rows == 0:
            return
        batch = self._bad.taken(given, self._names)
        column = batch.column(self._schema.time).cast(pa.int64())
        times = column.fill_null(MAX_EVENT_TIME).to_numpy(zero_copy_only=False)
        placed = self._bad.placed(times, self.now_us)
        if not placed.all():
            self._set_aside(batch.filter(pa.array(~placed)))
            batch, times = batch.filter(pa.array(placed)), times[placed]
        self.held_bytes += batch.nbytes
        self._gather(batch, times)

    def _set_aside(self, rows: pa.RecordBatch) -> None:
        """Rows whose time cannot be believed."""
        self._bad_time += rows.num_rows

    @abstractmethod
    def _gather(self, batch: pa.RecordBatch, times_us: Instants) -> None:
        """Rows that can be held, and their times."""

    def take(self) -> pa.RecordBatch:
        """The packets of everything gathered so far, one per bucket; the buffer is then empty."""
        packets = list(self._packets())
        # Buckets that get no rows get one and the same packet.
        distinct = {id(packet): packet for packet in packets}
        written = {place: packet.to_bytes() for place, packet in distinct.items()}
        self._sequence += 1
        self._start()
        return packets_batch(self._buckets, [written[id(packet)] for packet in packets])

    @abstractmethod
    def _packets(self) -> Iterator[Packet]:
        """A packet for each bucket; one may be for several."""

    def _packet(self) -> Packet:
        """A packet with what every bucket receives."""
        return Packet(
            stream=self._schema.name,
            task=self._task,
            sequence=self._sequence,
            now_us=self.now_us,
        )
