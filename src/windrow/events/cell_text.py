"""The step of cells as Python text, written for a plan: rows enter and leave, totals follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from windrow.compiling.written import written
from windrow.events.cell_layout import CellLayout, Kept, others
from windrow.events.extremes import HeldValues, LeastNumbers, SortedValues
from windrow.events.row_text import EventRow
from windrow.events.values import one_zero

__all__ = ["AS_THEY_ARE", "CellNames", "Cells", "cell_lines", "cell_maker", "row_changer"]

Cells = dict[Any, list[Any]]
# The columns of rows that nobody else reads are where the layout says.
AS_THEY_ARE = range(1 << 16)


class CellNames(NamedTuple):
    """How the text of a step refers to the state of one run: names with a suffix of its own.

    places: of each input, where the columns of its rows are in those that are kept.
    """

    suffix: str
    places: tuple[Sequence[int], ...]

    @property
    def state(self) -> tuple[str, ...]:
        """The names of its cells, totals, changed keys and maker of cells."""
        return tuple(f"{name}{self.suffix}" for name in ("cells", "totals", "changed", "new_cell"))


def row_changer(
    layout: CellLayout, cells: Cells, changed: set[Any], sign: str
) -> Callable[[EventRow], None]:
    """A function that lets one row of a layout of one input enter (+) or leave (-) its cell."""
    names = CellNames("", (AS_THEY_ARE,))
    state = (cells, cells.get(None), changed, cell_maker(layout))
    namespace = {"one_zero": one_zero, **dict(zip(names.state, state, strict=True))}
    lines = ["def change(p):\n"]
    lines += [f"    {line}\n" for line in cell_lines(layout, names, 0, sign)]
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


def cell_lines(layout: CellLayout, names: CellNames, number: int, sign: str) -> Iterator[str]:
    """A row p of an input enters (+) or leaves (-)."""
    cells, totals, changed, new_cell = names.state
    places = names.places[number]
    if layout.is_one_cell:
        yield f"c = {totals}"
    else:
        yield f"key = {_key_text([places[column] for column in layout.keys[number]])}"
        if sign == "+":
            yield f"c = {cells}.get(key)"
            yield f"if c is None: c = {cells}[key] = {new_cell}()"
        else:
            yield f"c = {cells}[key]"
    count, has_totals = len(layout.inputs), layout.is_whole and not layout.is_one_cell
    if has_totals:
        yield f"met = {others(count, number)}"
        yield f"{totals}[0] {sign}= met"
    for kept in layout.measures:
        yield from _measure(kept, names, number, count, sign, has_totals=has_totals)
    for kept in (*layout.extremes, *layout.distincts):
        if kept.source == number:
            yield f"v = p[{places[kept.column]}]"
            yield from _held(kept, sign, is_distinct=kept in layout.distincts)
    yield f"c[{number}] {sign}= 1"
    if not layout.is_whole:
        yield f"{changed}.add(key)"
    if sign == "-" and not layout.is_one_cell:
        held = " or ".join(f"c[{j}]" for j in range(count))
        yield f"if not ({held}): del {cells}[key]"


def _held(kept: Kept, sign: str, *, is_distinct: bool) -> Iterator[str]:
    """A value v comes to an extreme or a count of different values, or goes."""
    value = "one_zero(v)" if kept.is_double and is_distinct else "v"
    called = f"c[{kept.slot}].{'add' if sign == '+' else 'remove'}({value})"
    if is_distinct or kept.is_double or not kept.has_sign:
        yield f"if v is not None: {called}"
        return
    # Most numbers are held several times, and then only their count changes.
    yield "if v is not None:"
    yield f"    counts = c[{kept.slot}].counts"
    yield "    many = counts.get(v)"
    yield f"    if many{'' if sign == '+' else ' != 1'}: counts[v] = many {sign} 1"
    yield f"    else: {called}"


def _measure(
    kept: Kept, names: CellNames, number: int, count: int, sign: str, *, has_totals: bool
) -> Iterator[str]:
    """What a row of an input changes of a count and a sum; totals lie where cells have them."""
    slot, totals = kept.slot, names.state[1]
    place = slot - count + 1
    if kept.source == number:
        yield f"v = p[{names.places[number][kept.column]}]"
        yield "if v is not None:"
        yield f"    c[{slot}] {sign}= 1"
        yield f"    c[{slot + 1}] {sign}= v"
        if has_totals:
            yield f"    {totals}[{place}] {sign}= met"
            yield f"    {totals}[{place + 1}] {sign}= v * met"
    elif has_totals:
        yield f"many = {others(count, number, kept.source)}"
        yield f"{totals}[{place}] {sign}= c[{slot}] * many"
        yield f"{totals}[{place + 1}] {sign}= c[{slot + 1}] * many"


def _key_text(places: list[int]) -> str:
    """The key of a row p."""
    if len(places) == 1:
        return f"p[{places[0]}]"
    return f"({', '.join(f'p[{place}]' for place in places)})" if places else "None"
