"""Functions that take a function: it is evaluated once, over the entries of all rows together.

Arguments of such a call: what is taken apart, the bodies, and last the names of their parameters,
those of each body with commas between them, bodies with semicolons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.expressions import Call, Expr, Literal, Variable, walk
from windrow.rows.nested_columns import list_of
from windrow.rows.scalar.lists import Entries, entries_of, flags_of_null, lists_with
from windrow.rows.scalar.maps import checked_map
from windrow.rows.scalar.values import Checked, Leaf

__all__ = ["HIGHER_ORDER", "Body", "higher_order", "outer_leaves"]

Vector = NDArray[np.int64]
Flags = NDArray[np.bool_]
# Evaluates a body: its number, the columns of its parameters, and the row of each of its values.
Body = Callable[[int, list[pa.Array], Vector], tuple[pa.Array, Flags | None]]


def higher_order(
    call: Call, values: list[pa.Array], evaluate: Callable[..., Any], leaf: Leaf, known: Any
) -> Checked:
    """The value of a call; values: of the arguments before the bodies."""
    bodies = call.arguments[len(values) : -1]
    names = [each.split(",") for each in str(_text(call.arguments[-1])).split(";")]
    faults = np.zeros(len(values[0]), np.bool_)

    def body(number: int, columns: list[pa.Array], rows: Vector) -> tuple[pa.Array, Flags | None]:
        given = dict(zip(names[number], columns, strict=False))
        index = pa.array(rows)
        taken = {part: flags[rows] for part, flags in known.items()}
        found, wrong = evaluate(bodies[number], _inner(given, leaf, index), rows.size, taken)
        if wrong is not None:
            faults[rows[wrong]] = True
        return found, wrong

    found = HIGHER_ORDER[call.function](call, values, body)
    if isinstance(found, Checked):
        if found.faults is not None:
            faults |= found.faults
        found = found.value
    return Checked(found, faults if faults.any() else None)


def outer_leaves(call: Call) -> list[Expr]:
    """The columns that a call reads, and the parameters of functions around it."""
    own = str(_text(call.arguments[-1])).split(",")[0].split(";")[0]
    depth = int(own.rpartition("#")[2])
    leaves = (part for part in walk(call) if not isinstance(part, (Call, Literal)))
    return [each for each in leaves if not isinstance(each, Variable) or _depth(each) < depth]


def _depth(variable: Variable) -> int:
    """How many functions are around the one that it is a parameter of; far in for a finish."""
    number = variable.name.rpartition("#")[2]
    return int(number) if number.isdigit() else 1 << 30


def _inner(given: Mapping[str, pa.Array], leaf: Leaf, index: pa.Array) -> Leaf:
    def column(part: Expr) -> pa.Array:
        if isinstance(part, Variable) and part.name in given:
            return given[part.name]
        return leaf(part).take(index)

    return column


def _text(expression: Expr) -> object:
    assert isinstance(expression, Literal)
    return expression.value


def _counted(entries: Entries) -> list[pa.Array]:
    """The parameters of a function of an entry and its place."""
    return [*entries.children, pa.array(entries.places.astype(np.int32))]


def _transform(call: Call, values: list[pa.Array], body: Body) -> Any:
    entries = entries_of(values[0])
    found, _ = body(0, _counted(entries), entries.rows)
    return list_of(call.type.arrow, entries.lengths, [found], entries.missing)


def _filter(call: Call, values: list[pa.Array], body: Body) -> Any:
    entries = entries_of(values[0])
    chosen = np.flatnonzero(_true(body(0, _counted(entries), entries.rows)[0]))
    rows = entries.rows[chosen]
    return lists_with(call.type.arrow, entries.children, chosen, rows, entries.missing)


def _quantified(*, for_all: bool) -> Callable[[Call, list[pa.Array], Body], Any]:
    def decide(_call: Call, values: list[pa.Array], body: Body) -> Any:
        entries = entries_of(values[0])
        truth, _ = body(0, list(entries.children), entries.rows)
        unknown = flags_of_null(truth)
        decisive = ~unknown & (_true(truth) != for_all)
        decided, open_ = np.zeros(entries.size, np.bool_), np.zeros(entries.size, np.bool_)
        decided[entries.rows[decisive]] = True
        open_[entries.rows[unknown]] = True
        found = ~decided if for_all else decided
        return pa.array(found, mask=entries.missing | (open_ & ~decided))

    return decide


def _aggregate(_call: Call, values: list[pa.Array], body: Body) -> Any:
    """One entry after the other, of all rows at once."""
    column, state = values
    entries = entries_of(column)
    for place in range(int(entries.lengths.max(initial=0))):
        rows = np.flatnonzero(entries.lengths > place)
        entry = entries.values.take(pa.array(entries.starts[rows] + place))
        merged, _ = body(0, [state.take(pa.array(rows)), entry], rows)
        index = np.arange(len(state))
        index[rows] = len(state) + np.arange(rows.size)
        state = pa.concat_arrays([state, merged]).take(pa.array(index))
    finished, _ = body(1, [state], np.arange(entries.size))
    return finished.take(pa.array(np.arange(entries.size), mask=entries.missing))


def _zip_with(call: Call, values: list[pa.Array], body: Body) -> Any:
    parts = [entries_of(column) for column in values]
    missing = parts[0].missing | parts[1].missing
    lengths = np.where(missing, 0, np.maximum(parts[0].lengths, parts[1].lengths))
    rows = np.repeat(np.arange(lengths.size), lengths)
    places = np.arange(rows.size) - (np.cumsum(lengths) - lengths)[rows]
    columns = [
        part.values.take(pa.array(part.starts[rows] + places, mask=places >= part.lengths[rows]))
        for part in parts
    ]
    found, _ = body(0, columns, rows)
    return list_of(call.type.arrow, lengths, [found], missing)


def _map_filter(call: Call, values: list[pa.Array], body: Body) -> Any:
    entries = entries_of(values[0])
    chosen = np.flatnonzero(_true(body(0, list(entries.children), entries.rows)[0]))
    rows = entries.rows[chosen]
    return lists_with(call.type.arrow, entries.children, chosen, rows, entries.missing)


def _transform_keys(call: Call, values: list[pa.Array], body: Body) -> Any:
    entries = entries_of(values[0])
    keys, _ = body(0, list(entries.children), entries.rows)
    return checked_map(call.type, entries.lengths, keys, entries.children[1], entries.missing)


def _transform_values(call: Call, values: list[pa.Array], body: Body) -> Any:
    entries = entries_of(values[0])
    found, _ = body(0, list(entries.children), entries.rows)
    children = [entries.values, found]
    return list_of(call.type.arrow, entries.lengths, children, entries.missing)


def _true(truth: pa.Array) -> Flags:
    flags: Flags = truth.fill_null(False).to_numpy(zero_copy_only=False)
    return flags


HIGHER_ORDER: dict[str, Callable[[Call, list[pa.Array], Body], Any]] = {
    "transform": _transform,
    "filter": _filter,
    "exists": _quantified(for_all=False),
    "forall": _quantified(for_all=True),
    "aggregate": _aggregate,
    "zip_with": _zip_with,
    "map_filter": _map_filter,
    "transform_keys": _transform_keys,
    "transform_values": _transform_values,
}
