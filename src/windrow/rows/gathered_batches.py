"""Small Arrow batches that wait to be taken together: checked and copied at once.

They are copies: who pushes may write into his own arrays again as soon as push() has returned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.schema import StreamSchema

__all__ = ["SMALL_ROWS", "GatheredBatches"]

# A push of more rows than this is taken by itself.
SMALL_ROWS = 16_384
# So many rows, bytes or pushes are taken together.
GATHERED_ROWS = 98_304
GATHERED_BYTES = 8 << 20
GATHERED_BATCHES = 1_024

Piece = tuple[pa.Buffer, int]  # the rows of one push, and how many they are


class GatheredBatches:
    """The batches of one stream that wait, in order of arrival.

    >>> from windrow.schema import columns_of
    >>> stream = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
    >>> waiting = GatheredBatches(stream)
    >>> for number in (1, 2):
    ...     waiting.add(pa.record_batch([[0], [number]], schema=stream.arrow))
    >>> batch, pushes = waiting.joined()
    >>> batch["x"].to_pylist(), pushes.tolist()
    ([1, 2], [0, 1])
    """

    def __init__(self, stream: StreamSchema, limit_bytes: int = GATHERED_BYTES) -> None:
        self._schema = stream.arrow
        self._time = stream.time
        # Nested values are converted with care for what is inside of them.
        self._is_plain = not any(column.type.is_nested for column in stream.columns)
        self._limit_bytes = min(limit_bytes, GATHERED_BYTES)
        self.pieces: list[Piece] = []
        self.count = 0
        self.nbytes = 0
        self.newest_us = START_OF_TIME  # the latest time of those that wait
        self._is_urgent = False

    def fitting(self, rows: Any) -> pa.RecordBatch | None:
        """The rows as one batch where they are of the stream's types, sound and few; else None."""
        if type(rows) is pa.Table:
            rows = _only_batch(rows)
        if type(rows) is not pa.RecordBatch or not self._is_plain:
            return None
        if not 0 < rows.num_rows <= SMALL_ROWS or not rows.schema.equals(self._schema):
            return None
        try:
            rows.validate(full=True)
        except pa.ArrowInvalid:
            return None
        return rows

    def add(self, batch: pa.RecordBatch, *, is_urgent: bool = False) -> None:
        """Keep a copy of rows of the stream's types; is_urgent: somebody should be told of them."""
        if not batch.num_rows:
            return
        self._is_urgent = is_urgent
        piece = batch.serialize(), batch.num_rows
        self.pieces.append(piece)
        self.nbytes += piece[0].size
        self.count += piece[1]

    @property
    def is_full(self) -> bool:
        """Whether those that wait should be taken now."""
        is_large = self.count >= GATHERED_ROWS or self.nbytes >= self._limit_bytes
        return self._is_urgent or is_large or len(self.pieces) >= GATHERED_BATCHES

    def joined(self) -> tuple[pa.RecordBatch, NDArray[np.int64]]:
        """All rows, and the number of the push of each; they stay until they are forgotten."""
        schema = self._schema
        batches = [pa.ipc.read_record_batch(data, schema) for data, _ in self.pieces]
        counts = [count for _, count in self.pieces]
        batch = batches[0] if len(batches) == 1 else pa.concat_batches(batches)
        return batch, np.repeat(np.arange(len(counts)), counts)

    def sort_first(self) -> None:
        """Let the rows of the first push be in the order of their times."""
        data, count = self.pieces[0]
        batch = pa.ipc.read_record_batch(data, self._schema)
        ordered = batch.take(pc.sort_indices(batch.column(self._time)))
        self._keep([(ordered.serialize(), count), *self.pieces[1:]])

    def drop_after(self, count: int) -> None:
        """Only so many of the pushes were made, after all."""
        self._keep(self.pieces[:count])

    def forget(self, count: int) -> None:
        """The first rows were taken, or refused."""
        kept = list(self.pieces)
        first = 0
        while first < len(kept) and count >= kept[first][1]:
            count -= kept[first][1]
            first += 1
        del kept[:first]
        if kept and count:
            batch = pa.ipc.read_record_batch(kept[0][0], self._schema).slice(count)
            kept[0] = (batch.serialize(), batch.num_rows)
        self._keep(kept)

    def _keep(self, pieces: list[Piece]) -> None:
        self.pieces = pieces
        if not pieces:
            self.newest_us, self._is_urgent = START_OF_TIME, False
        self.count = sum(count for _, count in pieces)
        self.nbytes = sum(data.size for data, _ in pieces)


def _only_batch(table: pa.Table) -> pa.RecordBatch | None:
    """The rows of a table whose columns are in one piece each."""
    if table.num_rows > SMALL_ROWS or not table.num_columns:
        return None
    batches = table.to_batches()
    return batches[0] if len(batches) == 1 else None
