"""A row of a stream as the row of one input that a run keeps: filtered, every expression evaluated.

The row is a tuple: the instant at which it enters, then the columns of prepared rows in their
order, then the doubles that are summed as numbers of parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from windrow.compiling.written import written
from windrow.events.expression_text import Namespace, Texts
from windrow.events.giving_up import GivesUpError
from windrow.events.values import from_arrow, from_python, one_zero, parts_of
from windrow.plan.expressions import ColumnRef, Expr, walk
from windrow.plan.model import PlanInput, QueryPlan
from windrow.rows.prepare import lifetime_of, prepared_columns
from windrow.rows.prepared_names import TIME, VALUE, WEIGHT, column_name
from windrow.rows.shape import QueryShape
from windrow.schema import ColumnType
from windrow.windows.lifetime import Lifetime

__all__ = ["EventRow", "InputRows", "input_rows"]

EventRow = tuple[Any, ...]
Preparer = Callable[[tuple[Any, ...], int], "EventRow | None"]


class InputRows(NamedTuple):
    """The rows of one input: where each column is, how a row is made, and how long it stays.

    prepare: of a row of the stream and its time; None where the row takes no part.
    """

    places: dict[str, int]
    parts: dict[str, int]  # of doubles: where their parts are
    kinds: dict[str, ColumnType]
    prepare: Preparer
    lifetime: Lifetime

    def enter(self, time: int) -> int:
        """When a row of this time enters."""
        return int(self.lifetime.enter(np.array([time]))[0])

    def held(self, batch: pa.RecordBatch) -> list[EventRow]:
        """Rows that a shard holds, as they are kept here."""
        if WEIGHT in batch.schema.names:
            raise GivesUpError("rows that stand for several")
        columns = [self.lifetime.enter(batch.column(TIME).to_numpy()).tolist()]
        for name in self.places:
            values = from_arrow(batch.column(name), self.kinds[name])
            is_named = not name.startswith(VALUE) and self.kinds[name].is_float
            columns.append([one_zero(value) for value in values] if is_named else values)
        for name in self.parts:
            values = columns[self.places[name]]
            columns.append([None if value is None else parts_of(value) for value in values])
        return list(zip(*columns, strict=True))


def input_rows(plan: QueryPlan, shape: QueryShape, number: int, summed: set[str]) -> InputRows:
    """The rows of an input; summed: its value columns that are sums of doubles."""
    entry, lifetime = plan.inputs[number], lifetime_of(plan.inputs[number].window)
    if not entry.window.traits.has_width or lifetime.leave_slide_us or lifetime.is_endless:
        raise GivesUpError(f"a window of the kind {entry.window.kind}")
    if entry.window.partition_by:
        raise GivesUpError("PARTITION BY")
    prepared, columns = shape.inputs[number], prepared_columns(plan, number)
    names = columns.schema.names[1:]
    listed = [(part, part.type, False) for part in columns.plain]
    values = zip(prepared.values, prepared.value_types, strict=True)
    listed += [(part, _kind_of(part.type, kind), True) for part, kind in values]
    kinds = {name: kind for name, (_, kind, _) in zip(names, listed, strict=True)}
    places = {name: place for place, name in enumerate(names, 1)}
    doubles = [name for name in names if name in summed]
    parts = {name: len(names) + 1 + i for i, name in enumerate(doubles)}
    keys = [column_name("k", i) for i in range(len(prepared.keys))]
    prepare = _preparer(entry, lifetime, dict(zip(names, listed, strict=True)), keys, doubles)
    return InputRows(places, parts, kinds, prepare, lifetime)


def _kind_of(kind: ColumnType, kept: pa.DataType) -> ColumnType:
    """The type in which a value is kept: that of its expression, or of a sum over it."""
    if kind.arrow == kept or kind.name == "DECIMAL":
        return kind
    return ColumnType("DOUBLE" if pa.types.is_floating(kept) else "BIGINT")


def _preparer(
    entry: PlanInput,
    lifetime: Lifetime,
    columns: dict[str, tuple[Expr, ColumnType, bool]],
    keys: list[str],
    doubles: list[str],
) -> Preparer:
    namespace: Namespace = {"one_zero": one_zero, "parts_of": parts_of}
    names = [column.name for column in entry.stream.columns]

    def leaf(part: Expr) -> str:
        assert isinstance(part, ColumnRef)
        return f"x{names.index(part.column)}"

    texts = Texts(leaf, namespace)
    expressions = [part for part, _, _ in columns.values()]
    read = [*expressions, *([] if entry.filter is None else [entry.filter])]
    lines = ["def prepare(row, time):\n", *_reading(entry, read, namespace)]
    if entry.filter is not None:
        lines.append(f"    if not {texts.true(entry.filter)}:\n        return None\n")
    for name, (part, kind, is_value) in columns.items():
        lines.append(f"    {name} = {_column(texts.value(part), part.type, kind, is_value)}\n")
        if name in keys:
            lines.append(f"    if {name} is None:\n        return None\n")
    listed = [_entering(lifetime), *columns]
    listed += [f"None if {name} is None else parts_of({name})" for name in doubles]
    lines.append(f"    return ({', '.join(listed)},)\n")
    prepare: Preparer = written("".join(lines), "prepare", namespace)
    return prepare


def _reading(entry: PlanInput, parts: list[Expr], namespace: Namespace) -> list[str]:
    """The columns that are read, as local names."""
    read = {leaf.column for part in parts for leaf in walk(part) if isinstance(leaf, ColumnRef)}
    lines = []
    for place, column in enumerate(entry.stream.columns):
        if column.name not in read:
            continue
        lines.append(f"    x{place} = row[{place}]\n")
        made = from_python(column.type)
        if made is not None:
            namespace[f"f{place}"] = made
            is_float = (
                "if type(x{0}) is not float:\n        " if column.type.name == "DOUBLE" else ""
            )
            lines.append(f"    {is_float}x{{0}} = f{{0}}(x{{0}})\n".format(place))
    return lines


def _column(text: str, kind: ColumnType, kept: ColumnType, is_value: bool) -> str:
    if not is_value:
        return f"one_zero({text})" if kind.is_float else text
    if kind == kept or kind.is_numeric:
        return text
    return f"(None if {text} is None else 0)"  # only COUNT asks: whether there is a value


def _entering(lifetime: Lifetime) -> str:
    """The instant at which a row of `time` enters."""
    if lifetime.enters_at_time:
        return "time"
    slide, phase = lifetime.slide_us, lifetime.phase_us
    if not lifetime.is_stepped:
        return f"-(-time // {slide}) * {slide}"
    return f"-(({phase} - time - {lifetime.opens_us}) // {slide}) * {slide} + {phase}"
