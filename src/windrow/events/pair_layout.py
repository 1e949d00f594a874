"""Joined rows as the rows of one window: what of them is grouped, summed and compared.

A joined row is a tuple like that of an input: a place that nobody reads, the columns by which it is
grouped, then the value of each measure, extreme and count of different values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from windrow.aggregate_functions import Form
from windrow.compiling.written import written
from windrow.events.cell_layout import CellLayout, Kept
from windrow.events.expression_text import Namespace, Texts
from windrow.events.giving_up import GivesUpError
from windrow.events.row_text import EventRow, InputRows, input_rows
from windrow.events.values import one_zero, parts_of
from windrow.exact.kernels import DOUBLE
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.model import QueryPlan
from windrow.rows.shape import Measure, QueryShape, shape_of
from windrow.schema import ColumnType

__all__ = ["PairLayout", "pair_layout"]

_FORMS = (Form.ROWS, Form.COUNT, Form.SUM, Form.MEAN, Form.EXTREME, Form.DISTINCT)


class PairLayout(NamedTuple):
    """Of a plan.

    keys: of each input, where its join key is. is_negated: rows of the first input count while the
    second has none of their key. join: makes a joined row; None where it does not count.
    """

    inputs: tuple[InputRows, ...]
    keys: tuple[tuple[int, ...], ...]
    is_negated: bool
    join: Callable[..., EventRow | None]
    cells: CellLayout


def pair_layout(plan: QueryPlan) -> PairLayout:
    """The layout of a plan, where pairs serve: joins of two windows, and anti joins."""
    shape = shape_of(plan)
    _check_form(plan, shape)
    inputs = tuple(input_rows(plan, shape, i, set()) for i in range(len(plan.inputs)))
    is_negated = bool(plan.negations)
    keys = [_places(rows, "k") for rows in inputs]
    if is_negated:
        keys[0] = tuple(inputs[0].places[name] for name in shape.negations[0].of_columns)
    names = ["r0"] if is_negated else ["r0", "r1"]
    join, cells = _joined(plan, shape, inputs, names)
    return PairLayout(inputs, tuple(keys), is_negated, join, cells)


def _check_form(plan: QueryPlan, shape: QueryShape) -> None:
    if plan.error_percent is not None or plan.duration is not None or plan.on_error != "fail":
        raise GivesUpError("bounded errors, a life of its own, or ON ERROR")
    if any(reading.form not in _FORMS for reading in shape.readings):
        raise GivesUpError("an aggregate")
    if len(plan.inputs) != 2 or len(plan.negations) > 1:
        raise GivesUpError("joins of more than two windows")
    if plan.negations and (shape.negations[0].residual is not None or not plan.negations[0].keys):
        raise GivesUpError("negations with other conditions")
    if not plan.negations and not plan.inputs[0].keys:
        raise GivesUpError("joins without keys")


def _places(rows: InputRows, part: str) -> tuple[int, ...]:
    return tuple(place for name, place in rows.places.items() if name.startswith(part))


def _joined(
    plan: QueryPlan, shape: QueryShape, inputs: tuple[InputRows, ...], names: list[str]
) -> tuple[Callable[..., EventRow | None], CellLayout]:
    namespace: Namespace = {"one_zero": one_zero, "parts_of": parts_of}

    def leaf(part: Expr) -> str:
        assert isinstance(part, ColumnRef)
        return f"r{part.source}[{inputs[part.source].places[part.column]}]"

    texts, items, kinds = Texts(leaf, namespace), ["0"], dict[str, ColumnType]()
    for part in shape.group_columns:
        kinds[f"g{len(kinds)}"] = part.type
        text = texts.value(part)
        items.append(f"one_zero({text})" if part.type.is_float else text)
    grouped, slot = len(kinds), 1
    measures, extremes, distincts = [], [], []
    for measure in shape.measures:
        is_double = measure.kind == DOUBLE
        measures.append(Kept(0, len(items), slot, is_double=is_double))
        items.append(_measured(texts, measure, is_double=is_double))
        slot += 2
    for extreme in shape.extremes:
        extremes.append(_kept(extreme.argument, len(items), slot, -1 if extreme.is_max else 1))
        items.append(texts.value(extreme.argument))
        slot += 1
    for distinct in shape.distincts:
        distincts.append(_kept(distinct.argument, len(items), slot, 1))
        items.append(texts.value(distinct.argument))
        slot += 1
    condition = (
        "" if shape.residual is None else f"    if not {texts.true(shape.residual)}: return None\n"
    )
    text = f"def join({', '.join(names)}):\n{condition}    return ({', '.join(items)},)\n"
    join: Callable[..., EventRow | None] = written(text, "join", namespace)
    is_whole = not plan.group_by and not shape.is_select
    if not is_whole and not grouped:
        raise GivesUpError("groups that are constants")
    listed = (tuple(measures), tuple(extremes), tuple(distincts))
    keys = (tuple(range(1, grouped + 1)),)
    rows = (inputs[0]._replace(places=_in_order(kinds), parts={}, kinds=kinds),)
    return join, CellLayout(plan, shape, rows, keys, *listed, is_whole, _numbers(shape))


def _numbers(shape: QueryShape) -> tuple[int | None, ...]:
    """The place of each group among those that are no constants."""
    found: list[int | None] = []
    for place in shape.group_places:
        known = sum(each is not None for each in found)
        found.append(None if place.kind == "constant" else known)
    return tuple(found)


def _in_order(kinds: dict[str, ColumnType]) -> dict[str, int]:
    return {name: place for place, name in enumerate(kinds, 1)}


def _measured(texts: Texts, measure: Measure, *, is_double: bool) -> str:
    """What a joined row adds: of terms the exact sum of exact products, NULL where a factor is."""
    columns = [column for term in measure.terms for column in term]
    if len(columns) > 1:
        if is_double or not all(column.type.is_integer for column in columns):
            raise GivesUpError("a sum of products that are not of integers")
        missing = " or ".join(f"{texts.value(column)} is None" for column in columns)
        products = [" * ".join(map(texts.value, term)) for term in measure.terms]
        return f"(None if {missing} else {' + '.join(products)})"
    text = texts.value(measure.argument)
    return f"(None if (v := {text}) is None else parts_of(v))" if is_double else text


def _kept(argument: Expr, column: int, slot: int, sign: int) -> Kept:
    kind = argument.type
    has_sign = kind.is_numeric or kind.name in ("TIMESTAMP", "TIMESTAMP_NTZ")
    return Kept(0, column, slot, sign, kind.is_float, has_sign)
