"""Rows of a stream made ready for a shard: filtered, pruned, every expression evaluated.

Prepared rows have the columns ts (int64), k0.. (join key), g0.. (groups), p0.. (partitions), n0..
(what negated inputs are compared with), v0.. (values) and, for windows that count rows, live
(whether the row takes part: it counts in the window either way).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.plan.expressions import Call, ColumnRef, Expr, walk
from windrow.plan.model import QueryPlan, WindowSpec
from windrow.plan.partitioning import partitioning
from windrow.plan.show import show
from windrow.rows.checked_columns import CheckedColumns, leaf_of
from windrow.rows.evaluate import evaluate_filter
from windrow.rows.shape import SideShape, shape_of
from windrow.schema import BOOLEAN
from windrow.windows.eviction import LastRows, LastRowsByPartition
from windrow.windows.key_coder import words_of_array
from windrow.windows.lifetime import Lifetime
from windrow.windows.row_store import RowStore
from windrow.windows.window import Window

__all__ = [
    "Preparer",
    "bucket_of",
    "buckets_of_words",
    "can_shard",
    "key_columns",
    "key_words",
    "lettered",
    "lifetime_of",
    "mixed_words",
    "needed_columns",
    "prepared_names",
    "window_of",
]

Instants = NDArray[np.int64]
# Odd constants that mix the words of a key into a bucket; the same in every process and version.
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)


class Preparer:
    """Makes rows of the input at `position` ready."""

    def __init__(self, plan: QueryPlan, position: int) -> None:
        self._entry = plan.inputs[position]
        self._side = shape_of(plan).sides[position]
        self._lifetime = lifetime_of(self._entry.window)
        self._leaves_by_time = self._entry.window.traits.leaves_by_time
        self._condition = _with_keys_present(self._entry.filter, self._side.keys)
        self.schema = _schema(self._side, self._leaves_by_time)

    def prepare(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Prepared rows, in order of arrival."""
        live = None
        condition = self._condition_for(batch)
        if condition is not None:
            live = evaluate_filter(condition, leaf_of(batch), batch.num_rows)
            if self._leaves_by_time and not live.all():
                batch = batch.filter(pa.array(live))
        columns = [batch.column(self._entry.stream.time).cast(pa.int64())]
        # Rows that take no part in a window that counts them need no values.
        found = CheckedColumns(batch, None if self._leaves_by_time else live)
        parts = [part for _, listed in lettered(self._side) for part in listed]
        columns += [found.plain(part) for part in parts]
        columns += [
            found.value(part, kind)
            for part, kind in zip(self._side.values, self._side.value_types, strict=True)
        ]
        found.check()
        if not self._leaves_by_time:
            columns.append(pa.array(np.ones(batch.num_rows, np.bool_) if live is None else live))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _condition_for(self, batch: pa.RecordBatch) -> Expr | None:
        """What rows must fulfil: the filter, and a key without NULL where there can be one."""
        if all(
            isinstance(key, ColumnRef) and batch.column(key.column).null_count == 0
            for key in self._side.keys
        ):
            return self._entry.filter
        return self._condition

    def instants(self, times_us: Instants) -> Instants:
        """When rows of these times enter: there an answer is due if the query has no EVERY."""
        return self._lifetime.enter(times_us)


def needed_columns(plan: QueryPlan, position: int) -> tuple[str, ...]:
    """The columns of the stream that the input reads, its time first."""
    entry, side = plan.inputs[position], shape_of(plan).sides[position]
    parts = [part for _, listed in lettered(side) for part in listed]
    parts += side.values
    if entry.filter is not None:
        parts.append(entry.filter)
    read = {leaf.column for part in parts for leaf in walk(part) if isinstance(leaf, ColumnRef)}
    ordered = [column.name for column in entry.stream.columns if column.name in read]
    return (entry.stream.time, *(name for name in ordered if name != entry.stream.time))


def lifetime_of(window: WindowSpec) -> Lifetime:
    """When rows enter and leave; rows of windows that count never leave by time."""
    timing = window.traits.timing
    return Lifetime.unbounded() if timing is None else Lifetime(*timing(window))


def window_of(
    window: WindowSpec,
    value_count: int,
    store: RowStore | None = None,
    chosen: tuple[int, ...] = (),
) -> Window:
    """An empty window of this kind for rows of this many values, or on shared rows."""
    if window.traits.counts_whole_stream:
        return Window(value_count, eviction=LastRows(window.rows))
    if window.traits.counts_by_partition:
        return Window(value_count, eviction=LastRowsByPartition(window.rows))
    return Window(value_count, lifetime=lifetime_of(window), store=store, chosen=chosen)


def can_shard(plan: QueryPlan) -> bool:
    """Whether the rows of the query can be partitioned into several shards."""
    return partitioning(plan).kind != "one"


def bucket_of(
    plan: QueryPlan, position: int, prepared: pa.RecordBatch, buckets: int
) -> NDArray[np.int64]:
    """The bucket of each prepared row of an input; rows that meet in an answer get the same one."""
    if buckets == 1 or partitioning(plan).kind == "one":
        return np.zeros(prepared.num_rows, np.int64)
    return buckets_of_words(key_words(plan, position, prepared), buckets)


def key_words(plan: QueryPlan, position: int, prepared: pa.RecordBatch) -> NDArray[np.uint64]:
    """A word for the key that partitions each row; equal keys of all inputs have equal words.

    Rows that may go anywhere are partitioned by their time.
    """
    names = key_columns(plan, position) or ("ts",)
    return mixed_words([prepared.column(name) for name in names])


def key_columns(plan: QueryPlan, position: int) -> tuple[str, ...]:
    """The prepared columns that partition rows of an input; none without a key."""
    found = partitioning(plan)
    if found.kind != "key":
        return ()
    side = shape_of(plan).sides[position]
    return tuple(_column_of(side, key) for key in found.keys[position])


def mixed_words(columns: Sequence[pa.Array]) -> NDArray[np.uint64]:
    """One word for the values of each row."""
    mixed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        mixed = (mixed ^ _words(column)) * np.uint64(_MIX[0])
        mixed ^= mixed >> np.uint64(31)
    return mixed


def buckets_of_words(words: NDArray[np.uint64], buckets: int) -> NDArray[np.int64]:
    """The buckets to which rows with these words go."""
    mixed = words * np.uint64(_MIX[1])
    return ((mixed >> np.uint64(33)) % np.uint64(buckets)).astype(np.int64)


def _column_of(side: SideShape, key: Expr) -> str:
    """The prepared column with the value of an expression that rows are partitioned by."""
    for letter, parts in lettered(side):
        if key in parts:
            return f"{letter}{parts.index(key)}"
    raise AssertionError(f"rows are partitioned by {key}, which no prepared column holds")


def lettered(side: SideShape) -> tuple[tuple[str, tuple[Expr, ...]], ...]:
    """The expressions of a side by the letter of their columns, values left out."""
    return (
        ("k", side.keys),
        ("g", side.groups),
        ("p", side.partitions),
        ("n", side.negated_keys),
    )


def _words(column: pa.Array) -> NDArray[np.uint64]:
    if not pa.types.is_string(column.type):
        words, valid = words_of_array(column)
        if valid.size:
            words = np.where(valid.astype(np.bool_), words, -1)
        return words.view(np.uint64)
    encoded = pc.dictionary_encode(column, null_encoding="encode")
    sums = [zlib.crc32((text or "").encode()) for text in encoded.dictionary.to_pylist()]
    text_words: NDArray[np.uint64] = np.array(sums, np.uint64)[encoded.indices.to_numpy()]
    return text_words


def _with_keys_present(condition: Expr | None, keys: tuple[Expr, ...]) -> Expr | None:
    """The condition, and that no part of the join key is NULL: such a row matches nothing."""
    for key in keys:
        present = Call("not", (Call("is_null", (key,), BOOLEAN),), BOOLEAN)
        condition = present if condition is None else Call("and", (condition, present), BOOLEAN)
    return condition


def prepared_names(plan: QueryPlan) -> Callable[[Expr], str]:
    """What the columns of prepared rows are made of, as it was written."""

    def named(leaf: Expr) -> str:
        assert isinstance(leaf, ColumnRef)
        side = shape_of(plan).sides[leaf.source]
        parts = dict([*lettered(side), ("v", side.values)])
        return show(parts[leaf.column[0]][int(leaf.column[1:])], plan)

    return named


def _schema(side: SideShape, leaves_by_time: bool) -> pa.Schema:
    fields = [("ts", pa.int64())]
    for letter, parts in lettered(side):
        fields += [(f"{letter}{i}", part.type.arrow) for i, part in enumerate(parts)]
    fields += [(f"v{i}", kind) for i, kind in enumerate(side.value_types)]
    if not leaves_by_time:
        fields.append(("live", pa.bool_()))
    return pa.schema(fields)
