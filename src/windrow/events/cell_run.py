"""Cells with their rows: the state of a run, and the rows of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from windrow.event_time import END_OF_TIME
from windrow.events.answer import Answer
from windrow.events.answer_text import grouped_answer, row_maker, whole_answer
from windrow.events.cell_layout import CellLayout, cell_layout
from windrow.events.cell_text import AS_THEY_ARE, Cells, cell_maker
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
        self._last = self._make(None, self.totals) if layout.is_whole else None
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

    def _show_changed(self, changes: list[tuple[int, dict[str, Any]]] | None = None) -> None:
        """Make the rows of the cells that have changed; changes: where these are noted."""
        cells, make, shown = self.cells, self._make, self._shown
        for key in self.changed:
            cell = cells.get(key)
            row = None if cell is None else make(key, cell)
            copies = 0 if cell is None or not self._is_counted else cell[0] - 1
            if changes is not None:
                self._note(key, row, copies, changes)
            if row is not None:
                shown.put(key, row)
            else:
                shown.drop(key)
            if copies > 0:
                self._copies[key] = copies
            else:
                self._copies.pop(key, None)
        self.changed.clear()

    def _note(self, key: Any, row: dict[str, Any] | None, copies: int, changes: list[Any]) -> None:
        """The changes from the row that a key has shown to the one that it shows now."""
        old = self._shown.find(key)
        before = 0 if old is None else 1 + self._copies.get(key, 0)
        after = 0 if row is None else 1 + copies
        if old == row:
            both = min(before, after)
            before, after = before - both, after - both
        changes += [(-1, old)] * before
        changes += [(1, row)] * after

    def changes(self) -> list[tuple[int, dict[str, Any]]]:
        """The rows that have come and gone since this was last called, or an answer made."""
        found: list[tuple[int, dict[str, Any]]] = []
        if not self.is_whole:
            self._show_changed(found)
            return found
        row = self._make(None, self.totals)
        if row != self._last:
            found += [] if self._last is None else [(-1, self._last)]
            found += [] if row is None else [(1, row)]
            self._last = row
        return found

    def told_rows(self) -> list[dict[str, Any]]:
        """The rows as changes() has left them, whatever has happened since."""
        if self.is_whole:
            return [] if self._last is None else [self._last]
        return self._with_copies()

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
