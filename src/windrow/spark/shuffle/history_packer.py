"""Packing rows for a history: by group, as they came.

Each bucket counts its own rows; rows without a usable time are counted by the first.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.plan.history_schema import HistorySchema
from windrow.spark.checkpoint.history_declaration import columns_kept
from windrow.spark.shuffle.far_ahead import Cluster, clusters_of
from windrow.spark.shuffle.packed_rows import pack_rows
from windrow.spark.shuffle.packets import Packet
from windrow.spark.shuffle.routing import rows_by_bucket
from windrow.spark.shuffle.task_packer import TaskPacker
from windrow.windows.column_words import words_of_array

__all__ = ["HistoryPacker", "owners_of"]

# An odd constant that mixes the words of a key; the same in every process and version.
_MIX = np.uint64(0x9E3779B97F4A7C15)


class HistoryPacker(TaskPacker):
    """Gathers the rows of one task."""

    def __init__(self, schema: HistorySchema, buckets: tuple[int, ...], task: int = 0) -> None:
        self._history = schema
        super().__init__(schema.stream, buckets, task, columns_kept(schema))

    def _start(self) -> None:
        super()._start()
        self._rows: list[list[pa.RecordBatch]] = [[] for _ in self._buckets]
        self._newest_us: int | None = None
        self._clusters: list[Cluster] = []

    def _gather(self, batch: pa.RecordBatch, times_us: NDArray[np.int64]) -> None:
        if batch.num_rows == 0:
            return
        newest_us = int(times_us.max())
        self._newest_us = newest_us if self._newest_us is None else max(self._newest_us, newest_us)
        if self._apart_us is not None:
            self._clusters += clusters_of(np.sort(times_us), self._apart_us)
        for held, rows in zip(self._rows, self._split(batch), strict=True):
            if rows.num_rows:
                held.append(rows)

    def _split(self, batch: pa.RecordBatch) -> Sequence[pa.RecordBatch]:
        count = len(self._buckets)
        if count == 1:
            return [batch]
        return rows_by_bucket(batch, owners_of(self._history, batch, count), count)

    def _packets(self) -> Iterator[Packet]:
        bad_time, bad_value = self._bad_time, self._bad.count
        for rows in self._rows:
            packet = self._packet()
            packet.bad_time, packet.bad_value = bad_time, bad_value
            packet.rows_in = sum(batch.num_rows for batch in rows) + bad_time + bad_value
            packet.newest_us, packet.clusters = self._newest_us, self._clusters
            packet.rows = [pack_rows(0, batch) for batch in rows]
            yield packet
            bad_time = bad_value = 0


def owners_of(schema: HistorySchema, batch: pa.RecordBatch, buckets: int) -> NDArray[np.uint16]:
    """The bucket of each row: by its group, or by its time where there are no keys.

    Answers of buckets add up whatever they hold: partitioning only keeps each group in one place.
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
