"""Routing: which buckets a prepared row goes to, when some keys are too heavy for one bucket.

A row goes to the bucket of its key. The rows of a hot key that come of one input are spread over
all buckets, and the rows of that key of all other inputs are sent to all of them: as every joined
row has one row of the first input, it is found in one bucket, once, and buckets add up.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import START_OF_TIME
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import buckets_of_words, can_shard, key_words, mixed_words
from windrow.spark.shuffle.packed_rows import BucketRows
from windrow.windows.codes import needs_codes

__all__ = ["NO_ROUTING", "HotKey", "Router", "Routing", "rows_by_bucket"]

Words = NDArray[np.uint64]
Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class HotKey:
    """A key whose rows of one input are spread over all buckets.

    word: what engine.prepare.key_words makes of it; another key of the same word is treated alike,
    which harms nothing. from_us: older rows stay in the bucket of their key, because rows that they
    may meet came before there were copies.
    """

    position: int
    word: int
    shown: str
    from_us: int = START_OF_TIME


@dataclass(frozen=True)
class Routing:
    """The hot keys of a query; it only ever grows, so that rows keep being copied where needed."""

    keys: tuple[HotKey, ...] = ()

    def to_json(self) -> str:
        """As the checkpoint and the packing tasks have it."""
        return json.dumps([asdict(key) for key in self.keys])

    @classmethod
    def from_json(cls, text: str | bytes) -> Routing:
        """Back from to_json()."""
        return cls(tuple(HotKey(**each) for each in json.loads(text)))


NO_ROUTING = Routing()


class Router:
    """Partitions the prepared rows of a query."""

    def __init__(self, plan: QueryPlan, buckets: int, routing: Routing) -> None:
        self._plan = plan
        self._buckets = buckets if can_shard(plan) else 1
        self._all = buckets
        self._keys = routing.keys

    def parts(self, input_index: int, prepared: pa.RecordBatch) -> BucketRows:
        """The rows for each of the buckets, in order of arrival."""
        if self._buckets == 1:
            return BucketRows.all_in_first(prepared, self._all)
        words = key_words(self._plan, input_index, prepared)
        owners = buckets_of_words(words, self._buckets)
        rows = None
        if self._keys:
            self._spread(input_index, prepared, words, owners)
            rows, owners = self._copied(input_index, words, owners)
        return rows_by_bucket(prepared, owners, self._buckets, rows)

    def _spread(
        self, input_index: int, prepared: pa.RecordBatch, words: Words, owners: NDArray[np.int64]
    ) -> None:
        """Change the owners of rows of hot keys."""
        own = [key for key in self._keys if key.position == input_index]
        if not own:
            return
        hot = _marked(words, own)
        if not hot.any():
            return
        since = [key.from_us for key in own]
        if max(since) > START_OF_TIME:
            times_us = prepared.column("ts").to_numpy()
            for key in own:
                hot &= (words != np.uint64(key.word)) | (times_us >= key.from_us)
        chosen = np.flatnonzero(hot)
        # By what they hold and not by their number: a task that is run again spreads them alike,
        # in whatever order it reads its rows.
        rows = prepared.take(pa.array(chosen))
        columns = [column for column in rows.columns if not needs_codes(column.type)]
        owners[chosen] = buckets_of_words(mixed_words(columns), self._buckets)

    def _copied(
        self, input_index: int, words: Words, owners: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
        """Rows and their owners, where those that others may meet in any bucket come repeatedly."""
        others = [key for key in self._keys if key.position != input_index]
        marked = _marked(words, others) if others else np.zeros(0, np.bool_)
        if not marked.any():
            return None, owners
        rows = np.repeat(np.arange(words.size), np.where(marked, self._buckets, 1))
        repeated = owners[rows]
        count = int(np.count_nonzero(marked))
        repeated[marked[rows]] = np.tile(np.arange(self._buckets), count)
        return rows, repeated


def rows_by_bucket(
    prepared: pa.RecordBatch,
    owners: NDArray[np.integer[Any]],
    buckets: int,
    rows: NDArray[np.int64] | None = None,
) -> BucketRows:
    """The rows of each bucket; rows: which row each owner gets, where some come repeatedly."""
    # Sorting 16-bit numbers stably is a radix sort, and keeps arrival order inside a bucket.
    order = np.argsort(owners.astype(np.uint16, copy=False), kind="stable")
    moved = prepared.take(pa.array(order if rows is None else rows[order]))
    edges = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=buckets))))
    return BucketRows(moved, edges)


def _marked(words: Words, keys: Sequence[HotKey]) -> Marks:
    return np.isin(words, np.array([key.word for key in keys], np.uint64))
