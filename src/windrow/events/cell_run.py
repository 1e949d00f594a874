"""Cells with their rows: the state of a run, and the rows of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from windrow.event_time import END_OF_TIME
from windrow.events.answer import Answer
from windrow.events.answer_text import grouped_answer, row_maker, whole_answer
from windrow.events.cell_layout import CellLayout, cell_layout
from windrow.events.cell_text import AS_THEY_ARE, Cells, cell_maker
from windrow.events.event import Shown
from windrow.events.event_window import EventWindow
from windrow.events.row_text import InputRows
from windrow.events.shown_rows import ShownRows
from windrow.plan.model import QueryPlan

__all__ = ["CellRun"]

# About what Python takes for a cell with its key and its row, and for each number in it.
CELL_BYTES, NUMBER_BYTES = 600, 40


class CellRun:
    """The windows of a plan and its answer at the clock.

    places: of each input, where its columns are in the rows of its window.
    """

    def __init__(self, plan: QueryPlan) -> None:
        layout = cell_layout(plan)
        self._begin(layout, layout.inputs)

    def _begin(self, layout: CellLayout, inputs: tuple[InputRows, ...]) -> None:
        """Empty windows of the inputs, and no cells; layout: that of the cells."""
        self.layout, self.inputs = layout, inputs
        self.windows = [EventWindow(rows) for rows in inputs]
        self.places: list[Sequence[int]] = [AS_THEY_ARE for _ in inputs]
        self.cells: Cells = {}
        self.totals: list[Any] = [0] * (1 + 2 * len(layout.measures))
        self.changed: set[Any] = set()
        self._shown = ShownRows()
        self._copies: dict[Any, int] = {}  # of a select: rows that it has more than once
        self._make = row_maker(layout)
        if layout.is_one_cell:
            self.totals = self.cells[None] = cell_maker(layout)()
        self.is_whole = layout.is_whole
        # The answer of one row at the clock.
        self.whole_answer = whole_answer(layout, self.totals) if layout.is_whole else None
        self._is_counted = layout.shape.is_select and not layout.plan.distinct
        # The answer of a row for each cell at the clock; rows of before are the same objects.
        # Interrupted, it is torn.
        self.grouped_answer = self._counted_answer
        if not layout.is_whole and not self._is_counted:
            of_cells = (self.cells, self.changed, self._shown)
            self.grouped_answer = grouped_answer(layout, *of_cells)

    def read_from(self, window: EventWindow, instead: EventWindow, places: Sequence[int]) -> None:
        """Inputs read another window, in which their columns are at these places."""
        for number, each in enumerate(self.windows):
            if each is window:
                self.windows[number], self.places[number] = instead, places

    def _counted_answer(self) -> Answer:
        """The same of a select, whose rows may have copies."""
        if self.changed:
            self._show_changed()
        return Answer(self._with_copies()) if self._copies else self._shown.answer()

    def _with_copies(self) -> list[dict[str, Any]]:
        found = list(self._shown.rows)
        for key, copies in self._copies.items():
            found += [self._shown.row_of(key)] * copies
        return found

    def _show_changed(self) -> dict[Any, Shown]:
        """Make the rows of the cells that have changed; what these show now."""
        found = {key: self._shown_by(key, self.cells.get(key)) for key in self.changed}
        shown = self._shown
        for key, each in found.items():
            row, count = each or (None, 0)
            if row is not None:
                shown.put(key, row)
            else:
                shown.drop(key)
            if count > 1:
                self._copies[key] = count - 1
            else:
                self._copies.pop(key, None)
        self.changed.clear()
        return found

    def _shown_by(self, key: Any, cell: Any) -> Shown:
        row = None if cell is None else self._make(key, cell)
        if row is None:
            return None
        return row, cell[0] if self._is_counted else 1

    def shows(self) -> dict[Any, Shown]:
        """What the keys show that have changed since this was last called, or an answer made."""
        if self.is_whole:
            return {None: self._shown_by(None, self.totals)}
        return self._show_changed()

    def shows_all(self) -> dict[Any, Shown]:
        """What every key shows; it has not changed from here on."""
        found = self.shows()
        if self.is_whole:
            return {key: each for key, each in found.items() if each is not None}
        rows, copies = self._shown.rows, self._copies
        places = self._shown.places.items()
        return {key: (rows[place], 1 + copies.get(key, 0)) for key, place in places}

    def next_change(self) -> int:
        """The next instant at which a row comes or goes."""
        found = END_OF_TIME
        for window in self.windows:
            if window.waiting:
                found = min(found, window.waiting[0][0])
            if window.live:
                found = min(found, window.live[0][0] + window.lifetime.hold_us)
        return found

    @property
    def nbytes(self) -> int:
        """About the bytes of its rows and cells."""
        windows = sum(window.nbytes // window.readers for window in self.windows)
        cells = len(self.cells) * (CELL_BYTES + NUMBER_BYTES * len(self.totals))
        return windows + cells + self._held * 2 * NUMBER_BYTES

    @property
    def _held(self) -> int:
        """How many values the extremes and counts of different values hold."""
        if not self.layout.extremes and not self.layout.distincts:
            return 0
        first = len(self.layout.inputs) + 2 * len(self.layout.measures)
        return sum(len(each) for cell in self.cells.values() for each in cell[first:])
