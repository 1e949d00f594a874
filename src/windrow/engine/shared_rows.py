"""Rows that several queries read: one copy for all windows on the same stream and condition.

A query whose window is kept by a state per key (the factorised keeper) needs of a row its time, its
values and a code. Times and values are held once, however many queries read them and however long
their windows are; each query has its own codes and its own range. Expressions are evaluated once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.engine.coding import value_words
from windrow.engine.evaluate import evaluate, evaluate_filter
from windrow.engine.life import ALWAYS, in_life
from windrow.engine.prepare import Preparer, leaf_of, lettered, value_column
from windrow.engine.shape import SideShape, shape_of
from windrow.plan.expressions import Call, ColumnRef, Expr
from windrow.plan.model import QueryPlan
from windrow.schema import StreamSchema
from windrow.windows.row_store import Rows, RowStore
from windrow.windows.window import Window

__all__ = ["RowPool", "RowReader", "SharedRows", "can_share"]

Value = tuple[Expr, pa.DataType]


@dataclass(eq=False)
class RowReader:
    """One input of one query on shared rows.

    prepared: its rows of the last batch. words: their values and flags, as the store has them.
    life: rows before and after take no part.
    """

    shared: SharedRows
    side: SideShape
    schema: pa.Schema
    clock: int
    life: tuple[int, int] = ALWAYS
    chosen: tuple[int, ...] = ()
    prepared: pa.RecordBatch | None = None
    words: tuple[Rows, NDArray[np.uint8]] | None = None
    window: Window | None = field(default=None)

    def open(self, window: Window) -> None:
        """The window that reads the rows from now on."""
        self.window = window
        window.columns.begin_at(self.clock)

    def close(self) -> None:
        """Nobody reads through it any more."""
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

    def reader(self, plan: QueryPlan, position: int, clock: int) -> RowReader:
        """A place to read for one input of a query that stands at this clock."""
        side = shape_of(plan).sides[position]
        schema = Preparer(plan, position).schema
        reader = RowReader(self, side, schema, clock)
        reader.chosen = tuple(self._number(value) for value in _values_of(side))
        self._readers.append(reader)
        return reader

    def take(self, batch: pa.RecordBatch) -> None:
        """Rows of the stream in order of arrival: held once, and prepared for every reader."""
        batch = self._kept(batch)
        times = batch.column(self.stream.time).cast(pa.int64())
        found = _Evaluated(batch)
        names = [f"v{number}" for number in range(len(self._values))]
        arrays = [found.value(value) for value in self._values]
        words, flags = value_words(_batch(arrays, names, batch.num_rows))
        self.store.append(times.to_numpy(), words, flags)
        for reader in self._readers:
            reader.prepared = _prepared(reader, times, found)
            chosen = list(reader.chosen)
            if chosen == list(range(len(self._values))):
                reader.words = words, flags
            else:
                reader.words = words[chosen], flags[chosen] if flags.size else flags

    def _kept(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that the condition keeps and that are of the life of any reader."""
        kept = np.ones(batch.num_rows, np.bool_)
        if self._condition is not None:
            kept = evaluate_filter(self._condition, leaf_of(batch), batch.num_rows)
        lives = {reader.life for reader in self._readers}
        if ALWAYS not in lives:
            times = batch.column(self.stream.time).cast(pa.int64()).to_numpy()
            kept = kept & np.logical_or.reduce([in_life(times, life) for life in lives])
        return batch if kept.all() else batch.filter(pa.array(kept))

    def drop(self, reader: RowReader) -> None:
        """A reader is gone, and the values that only it read with it."""
        self._readers.remove(reader)
        used = sorted({number for each in self._readers for number in each.chosen})
        if len(used) == len(self._values):
            return
        self._values = [self._values[number] for number in used]
        self.store.keep_values(used)
        for each in self._readers:
            each.chosen = tuple(used.index(number) for number in each.chosen)
            if each.window is not None:
                each.window.columns.chosen = np.array(each.chosen, np.int64)

    @property
    def is_read(self) -> bool:
        """Whether any query reads these rows."""
        return bool(self._readers)

    @property
    def windows(self) -> list[Window]:
        """The windows on these rows."""
        return [reader.window for reader in self._readers if reader.window is not None]

    def _number(self, value: Value) -> int:
        if value not in self._values:
            self._values.append(value)
            self.store.add_value()
        return self._values.index(value)


class RowPool:
    """The shared rows of a session, by stream and condition."""

    def __init__(self) -> None:
        self._shared: dict[tuple[str, Expr | None], SharedRows] = {}

    def reader(self, plan: QueryPlan, position: int, clock: int) -> RowReader:
        """A place to read for one input, on rows that others may read already."""
        entry = plan.inputs[position]
        condition = None if entry.filter is None else of_one_input(entry.filter)
        key = (entry.stream.name, condition)
        if key not in self._shared or not self._shared[key].is_read:
            self._shared[key] = SharedRows(entry.stream, condition)
        return self._shared[key].reader(plan, position, clock)

    def take(self, stream: str, batch: pa.RecordBatch) -> None:
        """Rows of a stream for all that read it."""
        for shared in self.of(stream):
            shared.take(batch)

    def of(self, stream: str) -> list[SharedRows]:
        """The shared rows of a stream that are read."""
        return [each for each in self.all() if each.stream.name == stream]

    def all(self) -> list[SharedRows]:
        """All shared rows that are read; what nobody reads is let go."""
        self._shared = {key: each for key, each in self._shared.items() if each.is_read}
        return list(self._shared.values())

    @property
    def nbytes(self) -> int:
        """Bytes of times, values and flags; codes are the queries' own."""
        return sum(each.store.nbytes for each in self.all())


def can_share(plan: QueryPlan, algorithm: str) -> bool:
    """Whether a query run so reads its rows from a store that others can read, too."""
    is_timed = all(entry.window.kind in ("time", "slide") for entry in plan.inputs)
    return algorithm == "factorised" and is_timed and shape_of(plan).mode is not None


def of_one_input(expression: Expr) -> Expr:
    """The expression as it reads where its input is the only one: equal for equal meanings."""
    if isinstance(expression, ColumnRef):
        return replace(expression, source=0)
    if isinstance(expression, Call):
        arguments = tuple(of_one_input(part) for part in expression.arguments)
        return replace(expression, arguments=arguments)
    return expression


class _Evaluated:
    """Columns of one batch, each expression evaluated once."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._leaf, self._size = leaf_of(batch), batch.num_rows
        self._plain: dict[Expr, pa.Array] = {}
        self._values: dict[Value, pa.Array] = {}

    def plain(self, part: Expr) -> pa.Array:
        """The expression in its own type."""
        part = of_one_input(part)
        if part not in self._plain:
            self._plain[part] = evaluate(part, self._leaf, self._size)
        return self._plain[part]

    def value(self, value: Value) -> pa.Array:
        """The expression in the type in which it is kept."""
        if value not in self._values:
            self._values[value] = value_column(*value, self._leaf, self._size)
        return self._values[value]


def _values_of(side: SideShape) -> list[Value]:
    pairs = zip(side.values, side.value_types, strict=True)
    return [(of_one_input(part), kind) for part, kind in pairs]


def _prepared(reader: RowReader, times: pa.Array, found: _Evaluated) -> pa.RecordBatch:
    """The rows as the reader's query has them; those with a NULL key take no part.

    Neither do those outside of the query's life.
    """
    side = reader.side
    plain = [found.plain(part) for _, parts in lettered(side) for part in parts]
    values = [found.value(value) for value in _values_of(side)]
    rows = pa.RecordBatch.from_arrays([times, *plain, *values], schema=reader.schema)
    keys = [found.plain(key) for key in side.keys]
    takes_part = np.ones(len(times), np.bool_)
    for key in keys:
        if key.null_count:
            takes_part &= key.is_valid().to_numpy(zero_copy_only=False)
    if reader.life != ALWAYS:
        takes_part &= in_life(times.to_numpy(), reader.life)
    return rows if takes_part.all() else rows.append_column("live", pa.array(takes_part))


def _batch(arrays: Sequence[pa.Array], names: list[str], rows: int) -> pa.RecordBatch:
    if not arrays:  # a batch without columns has no length
        return pa.RecordBatch.from_arrays([pa.nulls(rows)], ["none"])
    return pa.RecordBatch.from_arrays(list(arrays), names)
