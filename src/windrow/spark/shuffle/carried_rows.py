"""Rows as a bundle carries them: the time, and columns of the stream as they came.

Each query of the bundle filters and evaluates them for itself, in the bucket.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.model import QueryPlan
from windrow.rows.checked_columns import leaf_of
from windrow.rows.evaluate import evaluate_or_null
from windrow.rows.prepare import buckets_of_words, mixed_words
from windrow.spark.shuffle.carrier import carried_columns

__all__ = ["CarriedRows"]

# Before the names of columns, so that none is taken for the time in microseconds.
_PREFIX = "c_"


class CarriedRows:
    """Rows of the input at `position` of a carrier."""

    def __init__(self, carrier: QueryPlan, input_index: int) -> None:
        entry = carrier.inputs[input_index]
        self._stream = entry.stream
        self._keys = entry.keys
        self._names = [
            name for name in carried_columns(carrier, input_index) if name != self._stream.time
        ]
        kinds = [self._stream.column(name).type.arrow for name in self._names]
        named = [_PREFIX + name for name in self._names]
        self.schema = pa.schema([("ts", pa.int64()), *zip(named, kinds, strict=True)])

    def prepared_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows of the stream as they are carried."""
        columns = [batch.column(self._stream.time).cast(pa.int64())]
        columns += [batch.column(name) for name in self._names]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def rows_of_stream(self, carried: pa.RecordBatch | pa.Table) -> pa.RecordBatch:
        """Rows as the stream has them again, with those columns that were carried."""
        kind = self._stream.column(self._stream.time).type.arrow
        names, columns = [self._stream.time], [_one(carried.column("ts")).cast(kind)]
        for name in carried.schema.names:
            if name.startswith(_PREFIX):
                names.append(name.removeprefix(_PREFIX))
                columns.append(_one(carried.column(name)))
        return pa.RecordBatch.from_arrays(columns, names)

    def bucket_of(self, carried: pa.RecordBatch, buckets: int) -> NDArray[np.int64]:
        """The bucket of each row: by the keys or, where there are none, by the time."""
        if buckets == 1:
            return np.zeros(carried.num_rows, np.int64)
        columns = [carried.column("ts")]
        if self._keys:
            # Whether a row without a value is in the answer, the shards know.
            leaf = leaf_of(self.rows_of_stream(carried))
            columns = [evaluate_or_null(key, leaf, carried.num_rows) for key in self._keys]
        return buckets_of_words(mixed_words(columns), buckets)


def _one(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
