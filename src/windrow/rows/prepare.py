"""Rows of a stream prepared for a shard: filtered, pruned, every expression evaluated."""

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
from windrow.rows.prepared_names import TIME
from windrow.rows.prepared_rows import PreparedColumns, PreparedRows
from windrow.rows.set_aside import guards_in, note_rows
from windrow.rows.shape import shape_of
from windrow.schema import BOOLEAN
from windrow.window_kinds import Leaving
from windrow.windows.column_words import words_of_array
from windrow.windows.eviction import LastRows, LastRowsByPartition
from windrow.windows.lifetime import Lifetime
from windrow.windows.row_store import RowStore
from windrow.windows.scheduled import (
    CompleteRows,
    OpenSessions,
    RangesOfPartitions,
    RecentOfPartitions,
    Schedule,
)
from windrow.windows.value_bytes import bytes_of_values, is_coded
from windrow.windows.wide_decimals import is_wide_decimal
from windrow.windows.window import Window

__all__ = [
    "Preparer",
    "bucket_of",
    "buckets_of_words",
    "can_shard",
    "key_columns",
    "key_words",
    "lifetime_of",
    "mixed_words",
    "needed_columns",
    "prepared_columns",
    "prepared_names",
    "window_of",
]

Instants = NDArray[np.int64]
# Odd constants that mix the words of a key into a bucket; the same in every process and version.
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
_WORD = pa.int64()


class Preparer:
    """Prepares rows of the input at `input_index`."""

    def __init__(self, plan: QueryPlan, input_index: int) -> None:
        self._entry = plan.inputs[input_index]
        self._input_shape = shape_of(plan).inputs[input_index]
        self._lifetime = lifetime_of(self._entry.window)
        self._leaves_by_time = self._entry.window.traits.leaves_by_time
        self.is_entered_at_time = self._lifetime.enters_at_time
        self._condition = _with_keys_present(self._entry.filter, self._input_shape.keys)
        self._sets_aside = guards_in(self._entry.filter)
        self.columns = PreparedColumns(self._input_shape, self._leaves_by_time)
        self.schema = self.columns.schema

    def prepare(self, batch: pa.RecordBatch, times: Instants | None = None) -> PreparedRows:
        """Prepared rows, in order of arrival; times: of the rows, where they are known already."""
        live = None
        column = batch.column(self._entry.stream.time).cast(_WORD) if times is None else None
        condition = self._condition_for(batch)
        if condition is not None:
            live = evaluate_filter(condition, leaf_of(batch), batch.num_rows)
            if self._sets_aside and not live.all():
                note_rows(condition, leaf_of(batch), batch.num_rows, self._entry.alias)
            if self._leaves_by_time and not live.all():
                batch = batch.filter(pa.array(live))
                times = None if times is None else times[live]
                column = None if column is None else column.filter(pa.array(live))
        columns = [pa.array(times) if column is None else column]
        # Rows that take no part in a window that counts them need no values.
        found = CheckedColumns(batch, None if self._leaves_by_time else live)
        columns += [found.plain(part) for part in self.columns.plain]
        columns += [
            found.value(part, kind)
            for part, kind in zip(
                self._input_shape.values, self._input_shape.value_types, strict=True
            )
        ]
        found.check()
        takes_part = None
        if not self._leaves_by_time:
            takes_part = np.ones(batch.num_rows, np.bool_) if live is None else live
            columns.append(pa.array(takes_part))
        prepared = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return PreparedRows(prepared, self.columns, takes_part)

    def prepared_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Prepared rows as they are saved or shuffled."""
        return self.prepare(batch).batch

    def _condition_for(self, batch: pa.RecordBatch) -> Expr | None:
        """What rows must fulfil: the filter, and a key without NULL where there can be one."""
        if all(
            isinstance(key, ColumnRef) and batch.column(key.column).null_count == 0
            for key in self._input_shape.keys
        ):
            return self._entry.filter
        return self._condition

    def instants(self, times_us: Instants) -> Instants:
        """When rows of these times enter: there an answer is due if the query has no EVERY."""
        return self._lifetime.enter(times_us)


def needed_columns(plan: QueryPlan, input_index: int) -> tuple[str, ...]:
    """The columns of the stream that the input reads, its time first."""
    entry, input_shape = plan.inputs[input_index], shape_of(plan).inputs[input_index]
    parts = [*prepared_columns(plan, input_index).plain, *input_shape.values]
    if entry.filter is not None:
        parts.append(entry.filter)
    read = {leaf.column for part in parts for leaf in walk(part) if isinstance(leaf, ColumnRef)}
    ordered = [column.name for column in entry.stream.columns if column.name in read]
    return (entry.stream.time, *(name for name in ordered if name != entry.stream.time))


def lifetime_of(window: WindowSpec) -> Lifetime:
    """When rows enter and leave; rows of windows that count never leave by time."""
    timing = window.traits.timing
    return Lifetime.unbounded() if timing is None else Lifetime.timed(*timing(window))


def window_of(
    window: WindowSpec,
    value_count: int,
    store: RowStore | None = None,
    chosen: tuple[int, ...] = (),
    own_count: int = 0,
) -> Window:
    """An empty window of this kind for rows of this many values, or on shared rows.

    own_count: words of a row that its operator makes of it.
    """
    eviction: LastRows | LastRowsByPartition | Schedule
    if window.traits.counts_whole_stream:
        eviction = LastRows(window.rows)
    elif window.traits.counts_by_partition:
        eviction = LastRowsByPartition(window.rows)
    elif window.traits.is_scheduled:
        eviction = SCHEDULES[window.traits.leaving](window)
    else:
        lifetime = lifetime_of(window)
        return Window(value_count, lifetime, store=store, chosen=chosen, own_count=own_count)
    return Window(value_count, eviction=eviction, own_count=own_count)


# How rows of windows that are not in order come and go.
SCHEDULES: dict[Leaving, Callable[[WindowSpec], Schedule]] = {
    Leaving.END_OF_SESSION: lambda window: OpenSessions(window.length_us),
    Leaving.LATER_OF_PARTITION: lambda window: RangesOfPartitions(window.length_us),
    Leaving.NEWER_OR_TIME: lambda window: RecentOfPartitions(window.rows, window.length_us),
    Leaving.NEXT_ROWS: lambda window: CompleteRows(window.rows),
}


def can_shard(plan: QueryPlan) -> bool:
    """Whether the rows of the query can be partitioned to several shards."""
    return partitioning(plan).kind != "one"


def bucket_of(
    plan: QueryPlan, input_index: int, prepared: pa.RecordBatch, buckets: int
) -> NDArray[np.int64]:
    """The bucket of each prepared row of an input; rows that meet in an answer get the same one."""
    if buckets == 1 or partitioning(plan).kind == "one":
        return np.zeros(prepared.num_rows, np.int64)
    return buckets_of_words(key_words(plan, input_index, prepared), buckets)


def key_words(plan: QueryPlan, input_index: int, prepared: pa.RecordBatch) -> NDArray[np.uint64]:
    """A word for the key by which each row is partitioned; equal keys of all inputs, equal words.

    Rows that may go anywhere are partitioned by their time.
    """
    names = key_columns(plan, input_index) or (TIME,)
    return mixed_words([prepared.column(name) for name in names])


def key_columns(plan: QueryPlan, input_index: int) -> tuple[str, ...]:
    """The prepared columns by which rows of an input are partitioned; none where no key is."""
    found = partitioning(plan)
    if found.kind != "key":
        return ()
    columns = prepared_columns(plan, input_index)
    names = [columns.name_of(key) for key in found.keys[input_index]]
    assert None not in names, (
        f"rows are partitioned by {found.keys[input_index]}, which is no column"
    )
    return tuple(name for name in names if name is not None)


def prepared_columns(plan: QueryPlan, input_index: int) -> PreparedColumns:
    """The columns of an input's prepared rows."""
    window = plan.inputs[input_index].window
    return PreparedColumns(shape_of(plan).inputs[input_index], window.traits.leaves_by_time)


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


def _words(column: pa.Array) -> NDArray[np.uint64]:
    if not is_coded(column.type) and not is_wide_decimal(column.type):
        words, valid = words_of_array(column)
        if valid.size:
            words = np.where(valid.astype(np.bool_), words, -1)
        return words.view(np.uint64)
    data = column.view(pa.binary()) if pa.types.is_string(column.type) else bytes_of_values(column)
    encoded = pc.dictionary_encode(data, null_encoding="encode")
    sums = [zlib.crc32(value or b"") for value in encoded.dictionary.to_pylist()]
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
        return show(prepared_columns(plan, leaf.source).source_of(leaf), plan)

    return named
