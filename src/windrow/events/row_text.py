"""A row of a stream as the row of one input that a run keeps: filtered, every expression evaluated.

The row is a tuple: the instant at which it enters, then the columns of prepared rows in their
order, then the doubles that are summed as numbers of parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from windrow.events.expression_text import Namespace, Texts
from windrow.events.giving_up import GivesUpError
from windrow.events.values import HALVINGS, from_arrow, from_python, one_zero, parts_of
from windrow.plan.expressions import ColumnRef, Expr, walk
from windrow.plan.model import PlanInput, QueryPlan
from windrow.rows.prepare import lifetime_of, prepared_columns
from windrow.rows.prepared_names import TIME, VALUE, WEIGHT, column_name
from windrow.rows.shape import QueryShape
from windrow.schema import ColumnType, StreamSchema
from windrow.windows.lifetime import Lifetime

__all__ = [
    "EventRow",
    "InputColumn",
    "InputRows",
    "entering",
    "input_rows",
    "reading_lines",
    "row_lines",
]

EventRow = tuple[Any, ...]


class InputColumn(NamedTuple):
    """A column that is kept: the value of an expression, or such a double as a number of parts."""

    part: Expr
    kind: ColumnType
    is_value: bool
    is_key: bool = False  # rows without a value take no part
    is_parts: bool = False


class InputRows(NamedTuple):
    """The rows of one input: where each column is, what it is made of, and how long a row stays."""

    places: dict[str, int]
    parts: dict[str, int]  # of doubles: where their parts are
    kinds: dict[str, ColumnType]
    columns: tuple[InputColumn, ...]  # from place 1 on
    entry: PlanInput
    lifetime: Lifetime

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
    keys = {column_name("k", i) for i in range(len(prepared.keys))}
    listed = [InputColumn(part, part.type, False) for part in columns.plain]
    values = zip(prepared.values, prepared.value_types, strict=True)
    listed += [InputColumn(part, _kind_of(part.type, kind), True) for part, kind in values]
    kept = [
        column._replace(is_key=name in keys) for name, column in zip(names, listed, strict=True)
    ]
    kinds = {name: column.kind for name, column in zip(names, kept, strict=True)}
    places = {name: place for place, name in enumerate(names, 1)}
    doubles = [name for name in names if name in summed]
    parts = {name: len(names) + 1 + i for i, name in enumerate(doubles)}
    kept += [kept[places[name] - 1]._replace(is_parts=True) for name in doubles]
    return InputRows(places, parts, kinds, tuple(kept), entry, lifetime)


def _kind_of(kind: ColumnType, kept: pa.DataType) -> ColumnType:
    """The type in which a value is kept: that of its expression, or of a sum over it."""
    if kind.arrow == kept or kind.name == "DECIMAL":
        return kind
    return ColumnType("DOUBLE" if pa.types.is_floating(kept) else "BIGINT")


def reading_lines(
    stream: StreamSchema, parts: Iterable[Expr], namespace: Namespace, suffix: str
) -> Iterator[str]:
    """The columns of a row of the stream that expressions read, as local names.

    suffix: of the names of functions that make values of them.
    """
    read = {leaf.column for part in parts for leaf in walk(part) if isinstance(leaf, ColumnRef)}
    for place, column in enumerate(stream.columns):
        if column.name not in read:
            continue
        yield f"x{place} = row[{place}]"
        made = from_python(column.type)
        if made is not None:
            name = f"f{place}{suffix}"
            namespace[name] = made
            is_other = f"if type(x{place}) is not float: " if column.type.name == "DOUBLE" else ""
            yield f"{is_other}x{place} = {name}(x{place})"


def row_lines(
    entry: PlanInput,
    lifetime: Lifetime,
    columns: list[InputColumn],
    namespace: Namespace,
    then: Iterable[str],
) -> Iterator[str]:
    """Make the row `p` that is kept of a row of a stream, if it takes part; then: what follows."""
    namespace.update(one_zero=one_zero, parts_of=parts_of, HALVINGS=HALVINGS)
    names = [column.name for column in entry.stream.columns]

    def leaf(part: Expr) -> str:
        assert isinstance(part, ColumnRef)
        return f"x{names.index(part.column)}"

    texts, indent = Texts(leaf, namespace), ""
    if entry.filter is not None:
        yield f"if {texts.true(entry.filter)}:"
        indent += "    "
    listed, keys, named = [entering(lifetime)], [], dict[InputColumn, str]()
    for number, column in enumerate(columns):
        if column.is_parts:
            listed.append(_parts(named[column._replace(is_parts=False)]))
            continue
        text = _column(texts.value(column.part), column)
        if not text.isidentifier():
            yield f"{indent}y{number} = {text}"
            text = f"y{number}"
        named[column] = text
        listed.append(text)
        if column.is_key:
            keys.append(f"{text} is not None")
    if keys:
        yield f"{indent}if {' and '.join(keys)}:"
        indent += "    "
    yield f"{indent}p = ({', '.join(listed)},)"
    for line in then:
        yield indent + line


def _parts(value: str) -> str:
    """A double as a number of parts; most are whole numbers of them."""
    is_whole = f"(z := {value} * HALVINGS).is_integer()"
    return f"None if {value} is None else int(z) if {is_whole} else parts_of({value})"


def _column(text: str, column: InputColumn) -> str:
    kind = column.part.type
    if not column.is_value:
        return f"one_zero({text})" if kind.is_float else text
    if kind == column.kind or kind.is_numeric:
        return text
    return f"(None if {text} is None else 0)"  # only COUNT asks: whether there is a value


def entering(lifetime: Lifetime) -> str:
    """The instant at which a row of `time` enters, as text."""
    if lifetime.enters_at_time:
        return "time"
    slide, phase = lifetime.slide_us, lifetime.phase_us
    if not lifetime.is_stepped:
        return f"-(-time // {slide}) * {slide}"
    return f"-(({phase} - time - {lifetime.opens_us}) // {slide}) * {slide} + {phase}"
