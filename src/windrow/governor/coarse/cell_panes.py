"""The rows of one input of a join as cells: what came in a pane of time, by key and group.

    | gone | cut | whole ... whole | open |
               ^ the window's edge

A pane that lies wholly in the window counts as its rows would. Only of the one that the edge cuts
it is not known which of its rows count. Panes end at multiples of a width, and earlier where many
rows come at once, but never between rows of one instant: what a burst brings can be cut, too.
Order: rows come in the order of the instants at which they enter.
Space: a code and the lanes of each cell; panes are merged in pairs when they take more than a
    limit, down to FEWEST_PANES a range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME
from windrow.governor.coarse.cell_form import ROWS, CellForm, Codes, Lanes, reduced

__all__ = ["FEWEST_PANES", "CellPanes"]

FEWEST_PANES = 8
# A pane has at most so many times its even share of the rows of the window.
CROWDED = 2

Instants = NDArray[np.int64]


@dataclass(frozen=True)
class Pane:
    """Cells of rows that entered from first_us to last_us, all of one pane's width (number)."""

    number: int
    first_us: int
    last_us: int
    rows: int
    codes: Codes
    lanes: Lanes

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.codes.nbytes + self.lanes.nbytes


class CellPanes:
    """Cells of one input. Codes name a key and group; they are given and taken elsewhere."""

    def __init__(self, form: CellForm, pane_us: int, range_us: int) -> None:
        self.form, self.pane_us, self.range_us = form, pane_us, range_us
        self._is_extreme = form.is_extreme
        self._panes: tuple[Pane, ...] = ()
        self._whole: Lanes | None = None  # of all panes but the one that is cut, by code
        self._whole_from = 0  # the place of the first pane that they count

    def add(self, times: Instants, codes: Codes, lanes: Lanes) -> None:
        """Take rows in the order in which they enter, none before those that are there."""
        start = 0
        while start < times.size:
            start = self._add_some(times, codes, lanes, start)

    def _add_some(self, times: Instants, codes: Codes, lanes: Lanes, start: int) -> int:
        """Take the rows of one pane; returns the first row of the next one."""
        number = int(times[start]) // self.pane_us
        end = int(np.searchsorted(times, (number + 1) * self.pane_us))
        last = self._panes[-1] if self._panes else None
        share = self._crowd(end - start, int(times[end - 1]))
        room = max(1, share - (last.rows if last is not None and last.number == number else 0))
        if end - start > room:
            end = int(np.searchsorted(times, times[start + room - 1], side="right"))
        part = slice(start, end)
        own, sums = reduced(codes[part], lanes[part], self._is_extreme)
        pane = Pane(number, int(times[start]), int(times[end - 1]), end - start, own, sums)
        if last is not None and self._goes_on(last, pane, share):
            self._panes = (*self._panes[:-1], self._merged(last, pane))
        else:
            self._panes = (*self._panes, pane)
        self._count(own, sums)
        return end

    def _crowd(self, more: int, until_us: int) -> int:
        """More rows than a pane is to have; while the window fills, by what it will have."""
        covered = min(self.range_us, max(self.pane_us, until_us - self.earliest_us))
        rows = (self.row_count + more) * self.range_us // covered
        return CROWDED * rows // self._panes_a_range

    def _goes_on(self, last: Pane, pane: Pane, share: int) -> bool:
        """Whether rows go into the last pane: no instant is in two panes."""
        is_same = last.number == pane.number
        return last.last_us == pane.first_us or (is_same and last.rows + pane.rows <= share)

    def _merged(self, one: Pane, other: Pane) -> Pane:
        both = np.concatenate([one.codes, other.codes]), np.concatenate([one.lanes, other.lanes])
        codes, lanes = reduced(*both, self._is_extreme)
        rows = one.rows + other.rows
        return Pane(other.number, one.first_us, other.last_us, rows, codes, lanes)

    def _count(self, codes: Codes, lanes: Lanes) -> None:
        """Cells came: they are wholly in the window."""
        if self._whole is None or not codes.size:
            return
        highest = int(codes[-1]) + 1
        if highest > self._whole.shape[0]:
            more = self.form.empty(2 * highest)
            more[: self._whole.shape[0]] = self._whole
            self._whole = more
        sums, minima = ~self._is_extreme, self._is_extreme
        held = self._whole[codes]
        held[:, sums] += lanes[:, sums]
        held[:, minima] = np.minimum(held[:, minima], lanes[:, minima])
        self._whole[codes] = held

    def forget_before(self, edge_us: int) -> None:
        """Panes that no window reaches any more go."""
        gone = 0
        while gone < len(self._panes) and self._panes[gone].last_us < edge_us:
            gone += 1
        if gone:
            self._panes = self._panes[gone:]
            self._whole_from -= gone
            if self._whole_from < 0:
                self._whole = None

    def worlds(self, edge_us: int) -> tuple[Codes, Lanes]:
        """The codes that have rows, and their lanes without and with the pane that is cut.

        edge_us: rows that entered before are out of the window.
        """
        first = 0
        while first < len(self._panes) and self._panes[first].first_us < edge_us:
            first += 1
        whole = self._whole_since(first)
        is_cut = first > 0 and self._panes[first - 1].last_us >= edge_us
        cut = self._panes[first - 1] if is_cut else None
        some = whole[:, ROWS] > 0
        if cut is not None:
            if cut.codes.size and cut.codes[-1] >= some.size:
                some = np.concatenate([some, np.zeros(int(cut.codes[-1]) + 1 - some.size, bool)])
            some[cut.codes] = True
        codes = np.flatnonzero(some)
        low = self.form.empty(codes.size)
        known = codes < whole.shape[0]
        low[known] = whole[codes[known]]
        high = low.copy()
        if cut is not None:
            place = np.searchsorted(codes, cut.codes)
            sums, minima = ~self._is_extreme, self._is_extreme
            held = high[place]
            held[:, sums] += cut.lanes[:, sums]
            held[:, minima] = np.minimum(held[:, minima], cut.lanes[:, minima])
            high[place] = held
        return codes, np.stack([low, high], axis=2)

    def _whole_since(self, first: int) -> Lanes:
        """The lanes of all panes from a place on, by code."""
        if self._whole is None or self._whole_from != first:
            panes = self._panes[first:]
            parts = [each.codes for each in panes]
            codes = np.concatenate([*parts, np.empty(0, np.int64)])
            size = int(codes.max(initial=-1)) + 1
            whole = self.form.empty(size)
            if codes.size:
                lanes = np.concatenate([each.lanes for each in panes])
                for column in np.flatnonzero(~self._is_extreme):
                    whole[:, column] = np.bincount(codes, lanes[:, column], size)
                for column in np.flatnonzero(self._is_extreme):
                    np.minimum.at(whole[:, column], codes, lanes[:, column])
            self._whole, self._whole_from = whole, first
        return self._whole

    def coarsen(self) -> bool:
        """Make panes twice as wide; False where they are as wide as they may become."""
        if self.range_us < 2 * FEWEST_PANES * self.pane_us:
            return False
        self.pane_us *= 2
        merged: list[Pane] = []
        share = self._crowd(0, self._panes[-1].last_us) if self._panes else 0
        for pane in self._panes:
            wide = Pane(
                pane.number // 2, pane.first_us, pane.last_us, pane.rows, pane.codes, pane.lanes
            )
            if merged and self._goes_on(merged[-1], wide, share):
                merged[-1] = self._merged(merged[-1], wide)
            else:
                merged.append(wide)
        self._panes, self._whole = tuple(merged), None
        return True

    def crowded_us(self, until_us: int) -> int | None:
        """An instant within the pane of most rows that the edge reaches by then."""
        reached = [each for each in self._panes if each.first_us < until_us]
        reached = [each for each in reached if each.first_us < each.last_us]
        if not reached:
            return None
        return max(reached, key=lambda each: each.rows).first_us + 1

    @property
    def earliest_us(self) -> int:
        """When the oldest row entered."""
        return self._panes[0].first_us if self._panes else END_OF_TIME

    @property
    def used_codes(self) -> Codes:
        """The codes of all cells, some of them several times."""
        return np.concatenate([*(each.codes for each in self._panes), np.empty(0, np.int64)])

    @property
    def _panes_a_range(self) -> int:
        return max(1, -(-self.range_us // self.pane_us))

    @property
    def pane_count(self) -> int:
        """Panes that have rows."""
        return len(self._panes)

    @property
    def cell_count(self) -> int:
        """Cells of all panes."""
        return sum(each.codes.size for each in self._panes)

    @property
    def row_count(self) -> int:
        """Rows that the cells stand for."""
        return sum(each.rows for each in self._panes)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        whole = 0 if self._whole is None else self._whole.nbytes
        return whole + sum(each.nbytes for each in self._panes)
