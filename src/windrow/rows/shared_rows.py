"""Rows that several queries read: one copy for all windows on the same stream and condition.

A query whose window is kept by a state per key (the keyed operator) needs of a row its time, its
values and a code. Times and values are held once, however many queries read them and however long
their windows are; each query has its own codes and its own range. Expressions are evaluated once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.expressions import Call, ColumnRef, Expr
from windrow.plan.model import QueryPlan
from windrow.rows.checked_columns import CheckedColumns, leaf_of
from windrow.rows.evaluate import error_at, filter_checked
from windrow.rows.faults import FaultError
from windrow.rows.life import ALWAYS, in_life
from windrow.rows.prepare import Preparer, lettered
from windrow.rows.shape import SideShape, shape_of
from windrow.rows.value_words import value_words
from windrow.schema import StreamSchema
from windrow.windows.marks import Assignments
from windrow.windows.row_store import Rows, RowStore, StoreMark
from windrow.windows.window import Window

__all__ = ["RowPool", "RowReader", "SharedRows", "can_share"]

Value = tuple[Expr, pa.DataType]


@dataclass(eq=False)
class RowReader:
    """One input of one query on shared rows.

    prepared: its rows of the last batch. words: their values and flags, as the store has them.
    fault: what one of its expressions had no value in, which only its own query fails by.
    life: rows before and after take no part. is_wanted: whether its query still runs.
    """

    shared: SharedRows
    side: SideShape
    schema: pa.Schema
    clock: int
    life: tuple[int, int] = ALWAYS
    chosen: tuple[int, ...] = ()
    prepared: pa.RecordBatch | None = None
    words: tuple[Rows, NDArray[np.uint8]] | None = None
    fault: FaultError | None = None
    window: Window | None = field(default=None)
    is_wanted: Callable[[], bool] = lambda: True

    def open(self, window: Window) -> None:
        """The window that reads the rows from now on."""
        self.window = window
        window.columns.begin_at(self.clock)

    def close(self) -> None:
        """Nobody reads through it any more; closing it again, or to the end, does no harm."""
        if self.window is not None:
            self.shared.store.leave(self.window.columns)
        self.shared.drop(self)
        self.window = None

    @property
    def is_open(self) -> bool:
        """Whether a window reads through it."""
        return self.window is not None


class SharedRows:
    """The rows of a stream that a condition keeps."""

    def __init__(self, stream: StreamSchema, condition: Expr | None) -> None:
        self.stream = stream
        self.store = RowStore(0)
        self._condition = condition
        self._values: list[Value] = []
        self._readers: list[RowReader] = []

    def reader(
        self,
        plan: QueryPlan,
        position: int,
        clock: int,
        is_wanted: Callable[[], bool],
    ) -> RowReader:
        """A place to read for one input of a query that stands at this clock."""
        side = shape_of(plan).sides[position]
        schema = Preparer(plan, position).schema
        reader = RowReader(self, side, schema, clock, is_wanted=is_wanted)
        reader.chosen = tuple(self._number(value) for value in _values_of(side))
        self._readers = [*self._readers, reader]
        return reader

    def mark(self) -> StoreMark:
        """How the rows are now: rewind() goes back to it until keep() is called."""
        self.store.complete()
        for reader in self._readers:
            if not reader.is_wanted():
                reader.close()
        return self.store.mark()

    def take(self, batch: pa.RecordBatch) -> None:
        """Rows of the stream in order of arrival: held once, and prepared for every reader."""
        batch, fault = self._kept(batch)
        times = batch.column(self.stream.time).cast(pa.int64())
        found = CheckedColumns(batch)
        names = [f"v{number}" for number in range(len(self._values))]
        arrays = [found.value(*value) for value in self._values]
        words, flags = value_words(_batch(arrays, names, batch.num_rows))
        self.store.append(times.to_numpy(), words, flags)
        for reader in self._readers:
            reader.prepared, reader.fault = _prepared(reader, times, found)
            reader.fault = fault or reader.fault
            chosen = list(reader.chosen)
            if chosen == list(range(len(self._values))):
                reader.words = words, flags
            else:
                reader.words = words[chosen], flags[chosen] if flags.size else flags

    def _kept(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, FaultError | None]:
        """The rows that the condition keeps and that are of the life of any reader.

        Where the condition has no value, all readers have a fault.
        """
        kept, fault = np.ones(batch.num_rows, np.bool_), None
        if self._condition is not None:
            leaf = leaf_of(batch)
            kept, faults = filter_checked(self._condition, leaf, batch.num_rows)
            fault = None if faults is None else error_at(self._condition, leaf, faults)
        lives = {reader.life for reader in self._readers}
        if ALWAYS not in lives:
            times = batch.column(self.stream.time).cast(pa.int64()).to_numpy()
            kept = kept & np.logical_or.reduce([in_life(times, life) for life in lives])
        return (batch if kept.all() else batch.filter(pa.array(kept))), fault

    def drop(self, reader: RowReader) -> None:
        """A reader is gone, and the values that only it read with it."""
        self.store.complete()
        if reader not in self._readers:
            return
        rest = [each for each in self._readers if each is not reader]
        used = sorted({number for each in rest for number in each.chosen})
        changes = Assignments()
        changes.add(self, _readers=rest)
        if len(used) < len(self._values):
            changes.add(self, _values=[self._values[number] for number in used])
            self.store.keep_values(used, changes)
            for each in rest:
                chosen = tuple(used.index(number) for number in each.chosen)
                changes.add(each, chosen=chosen)
                if each.window is not None:
                    changes.add(each.window.columns, chosen=np.array(chosen, np.int64))
        self.store.make(changes)

    @property
    def is_read(self) -> bool:
        """Whether any query reads these rows."""
        return bool(self._readers)

    @property
    def windows(self) -> list[Window]:
        """The windows on these rows."""
        return [reader.window for reader in self._readers if reader.window is not None]

    def _number(self, value: Value) -> int:
        self.store.complete()
        if value not in self._values:
            changes = Assignments()
            changes.add(self, _values=[*self._values, value])
            self.store.add_value(changes)
            self.store.make(changes)
        return self._values.index(value)


class RowPool:
    """The shared rows of a session, by stream and condition."""

    def __init__(self) -> None:
        self._shared: dict[tuple[str, Expr | None], SharedRows] = {}

    def reader(
        self,
        plan: QueryPlan,
        position: int,
        clock: int,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> RowReader:
        """A place to read for one input, on rows that others may read already."""
        entry = plan.inputs[position]
        condition = None if entry.filter is None else of_one_input(entry.filter)
        key = (entry.stream.name, condition)
        if key not in self._shared or not self._shared[key].is_read:
            self._shared[key] = SharedRows(entry.stream, condition)
        return self._shared[key].reader(plan, position, clock, is_wanted)

    def mark(self, stream: str) -> list[tuple[RowStore, StoreMark]]:
        """How the rows of a stream are now, for rewind()."""
        return [(each.store, each.mark()) for each in self.of(stream)]

    def take(self, stream: str, batch: pa.RecordBatch) -> None:
        """Rows of a stream for all that read it."""
        for shared in self.of(stream):
            shared.take(batch)

    def of(self, stream: str) -> list[SharedRows]:
        """The shared rows of a stream that are read."""
        return [each for each in self.all() if each.stream.name == stream]

    def all(self) -> list[SharedRows]:
        """All shared rows that are read; unread ones are dropped."""
        self._shared = {key: each for key, each in self._shared.items() if each.is_read}
        return list(self._shared.values())

    @property
    def nbytes(self) -> int:
        """Bytes of times, values and flags; codes are the queries' own."""
        return sum(each.store.nbytes for each in self.all())


def can_share(plan: QueryPlan, algorithm: str) -> bool:
    """Whether a query run so reads its rows from a store that others can read, too."""
    have_width = all(entry.window.traits.has_width for entry in plan.inputs)
    return algorithm == "factorised" and have_width and shape_of(plan).mode is not None


def of_one_input(expression: Expr) -> Expr:
    """The expression as it reads where its input is the only one: equal for equal meanings."""
    if isinstance(expression, ColumnRef):
        return replace(expression, source=0)
    if isinstance(expression, Call):
        arguments = tuple(of_one_input(part) for part in expression.arguments)
        return replace(expression, arguments=arguments)
    return expression


def _values_of(side: SideShape) -> list[Value]:
    pairs = zip(side.values, side.value_types, strict=True)
    return [(of_one_input(part), kind) for part, kind in pairs]


def _prepared(
    reader: RowReader, times: pa.Array, found: CheckedColumns
) -> tuple[pa.RecordBatch, FaultError | None]:
    """The rows as the reader's query has them; those with a NULL key take no part.

    Neither do those outside of the query's life. What has no value in a row that takes part, or
    whose key has none, is a fault.
    """
    side = reader.side
    parts = [of_one_input(part) for _, listed in lettered(side) for part in listed]
    values = _values_of(side)
    columns = [found.plain(part) for part in parts] + [found.value(*value) for value in values]
    rows = pa.RecordBatch.from_arrays([times, *columns], schema=reader.schema)
    keys = [found.plain(of_one_input(key)) for key in side.keys]
    lives = None if reader.life == ALWAYS else in_life(times.to_numpy(), reader.life)
    fault = found.error_in(map(of_one_input, side.keys), lives)
    takes_part = np.ones(len(times), np.bool_)
    for key in keys:
        if key.null_count:
            takes_part &= key.is_valid().to_numpy(zero_copy_only=False)
    if lives is not None:
        takes_part &= lives
    if fault is None:
        fault = found.error_in((*parts, *(part for part, _ in values)), takes_part)
    if takes_part.all():
        return rows, fault
    return rows.append_column("live", pa.array(takes_part)), fault


def _batch(arrays: Sequence[pa.Array], names: list[str], rows: int) -> pa.RecordBatch:
    if not arrays:  # a batch without columns has no length
        return pa.RecordBatch.from_arrays([pa.nulls(rows)], ["none"])
    return pa.RecordBatch.from_arrays(list(arrays), names)
