"""A row of the answer from a cell, or from the totals: aggregates, HAVING and the select list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from windrow.aggregate_functions import Form
from windrow.compiling.written import written
from windrow.events.answer import Answer
from windrow.events.cell_layout import CellLayout, others
from windrow.events.expression_text import Namespace, Texts
from windrow.events.giving_up import GivesUpError, gives_up
from windrow.events.values import sum_of_parts, to_python
from windrow.plan.expressions import AggregateRef, Expr, GroupRef
from windrow.plan.model import Aggregate
from windrow.schema import ColumnType

if TYPE_CHECKING:
    from windrow.events.cell_text import Cells
    from windrow.events.shown_rows import ShownRows

__all__ = ["RowMaker", "grouped_answer", "row_maker", "whole_answer"]

Row = dict[str, Any]
# Of a key and its cell, or of None and the totals; None where the answer has no such row.
RowMaker = Callable[[Any, list[Any]], "Row | None"]
_LONG = 1 << 63


def row_maker(layout: CellLayout) -> RowMaker:
    """Makes rows of the answer."""
    namespace: Namespace = {"gives_up": gives_up, "sum_of_parts": sum_of_parts}
    lines = ["def make(key, c):\n"]
    lines += [f"    {line}\n" for line in _lines(layout, namespace, "return None", "return {}")]
    make: RowMaker = written("".join(lines), "make", namespace)
    return make


def whole_answer(layout: CellLayout, totals: list[Any]) -> Callable[[], Answer]:
    """Makes an answer of one row, or none, of these totals."""
    namespace: Namespace = {"gives_up": gives_up, "sum_of_parts": sum_of_parts, "c": totals}
    namespace["Answer"] = Answer
    lines = ["def answer():\n"]
    made = _lines(layout, namespace, "return Answer()", "return Answer(({},))")
    lines += [f"    {line}\n" for line in made]
    answer: Callable[[], Answer] = written("".join(lines), "answer", namespace)
    return answer


def grouped_answer(
    layout: CellLayout, cells: Cells, changed: set[Any], shown: ShownRows
) -> Callable[[], Answer]:
    """Makes an answer of a row for each cell: those of the cells that have changed are new."""
    namespace: Namespace = {"gives_up": gives_up, "sum_of_parts": sum_of_parts}
    namespace |= {"cells": cells, "changed": changed, "all_shown": shown.answer}
    namespace |= {"places": shown.places, "rows": shown.rows, "log": shown.log}
    namespace |= {"put": shown.put, "drop": shown.drop}
    lines = [
        "def answer():",
        "    for key in changed:",
        "        c = cells.get(key)",
        "        if c is None: drop(key); continue",
    ]
    made = _lines(layout, namespace, "drop(key); continue", "row = {}")
    lines += [f"        {line}" for line in made]
    lines += [
        "        place = places.get(key)",
        "        if place is None: put(key, row); continue",
        "        rows[place] = row",
        "        log.append(place)",
        "    changed.clear()",
        "    return all_shown()",
    ]
    answer: Callable[[], Answer] = written("\n".join(lines), "answer", namespace)
    return answer


def _lines(layout: CellLayout, namespace: Namespace, none: str, given: str) -> Iterator[str]:
    """none: what to do where there is no row; given: what to do with one."""
    plan, count = layout.plan, len(layout.inputs)
    has_totals = layout.is_whole and not layout.is_one_cell
    yield "n = c[0]" if has_totals else f"n = {others(count)}"
    if not layout.is_whole:
        yield f"if not n: {none}"
    texts = Texts(_leaf_of(layout), namespace)
    if layout.shape.is_select:
        yield given.format(_listed(layout, namespace, _select_leaves(layout)))
        return
    for index, aggregate in enumerate(plan.aggregates):
        yield f"a{index} = {_aggregate(layout, index, aggregate, has_totals=has_totals)}"
    if plan.having is not None:
        yield f"if not {texts.true(plan.having)}: {none}"
    expressions = [texts.value(column.expression) for column in plan.select]
    yield given.format(_listed(layout, namespace, expressions))


def _listed(layout: CellLayout, namespace: Namespace, expressions: list[str]) -> str:
    """The select list as a dict."""
    items = []
    for index, (column, text) in enumerate(zip(layout.plan.select, expressions, strict=True)):
        made = to_python(column.type)
        if made is not None:
            namespace[f"out{index}"] = made
            text = f"out{index}({text})"
        items.append(f"{column.name!r}: {text}")
    return f"{{{', '.join(items)}}}"


def _select_leaves(layout: CellLayout) -> list[str]:
    """The columns of a select, which is grouped by its list; constants are written out."""
    places = [place for place in layout.groups if place is not None]
    if len(places) < len(layout.groups):
        raise GivesUpError("a select with constants")
    return [_of_key(layout, place) for place in places]


def _of_key(layout: CellLayout, index: int) -> str:
    return "key" if len(layout.keys[0]) == 1 else f"key[{index}]"


def _leaf_of(layout: CellLayout) -> Callable[[Expr], str]:
    def leaf(part: Expr) -> str:
        if isinstance(part, AggregateRef):
            return f"a{part.index}"
        assert isinstance(part, GroupRef)
        place = layout.groups[part.index]
        if place is None:
            raise GivesUpError("a group that is a constant")
        kind = _kind_of_group(layout, place)
        if kind != part.type and not (kind.is_integer and part.type.is_integer):
            raise GivesUpError("a group in another type than its key")
        return _of_key(layout, place)

    return leaf


def _kind_of_group(layout: CellLayout, index: int) -> ColumnType:
    """The type in which a part of the key is kept."""
    first, names = layout.inputs[0], list(layout.inputs[0].places)
    return first.kinds[names[layout.keys[0][index] - 1]]


def _aggregate(layout: CellLayout, index: int, aggregate: Aggregate, *, has_totals: bool) -> str:
    reading, count = layout.shape.readings[index], len(layout.inputs)
    if reading.form is Form.ROWS:
        return "n"
    number = reading.indexes[0]
    if reading.form is Form.EXTREME:
        return f"c[{layout.extremes[number].slot}].first"
    if reading.form is Form.DISTINCT:
        return f"len(c[{layout.distincts[number].slot}])"
    kept = layout.measures[number]
    slot = kept.slot - count + 1 if has_totals else kept.slot
    many = "" if has_totals or count == 1 else f" * {others(count, kept.source)}"
    valid, total = f"(c[{slot}]{many})", f"(c[{slot + 1}]{many})"
    if reading.form is Form.COUNT:
        return valid
    if kept.is_double:
        total = f"sum_of_parts{total}"
    if reading.form is Form.MEAN:
        return f"{_mean(aggregate, total, kept.is_double)} / {valid} if c[{slot}] else None"
    if kept.is_double:
        return f"{total} if c[{slot}] else None"
    most = 10**aggregate.type.precision if aggregate.type.name == "DECIMAL" else _LONG
    least = -most if aggregate.type.name != "DECIMAL" else -most + 1
    within = f"(s{index} if {least} <= (s{index} := {total}) < {most} else gives_up())"
    return f"{within} if c[{slot}] else None"


def _mean(aggregate: Aggregate, total: str, is_double: bool) -> str:
    argument = aggregate.argument
    if argument is not None and argument.type.name == "DECIMAL":
        return f"float({total}) / {float(10**argument.type.scale)!r}"
    return total if is_double else f"float({total})"
