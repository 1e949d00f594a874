"""Packing rows for a history: those of one task become one packet per bucket.

Every bucket gets a packet, an empty one too, with the newest time that the task saw: so all buckets
come to the same completeness. Each counts its own rows; rows without a usable time are counted by
the first.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark import TaskContext

from windrow.event_time import MAX_EVENT_TIME
from windrow.plan.history_schema import HistorySchema
from windrow.spark.checkpoint.history_declaration import columns_kept, history_of_text
from windrow.spark.processes.python_worker import settle_worker
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.shuffle.bad_values import BadValues
from windrow.spark.shuffle.far_ahead import Cluster, clusters_of
from windrow.spark.shuffle.packer import TASK_BYTES_LIMIT
from windrow.spark.shuffle.packets import Packet, packets_batch
from windrow.windows.key_coder import words_of_array

__all__ = ["HistoryPacker", "history_packing", "owners_of"]

Batches = Iterator[pa.RecordBatch]

# An odd constant that mixes the words of a key; the same in every process and version.
_MIX = np.uint64(0x9E3779B97F4A7C15)


def history_packing(text: str, buckets: tuple[int, ...]) -> Callable[[Batches], Batches]:
    """The function that Spark runs over each partition of the stream."""

    def pack(batches: Batches) -> Batches:
        settle_worker()
        with shipping_errors():
            context = TaskContext.get()
            task = context.partitionId() if context is not None else 0
            packer = HistoryPacker(history_of_text(text), buckets, task)
            for batch in batches:
                packer.add(batch)
                if packer.held_bytes > TASK_BYTES_LIMIT:
                    yield packer.take()
            yield packer.take()

    return pack


class HistoryPacker:
    """Gathers the rows of one task."""

    def __init__(self, schema: HistorySchema, buckets: tuple[int, ...], task: int = 0) -> None:
        self._schema = schema
        self._names = list(columns_kept(schema))
        self._buckets = buckets
        self._task = task
        self._sequence = 0
        self._start()

    def _start(self) -> None:
        self.held_bytes = 0
        self._rows: list[list[pa.RecordBatch]] = [[] for _ in self._buckets]
        self._bad_time = 0
        self._bad = BadValues(self._schema.stream)
        self._newest_us: int | None = None
        self._clusters: list[Cluster] = []

    def add(self, given: pa.RecordBatch) -> None:
        """Takes one batch of the stream's rows."""
        batch = self._bad.taken(given, self._names)
        times = batch.column(0).cast(pa.int64()).fill_null(MAX_EVENT_TIME)
        times_us = times.to_numpy(zero_copy_only=False)
        placed = self._bad.placed(times_us)
        if not placed.all():
            self._bad_time += int(placed.size - np.count_nonzero(placed))
            batch, times_us = batch.filter(pa.array(placed)), times_us[placed]
        if batch.num_rows == 0:
            return
        newest_us = int(times_us.max())
        self._newest_us = newest_us if self._newest_us is None else max(self._newest_us, newest_us)
        apart_us = self._schema.stream.most_ahead_of_rows_us
        if apart_us is not None:
            self._clusters += clusters_of(np.sort(times_us), apart_us)
        self.held_bytes += batch.nbytes
        for held, rows in zip(self._rows, self._split(batch), strict=True):
            if rows.num_rows:
                held.append(rows)

    def _split(self, batch: pa.RecordBatch) -> list[pa.RecordBatch]:
        count = len(self._buckets)
        if count == 1:
            return [batch]
        # Sorting 16-bit numbers stably is a radix sort, and keeps arrival order inside a bucket.
        owners = owners_of(self._schema, batch, count)
        moved = batch.take(pa.array(np.argsort(owners, kind="stable")))
        edges = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=count))))
        return [moved.slice(first, end - first) for first, end in itertools.pairwise(edges)]

    def take(self) -> pa.RecordBatch:
        """The packets of everything gathered so far, one per bucket; gathering starts anew."""
        packets = [self._packet(bucket) for bucket in range(len(self._buckets))]
        self._sequence += 1
        self._start()
        return packets_batch(self._buckets, packets)

    def _packet(self, bucket: int) -> bytes:
        rows = self._rows[bucket]
        bad_time, bad_value = (self._bad_time, self._bad.count) if bucket == 0 else (0, 0)
        packet = Packet(
            stream=self._schema.stream.name,
            task=self._task,
            sequence=self._sequence,
            rows_in=sum(batch.num_rows for batch in rows) + bad_time + bad_value,
            bad_time=bad_time,
            bad_value=bad_value,
            newest_us=self._newest_us,
            now_us=self._bad.now_us,
            clusters=self._clusters,
            rows=[(0, memoryview(batch.serialize())) for batch in rows],
        )
        return packet.to_bytes()


def owners_of(schema: HistorySchema, batch: pa.RecordBatch, buckets: int) -> NDArray[np.uint16]:
    """The bucket of each row: by its group, or by its time where there are no keys.

    Answers of buckets add up whatever they hold: dealing groups out only keeps each in one place.
    """
    names = [key.name for key in schema.keys] or [schema.stream.time]
    mixed = np.zeros(batch.num_rows, np.uint64)
    for name in names:
        mixed = (mixed ^ _words(batch.column(name))) * _MIX
        mixed ^= mixed >> np.uint64(31)
    mixed *= _MIX
    return ((mixed >> np.uint64(33)) % np.uint64(buckets)).astype(np.uint16)


def _words(column: pa.Array) -> NDArray[np.uint64]:
    if not pa.types.is_string(column.type):
        words, valid = words_of_array(column)
        return (np.where(valid, words, -1) if valid.size else words).view(np.uint64)
    encoded = pc.dictionary_encode(column, null_encoding="encode")
    sums = [zlib.crc32((text or "").encode()) for text in encoded.dictionary.to_pylist()]
    words_of_texts: NDArray[np.uint64] = np.array(sums, np.uint64)[encoded.indices.to_numpy()]
    return words_of_texts
