"""Rows that several queries read: one copy for all windows on the same stream and condition.

A query needs of a row its time, its values and what its operator makes of it: a code, or a place
in an order. Times and values are held once, however many queries read them and however long their
windows are; the rest, and its range, is each query's own. Expressions are evaluated once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.expressions import Call, ColumnRef, Expr
from windrow.plan.model import QueryPlan
from windrow.rows.checked_columns import CheckedColumns, leaf_of
from windrow.rows.evaluate import error_at, filter_checked
from windrow.rows.faults import FaultError
from windrow.rows.life import ALWAYS, in_life
from windrow.rows.prepare import prepared_columns
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import shape_of
from windrow.schema import StreamSchema
from windrow.windows.column_words import ValueWords, value_words
from windrow.windows.marks import Assignments
from windrow.windows.row_store import RowStore, StoreMark
from windrow.windows.window import Window

__all__ = [
    "HeldValues",
    "QueryLife",
    "RowPool",
    "RowReader",
    "SharedRows",
    "Shares",
    "StreamRows",
    "cast_times",
]

Value = tuple[Expr, pa.DataType]
# For each input the numbers of the columns, times not counted, that its operator reads in rows that
# are held; None: it has its own rows.
HeldValues = Sequence[tuple[int, ...]] | None
_SPAN = attrgetter("query.span")
_WORD = pa.int64()


class StreamRows(NamedTuple):
    """Rows in order of arrival; times[i] is that of row i."""

    batch: pa.RecordBatch
    times: NDArray[np.int64]

    def filtered(self, kept: NDArray[np.bool_]) -> StreamRows:
        """The flagged rows."""
        if kept.all():
            return self
        return StreamRows(self.batch.filter(pa.array(kept)), self.times[kept])

    def part(self, start: int, count: int) -> StreamRows:
        """So many rows from `start` on."""
        return StreamRows(self.batch.slice(start, count), self.times[start : start + count])


def cast_times(batch: pa.RecordBatch, time: str) -> StreamRows:
    """The rows with their times; none of these is NULL.

    >>> cast_times(pa.record_batch({"ts": [5, 7]}), "ts").times.tolist()
    [5, 7]
    """
    return StreamRows(batch, batch.column(time).cast(_WORD).to_numpy(zero_copy_only=False))


@dataclass
class QueryLife:
    """What shared rows must know of a query that reads them.

    span: rows before and after take no part. is_running: whether it reads at all.
    """

    span: tuple[int, int] = ALWAYS
    is_running: bool = True


ENDLESS = QueryLife()


class RowReader:
    """One input of one query on shared rows; chosen: the numbers of its words among the shared.

    held: which columns of its rows, times not counted, it reads in those that are held; it is given
    all of them when they come.
    """

    def __init__(
        self,
        shared: SharedRows,
        plan: QueryPlan,
        input_index: int,
        held: tuple[int, ...],
        clock: int,
        query: QueryLife,
    ) -> None:
        self.shared, self.clock, self.query = shared, clock, query
        input_shape = shape_of(plan).inputs[input_index]
        self.columns = prepared_columns(plan, input_index)
        self.keys = [of_one_input(key) for key in input_shape.keys]
        self.parts = [of_one_input(part) for part in self.columns.plain]
        pairs = zip(input_shape.values, input_shape.value_types, strict=True)
        self.values: list[Value] = [(of_one_input(part), kind) for part, kind in pairs]
        self.held = held
        whole: list[Value] = [(part, part.type.arrow) for part in self.parts]
        self.words = [[*whole, *self.values][number] for number in held]
        self.held_names = [self.columns.schema.names[1 + number] for number in held]
        self.read = [*self.parts, *(part for part, _ in self.values)]
        stream = plan.inputs[input_index].stream
        # The columns of the stream, where the query reads them as they are; None: it computes.
        self.names: list[str] | None = _plain_names(stream, self.parts, self.values)
        self.chosen: tuple[int, ...] = ()
        self.window: Window | None = None

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


# What each reader is given of a step: its rows, or the fault of one of its expressions, by which
# only its own query fails.
Shares = dict[RowReader, "PreparedRows | FaultError"]


class SharedRows:
    """The rows of a stream that a condition keeps."""

    def __init__(self, stream: StreamSchema, condition: Expr | None) -> None:
        self.stream = stream
        self.store = RowStore(0)
        self._condition = condition
        self._values: list[Value] = []
        self._all_values: tuple[int, ...] = ()
        self._value_names: list[str] = []
        self._is_plain = True  # whether all readers read columns of the stream as they are
        self.readers: list[RowReader] = []

    def reader(
        self,
        plan: QueryPlan,
        input_index: int,
        held: tuple[int, ...],
        clock: int,
        query: QueryLife,
    ) -> RowReader:
        """A place to read for one input of a query that stands at this clock."""
        reader = RowReader(self, plan, input_index, held, clock, query)
        reader.chosen = tuple(map(self._number, reader.words))
        self._is_plain = self._is_plain and reader.names is not None
        self.readers = [*self.readers, reader]
        return reader

    def mark(self) -> StoreMark:
        """How the rows are now: rewind() goes back to it until keep() is called."""
        self.store.complete()
        for reader in self.readers:
            if not reader.query.is_running:
                reader.close()
        return self.store.mark()

    def append(self, rows: StreamRows, shares: Shares) -> None:
        """Hold rows of the stream once, in order of arrival; shares: what each reader is given."""
        if not self.readers:
            return  # the last one left when a stop that was broken off was brought to its end
        fault = None
        if self._condition is not None or not self._is_always_read():
            rows, fault = self._kept(rows)
        found = None if self._is_plain else CheckedColumns(rows.batch)
        if found is None:
            arrays = list(map(rows.batch.column, self._value_names))
        else:
            arrays = list(starmap(found.value, self._values))
        words, flags = value_words(arrays, rows.times.size)
        self.store.append(rows.times, words, flags)
        times = pa.array(rows.times)
        for reader in self.readers:
            chosen = (words, flags)
            if reader.chosen != self._all_values:
                picked = list(reader.chosen)
                chosen = words[picked], flags[picked] if flags.size else flags
            shares[reader] = fault or _prepared(reader, rows.batch, times, found, chosen)

    def _is_always_read(self) -> bool:
        """Whether the life of any reader has no bounds."""
        return ALWAYS in map(_SPAN, self.readers)

    def _kept(self, rows: StreamRows) -> tuple[StreamRows, FaultError | None]:
        """The rows that the condition keeps and that are of the life of any reader.

        Where the condition has no value, all readers have a fault.
        """
        fault = None
        if self._condition is not None:
            leaf = leaf_of(rows.batch)
            kept, faults = filter_checked(self._condition, leaf, rows.times.size)
            fault = None if faults is None else error_at(self._condition, leaf, faults)
            rows = rows.filtered(kept)
        if not self._is_always_read():
            alive = [in_life(rows.times, reader.query.span) for reader in self.readers]
            rows = rows.filtered(np.logical_or.reduce(alive))
        return rows, fault

    def drop(self, reader: RowReader) -> None:
        """A reader is gone, and the values that only it read with it."""
        self.store.complete()
        if reader not in self.readers:
            return
        rest = [each for each in self.readers if each is not reader]
        used = sorted({number for each in rest for number in each.chosen})
        changes = Assignments()
        changes.add(self, readers=rest)
        if len(used) < len(self._values):
            values = [self._values[number] for number in used]
            self._name_values(values, changes)
            self.store.keep_values(used, changes)
            for each in rest:
                chosen = tuple(used.index(number) for number in each.chosen)
                changes.add(each, chosen=chosen)
                if each.window is not None:
                    changes.add(each.window.columns, chosen=np.array(chosen, np.int64))
        self.store.make(changes)

    def _name_values(self, values: list[Value], changes: Assignments) -> None:
        """Note the values that are held from now on, and the columns that they are, if they are."""
        names = [part.column if isinstance(part, ColumnRef) else "" for part, _ in values]
        numbers = tuple(range(len(values)))
        changes.add(self, _values=values, _all_values=numbers, _value_names=names)

    @property
    def is_read(self) -> bool:
        """Whether any query reads these rows."""
        return bool(self.readers)

    @property
    def windows(self) -> list[Window]:
        """The windows on these rows."""
        return [reader.window for reader in self.readers if reader.window is not None]

    def _number(self, value: Value) -> int:
        self.store.complete()
        if value not in self._values:
            values = [*self._values, value]
            changes = Assignments()
            self._name_values(values, changes)
            self.store.add_value(changes)
            self.store.make(changes)
        return self._values.index(value)


class RowPool:
    """The shared rows of a session, by stream and condition.

    What an operator makes of a row it keeps for each row that is held, and for many a row by
    pairs or by extremes that is more than the row itself. So these share rows only with windows
    of about their own length, between the same powers of two: a short one on the rows of a long
    one would cost more than it saves. Which rows a query shares hangs on nothing but itself, so
    that it shares the same ones when it is loaded.
    """

    def __init__(self) -> None:
        self._shared: dict[tuple[str, Expr | None, int | None], SharedRows] = {}

    def _reader(
        self,
        plan: QueryPlan,
        input_index: int,
        held: tuple[int, ...],
        clock: int,
        query: QueryLife,
        *,
        is_heavy: bool,
    ) -> RowReader:
        """A place to read for one input, on rows that others may read already."""
        entry = plan.inputs[input_index]
        condition = None if entry.filter is None else of_one_input(entry.filter)
        magnitude = entry.window.length_us.bit_length() if is_heavy else None
        key = (entry.stream.name, condition, magnitude)
        if key not in self._shared or not self._shared[key].is_read:
            self._shared[key] = SharedRows(entry.stream, condition)
        return self._shared[key].reader(plan, input_index, held, clock, query)

    def readers(
        self,
        plan: QueryPlan,
        held: HeldValues,
        clock: int,
        query: QueryLife = ENDLESS,
        *,
        is_heavy: bool = False,
    ) -> tuple[RowReader, ...]:
        """Places to read, for all inputs of a query; none where its operator has its own rows.

        is_heavy: whether the operator keeps more of each row than a code.
        """
        if held is None:
            return ()
        return tuple(
            self._reader(plan, i, each, clock, query, is_heavy=is_heavy)
            for i, each in enumerate(held)
        )

    def arrange(self, shared: Sequence[SharedRows]) -> None:
        """Have these, in this order, before all others."""
        order = {id(each): number for number, each in enumerate(shared)}
        places = sorted(self._shared.items(), key=lambda item: order.get(id(item[1]), len(order)))
        self._shared = dict(places)

    def append(self, stream: str, rows: StreamRows) -> Shares:
        """Hold rows of a stream, and prepare them for all that read it."""
        shares = Shares()
        for shared in self.of(stream):
            shared.append(rows, shares)
        return shares

    def of(self, stream: str) -> list[SharedRows]:
        """The shared rows of a stream that are read."""
        found: list[SharedRows] = []
        for (name, *_), shared in self._shared.items():
            if name == stream and shared.readers:
                found += (shared,)
        return found

    def all(self) -> list[SharedRows]:
        """All shared rows that are read; what nobody reads is dropped."""
        self._shared = {key: each for key, each in self._shared.items() if each.is_read}
        return list(self._shared.values())

    @property
    def nbytes(self) -> int:
        """Bytes of times, values and flags; codes are the queries' own."""
        return sum(each.store.nbytes for each in self.all())


def of_one_input(expression: Expr) -> Expr:
    """The expression as it reads where its input is the only one: equal for equal meanings."""
    if isinstance(expression, ColumnRef):
        return replace(expression, source=0)
    if isinstance(expression, Call):
        arguments = tuple(of_one_input(part) for part in expression.arguments)
        return replace(expression, arguments=arguments)
    return expression


def _plain_names(stream: StreamSchema, parts: list[Expr], values: list[Value]) -> list[str] | None:
    kinds = [(part, part.type.arrow) for part in parts] + values
    names = []
    for part, kind in kinds:
        if not isinstance(part, ColumnRef) or stream.column(part.column).type.arrow != kind:
            return None
        names.append(part.column)
    return names


def _prepared(
    reader: RowReader,
    batch: pa.RecordBatch,
    times: pa.Array,
    found: CheckedColumns | None,
    words: ValueWords,
) -> PreparedRows | FaultError:
    """The rows as the reader's query has them; those with a NULL key take no part.

    Neither do those outside of the query's life. What has no value in a row that takes part, or
    whose key has none, is a fault.
    """
    if found is None:
        assert reader.names is not None
        columns = [times, *map(batch.column, reader.names)]
    else:
        plain = map(found.plain, reader.parts)
        columns = [times, *plain, *starmap(found.value, reader.values)]
    life = reader.query.span
    takes_part = None if life == ALWAYS else in_life(times.to_numpy(), life)
    fault = None if found is None else found.error_in(reader.keys, takes_part)
    for key in columns[reader.columns.keys]:
        if key.null_count:
            known = key.is_valid().to_numpy(zero_copy_only=False)
            takes_part = known if takes_part is None else takes_part & known
    if fault is None and found is not None:
        fault = found.error_in(reader.read, takes_part)
    if fault is not None:
        return fault
    batch = pa.RecordBatch.from_arrays(columns, schema=reader.columns.schema)
    is_whole = takes_part is None or bool(takes_part.all())
    return PreparedRows(batch, reader.columns, None if is_whole else takes_part, words=words)
