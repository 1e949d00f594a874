"""The step of cells as Python text, written for a plan: rows enter and leave, totals follow.

One function moves to the clock, with everything in local names; it is compiled once for a run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from windrow.compiling.written import written
from windrow.events.cell_layout import CellLayout, Kept, others
from windrow.events.extremes import HeldValues, LeastNumbers, SortedValues
from windrow.events.row_text import EventRow
from windrow.events.values import one_zero

__all__ = ["Cells", "Mover", "Waiting", "mover"]

# Of each input the rows that have not entered, in the order in which they do.
Waiting = list[deque[EventRow]]
Cells = dict[Any, list[Any]]
Mover = Callable[[int], None]


def mover(
    layout: CellLayout,
    waiting: Waiting,
    live: list[deque[EventRow]],
    cells: Cells,
    totals: list[Any],
    changed: set[Any],
) -> Mover:
    """A function that moves this state to a clock."""
    namespace: dict[str, Any] = {
        "cells": cells,
        "totals": totals,
        "changed": changed,
        "new_cell": cell_maker(layout),
        "one_zero": one_zero,
    }
    for number, (to_come, held) in enumerate(zip(waiting, live, strict=True)):
        namespace[f"waiting{number}"], namespace[f"live{number}"] = to_come, held
    make = written("".join(_lines(layout, sorted(namespace))), "made", {})
    made: Mover = make(**namespace)
    return made


def row_changer(
    layout: CellLayout, cells: Cells, changed: set[Any], sign: str
) -> Callable[[EventRow], None]:
    """A function that lets one row of a layout of one input enter (+) or leave (-) its cell."""
    namespace: dict[str, Any] = {
        "cells": cells,
        "changed": changed,
        "new_cell": cell_maker(layout),
        "one_zero": one_zero,
    }
    lines = ["def change(p):\n", *(f"    {line}\n" for line in _row(layout, 0, sign))]
    change: Callable[[EventRow], None] = written("".join(lines), "change", namespace)
    return change


def cell_maker(layout: CellLayout) -> Callable[[], list[Any]]:
    """Makes empty cells."""
    numbers = [0] * (len(layout.inputs) + 2 * len(layout.measures))

    def new_cell() -> list[Any]:
        cell: list[Any] = [*numbers]
        cell.extend(
            LeastNumbers(kept.sign) if kept.has_sign else SortedValues(kept.sign)
            for kept in layout.extremes
        )
        cell.extend(HeldValues() for _ in layout.distincts)
        return cell

    return new_cell


def _lines(layout: CellLayout, names: list[str]) -> Iterator[str]:
    yield f"def made({', '.join(names)}):\n    def move(clock):\n"
    for number in range(len(layout.inputs)):
        yield f"        while waiting{number} and waiting{number}[0][0] <= clock:\n"
        yield f"            p = waiting{number}.popleft()\n"
        for line in _row(layout, number, "+"):
            yield f"            {line}\n"
        yield f"            live{number}.append(p)\n"
    for number, rows in enumerate(layout.inputs):
        yield f"        edge = clock - {rows.lifetime.hold_us}\n"
        yield f"        while live{number} and live{number}[0][0] <= edge:\n"
        yield f"            p = live{number}.popleft()\n"
        for line in _row(layout, number, "-"):
            yield f"            {line}\n"
    yield "    return move\n"


def _row(layout: CellLayout, number: int, sign: str) -> Iterator[str]:
    """A row of an input enters (+) or leaves (-)."""
    yield f"key = {key_text(layout.keys[number])}"
    if sign == "+":
        yield "c = cells.get(key)"
        yield "if c is None: c = cells[key] = new_cell()"
    else:
        yield "c = cells[key]"
    count, has_totals = len(layout.inputs), layout.is_whole and not layout.is_one_cell
    if has_totals:
        yield f"met = {others(count, number)}"
        yield f"totals[0] {sign}= met"
    for kept in layout.measures:
        yield from _measure(kept, number, count, sign, has_totals=has_totals)
    for kept in (*layout.extremes, *layout.distincts):
        if kept.source == number:
            yield f"v = p[{kept.column}]"
            is_distinct = kept in layout.distincts
            value = "one_zero(v)" if kept.is_double and is_distinct else "v"
            call = "add" if sign == "+" else "remove"
            yield f"if v is not None: c[{kept.slot}].{call}({value})"
    yield f"c[{number}] {sign}= 1"
    if not layout.is_whole:
        yield "changed.add(key)"
    if sign == "-" and not layout.is_one_cell:
        held = " or ".join(f"c[{j}]" for j in range(count))
        yield f"if not ({held}): del cells[key]"


def _measure(kept: Kept, number: int, count: int, sign: str, *, has_totals: bool) -> Iterator[str]:
    """What a row of an input changes of a count and a sum; totals lie where cells have them."""
    slot = kept.slot
    place = slot - count + 1
    if kept.source == number:
        yield f"v = p[{kept.column}]"
        yield "if v is not None:"
        yield f"    c[{slot}] {sign}= 1"
        yield f"    c[{slot + 1}] {sign}= v"
        if has_totals:
            yield f"    totals[{place}] {sign}= met"
            yield f"    totals[{place + 1}] {sign}= v * met"
    elif has_totals:
        yield f"many = {others(count, number, kept.source)}"
        yield f"totals[{place}] {sign}= c[{slot}] * many"
        yield f"totals[{place + 1}] {sign}= c[{slot + 1}] * many"


def key_text(columns: tuple[int, ...]) -> str:
    """The key of a row p."""
    if len(columns) == 1:
        return f"p[{columns[0]}]"
    return f"({', '.join(f'p[{place}]' for place in columns)})" if columns else "None"
