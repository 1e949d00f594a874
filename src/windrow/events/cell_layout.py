"""What a cell holds: of each input the number of its rows, then of each measure a count and a sum.

A cell stands for the rows of all inputs that have one key: every one of an input meets every one of
the others. Of one window, the key is what it is grouped by. After the measures come the extremes
and the counts of different values.
"""

from __future__ import annotations

from typing import NamedTuple

from windrow.aggregate_functions import Form
from windrow.events.giving_up import GivesUpError
from windrow.events.row_text import InputRows, input_rows
from windrow.exact.kernels import DOUBLE
from windrow.plan.expressions import ColumnRef
from windrow.plan.model import QueryPlan
from windrow.rows.shape import QueryShape, shape_of

__all__ = ["CellLayout", "Kept", "cell_layout", "others"]

_FORMS = (Form.ROWS, Form.COUNT, Form.SUM, Form.MEAN, Form.EXTREME, Form.DISTINCT)


class Kept(NamedTuple):
    """Something that a cell keeps of the rows of one input.

    column: where its value is in these rows. slot: where it is in the cell; a measure has two.
    sign: of extremes, 1 for the least and -1 for the greatest. zeros: whether values are doubles.
    """

    source: int
    column: int
    slot: int
    sign: int = 1
    is_double: bool = False
    has_sign: bool = True


class CellLayout(NamedTuple):
    """Of a plan.

    key: per input the columns of a row that make up its key. is_whole: there is one answer over all
    cells, so that totals are kept; else each cell is a row of the answer. groups: of each group, or
    item of a select, its place in the key; None for a constant.
    """

    plan: QueryPlan
    shape: QueryShape
    inputs: tuple[InputRows, ...]
    keys: tuple[tuple[int, ...], ...]
    measures: tuple[Kept, ...]
    extremes: tuple[Kept, ...]
    distincts: tuple[Kept, ...]
    is_whole: bool
    groups: tuple[int | None, ...]

    @property
    def is_one_cell(self) -> bool:
        """Whether there is one window, and one row of the answer."""
        return len(self.inputs) == 1 and not self.keys[0] and self.is_whole


def others(count: int, *but: int) -> str:
    """How often a row meets those of the inputs but these: a product, as text."""
    return " * ".join(f"c[{j}]" for j in range(count) if j not in but) or "1"


def cell_layout(plan: QueryPlan) -> CellLayout:
    """The layout of a plan, where cells serve."""
    shape = shape_of(plan)
    _check_form(plan, shape)
    count = len(plan.inputs)
    summed: list[set[str]] = [set() for _ in plan.inputs]
    for measure in shape.measures:
        (column,) = _own_column(measure.terms)
        if measure.kind == DOUBLE:
            summed[column.source].add(column.column)
    inputs = tuple(input_rows(plan, shape, i, summed[i]) for i in range(count))
    slot, measures = count, []
    for measure in shape.measures:
        (column,) = _own_column(measure.terms)
        rows = inputs[column.source]
        is_double = measure.kind == DOUBLE
        place = (rows.parts if is_double else rows.places)[column.column]
        measures.append(Kept(column.source, place, slot, is_double=is_double))
        slot += 2
    extremes = []
    for extreme in shape.extremes:
        kept = _of_column(extreme.argument, extreme.source, inputs, slot)
        extremes.append(kept._replace(sign=-1 if extreme.is_max else 1))
        slot += 1
    distincts = []
    for distinct in shape.distincts:
        distincts.append(_of_column(distinct.argument, distinct.source, inputs, slot))
        slot += 1
    keys, is_whole = _keys(plan, shape, inputs)
    if is_whole and count > 1 and (extremes or distincts):
        raise GivesUpError("extremes of all joined rows")
    listed = (tuple(measures), tuple(extremes), tuple(distincts))
    groups = [None if each.kind == "constant" else each.index for each in shape.group_places]
    return CellLayout(plan, shape, inputs, keys, *listed, is_whole, tuple(groups))


def _check_form(plan: QueryPlan, shape: QueryShape) -> None:
    if plan.negations or plan.residual is not None or plan.error_percent is not None:
        raise GivesUpError("negations, residual conditions, bounded errors")
    if plan.duration is not None or plan.on_error != "fail":
        raise GivesUpError("a life of its own, or ON ERROR")
    if any(reading.form not in _FORMS for reading in shape.readings):
        raise GivesUpError("an aggregate")
    if len(plan.inputs) > 1 and shape.is_select:
        raise GivesUpError("rows of a join")
    variables = {entry.variables for entry in plan.inputs}
    if len(variables) > 1 or (len(plan.inputs) > 1 and not plan.inputs[0].keys):
        raise GivesUpError("joins by several keys")


def _own_column(terms: tuple[tuple[ColumnRef, ...], ...]) -> tuple[ColumnRef, ...]:
    if len(terms) != 1 or len(terms[0]) != 1:
        raise GivesUpError("a sum of products")
    return terms[0]


def _of_column(
    argument: object, source: int | None, inputs: tuple[InputRows, ...], slot: int
) -> Kept:
    if source is None or not isinstance(argument, ColumnRef):
        raise GivesUpError("an aggregate of several inputs")
    kind = inputs[source].kinds[argument.column]
    has_sign = kind.is_numeric or kind.name in ("TIMESTAMP", "TIMESTAMP_NTZ")
    place = inputs[source].places[argument.column]
    return Kept(source, place, slot, is_double=kind.is_float, has_sign=has_sign)


def _keys(
    plan: QueryPlan, shape: QueryShape, inputs: tuple[InputRows, ...]
) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """The columns of each input's key, and whether all cells together are one answer."""
    named = [place for place in shape.group_places if place.kind != "constant"]
    is_whole = not named
    if len(inputs) == 1:
        grouped = [inputs[0].places[f"g{i}"] for i in range(len(shape.inputs[0].groups))]
        keyed = [inputs[0].places[f"k{i}"] for i in range(len(shape.inputs[0].keys))]
        if keyed:
            raise GivesUpError("a key of one window")
        return (tuple(grouped),), not grouped and not shape.is_select
    keys = tuple(
        tuple(rows.places[f"k{i}"] for i in range(len(entry.keys)))
        for rows, entry in zip(inputs, plan.inputs, strict=True)
    )
    used = {place.index for place in named}
    by_key = all(place.kind == "key" for place in named) and used == set(range(len(keys[0])))
    if not is_whole and not by_key:
        raise GivesUpError("groups that are no keys")
    return keys, is_whole
