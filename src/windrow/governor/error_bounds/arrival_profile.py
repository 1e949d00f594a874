"""What came when: counts, sums, squares and extremes of rows by group, in a ring of time panes.

Purpose: to bound the error of answers from a window that holds less than the range of its query,
    and to say how much less would do; it is kept for all rows, whether a window holds them or not.
Order: rows may come in any order; those older than the ring are left out.
Time: O(measures) a row; a tail costs the panes that it covers.
Space: 8 bytes a cell and 64 for each measure; two ranges of panes for each group. When that would
    be more than the limit, panes are merged in pairs, down to FEWEST_PANES a range.
Certainty: sums are rounded, and bounds say so; rows that were not seen or are forgotten (before the
    ring, or before the profile began) give infinite bounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.governor.error_bounds import kernels
from windrow.governor.error_bounds.arrival_cells import ArrivalCells, first_pane_us
from windrow.governor.error_bounds.intervals import Flags, Floats
from windrow.governor.error_bounds.pane_totals import PaneTotals, totals_of_cells
from windrow.governor.error_bounds.profile_state import ProfileState
from windrow.governor.error_bounds.tail import Tail, tail_of_lanes

__all__ = ["BYTES_LIMIT", "FEWEST_PANES", "ArrivalProfile"]

Instants = NDArray[np.int64]
Codes = NDArray[np.int32]

FEWEST_PANES = 8
BYTES_LIMIT = 8 << 20
# The ring covers this many ranges: what held at earlier instants can be checked as well.
RANGES_KEPT = 2
SECOND_US = 1_000_000
ALWAYS = -(1 << 62)


class ArrivalProfile:
    """Rows of one query by pane and group.

    range_us: the query's range. measure_count: columns that it aggregates. pane_us: the width of a
    pane, a part of the range unless given; panes begin at multiples of it. begin_us: rows before it
    were not seen; None: there were none.

    >>> profile = ArrivalProfile(range_us=1000, measure_count=0, pane_us=100)
    >>> nothing = np.empty((0, 3)), np.empty((0, 3), np.uint8)
    >>> profile.add(np.array([5, 120, 950]), np.zeros(3, np.int32), *nothing)
    >>> lacking = profile.tail(np.array([1000]), np.array([200]), np.zeros(1, np.int32)).count
    >>> lacking.low.tolist(), lacking.high.tolist()
    ([2.0], [2.0])
    """

    def __init__(
        self,
        range_us: int,
        measure_count: int,
        pane_us: int | None = None,
        begin_us: int | None = None,
        bytes_limit: int = BYTES_LIMIT,
    ) -> None:
        assert range_us > 0, f"a range of {range_us} us"
        assert pane_us is None or pane_us > 0, f"panes of {pane_us} us"
        self.range_us = range_us
        self.pane_us = self._narrowest_us = pane_us or first_pane_us(range_us)
        self.measure_count = measure_count
        self._begin_us = ALWAYS if begin_us is None else begin_us
        self.bytes_limit = bytes_limit
        self._newest: int | None = None
        self._earliest_us: int | None = None
        ring = RANGES_KEPT * _power_of_two(self.range_panes)
        lanes = kernels.MEASURES + kernels.MEASURE_LANES * measure_count
        self._cells = np.zeros((ring, 0, lanes))
        self._arrivals = np.zeros(ring, np.int64)
        self._reserve(1)

    @property
    def cell_count(self) -> int:
        """Cells that have rows."""
        return int(np.count_nonzero(self._cells[:, :, kernels.ROWS]))

    @property
    def pane_count(self) -> int:
        """Panes that have rows."""
        return int(np.count_nonzero(self._arrivals))

    @property
    def range_panes(self) -> int:
        """Panes that a range covers."""
        return -(-self.range_us // self.pane_us)

    @property
    def ring_panes(self) -> int:
        """Panes that are kept."""
        return self._arrivals.size

    @property
    def nbytes(self) -> int:
        """Bytes held: those of all arrays."""
        return self._cells.nbytes + self._arrivals.nbytes

    @property
    def group_count(self) -> int:
        """Codes of groups that there is room for."""
        return self._cells.shape[1]

    @property
    def known_from_us(self) -> int:
        """All rows from this instant on are in the profile."""
        if self._newest is None:
            return self._begin_us
        return max(self._begin_us, self._first_pane * self.pane_us)

    @property
    def earliest_us(self) -> int | None:
        """The time of the earliest row that ever came; None: no row has come."""
        return self._earliest_us

    def add(self, times: Instants, groups: Codes, values: Floats, valid: NDArray[np.uint8]) -> None:
        """Take rows in, in any order; values and flags of validity: a row for each measure.

        The ring follows the newest row. So that instants before it can still be asked for, a batch
        that spans more than a range is added in parts, each when its answers are due.
        """
        assert values.shape == valid.shape == (self.measure_count, times.size)
        if times.size == 0:
            return
        earliest = int(times.min())
        if self._earliest_us is None or earliest < self._earliest_us:
            self._earliest_us = earliest
        self.advance(int(times.max()))
        batch = [np.ascontiguousarray(array) for array in (times, groups, values, valid)]
        row = 0
        while row < times.size:
            # Groups get room in the order of their rows, so that borders of batches leave no trace.
            self._reserve(int(groups[row]) + 1)
            with np.errstate(all="ignore"):
                row = kernels.add_rows(
                    row, *batch, self.pane_us, self._first_pane, self._cells, self._arrivals
                )

    def merge(self, cells: ArrivalCells) -> None:
        """Take in what was counted elsewhere, in panes as this profile had them at first.

        The ring follows the newest cell, as with rows.
        """
        assert cells.pane_us == self._narrowest_us, "cells of other panes"
        if not cells.panes.size:
            return
        if self._earliest_us is None or cells.earliest_us < self._earliest_us:
            self._earliest_us = cells.earliest_us
        self.advance(int(cells.panes.max()) * cells.pane_us)
        row = 0
        while row < cells.panes.size:
            self._reserve(int(cells.groups[row]) + 1)
            shift = (self.pane_us // cells.pane_us).bit_length() - 1
            with np.errstate(all="ignore"):
                row = kernels.merge_cells(
                    row, cells.panes, cells.groups, cells.lanes, shift,
                    self._first_pane, self._cells, self._arrivals,
                )  # fmt: skip

    def advance(self, clock_us: int) -> None:
        """Time advances; panes that are too old are dropped."""
        newest = clock_us // self.pane_us
        if self._newest is None or newest < self._newest:
            self._newest = newest if self._newest is None else self._newest
            return
        ring = self._arrivals.size
        for pane in range(max(self._newest + 1, newest - ring + 1), newest + 1):
            self._cells[pane % ring] = 0.0
            self._arrivals[pane % ring] = 0
        self._newest = newest

    def forget(self, groups: Codes) -> None:
        """These codes stand for nothing any more, and may stand for other groups next.

        A group that comes back is then a new one: only those may be forgotten that `is_silent`.
        """
        known = groups[groups < self.group_count]
        self._cells[:, known] = 0.0

    def is_silent(self, groups: Codes, clock_us: int) -> Flags:
        """Whether no row of each group is in any window of the range from the clock on."""
        silent = np.ones(groups.size, np.bool_)
        known = np.flatnonzero(groups < self.group_count)
        slots = self._slots((clock_us - self.range_us) // self.pane_us, self._last_pane)
        rows = self._cells[slots, :, kernels.ROWS][:, groups[known]]
        silent[known] = ~rows.any(axis=0)
        return silent

    def state(self) -> ProfileState:
        """All that it holds, for a snapshot; codes of groups stay as they are."""
        slot, group = np.nonzero(self._cells[:, :, kernels.ROWS])
        return ProfileState(
            self.pane_us, self._newest, self._earliest_us, self._arrivals.copy(),
            slot.astype(np.int32), group.astype(np.int32), self._cells[slot, group],
        )  # fmt: skip

    def load(self, state: ProfileState) -> None:
        """Become what another profile of the same query was; the codes may have been changed."""
        self.pane_us, self._newest = state.pane_us, state.newest
        self._earliest_us, self._arrivals = state.earliest_us, state.arrivals.copy()
        groups = _power_of_two(int(state.group.max(initial=0)) + 1)
        self._cells = np.zeros((self._arrivals.size, groups, self._cells.shape[2]))
        self._cells[state.slot, state.group] = state.cells

    def rows_per_second(self, clock_us: int, span_us: int) -> float:
        """Rows that came within a span, by time of event; from the earliest row on at most."""
        rows, covered_us = self.arrivals_within(clock_us, span_us)
        return rows * SECOND_US / covered_us if covered_us else 0.0

    def arrivals_within(self, clock_us: int, span_us: int) -> tuple[int, int]:
        """How many rows came within a span, and for how much of it that is known."""
        if self._earliest_us is None:
            return 0, 0
        since_us = max(clock_us - span_us + 1, self._earliest_us, self.known_from_us)
        first = since_us // self.pane_us
        last = clock_us // self.pane_us
        # Of the first pane only a part is meant: all of it counts, over all of its time.
        begin_us = max(first * self.pane_us, self._earliest_us)
        if begin_us > clock_us:
            return 0, 0
        rows = int(self._arrivals[self._slots(first, last)].sum())
        return rows, clock_us + 1 - begin_us

    def tail(
        self,
        instants: Instants,
        edges: Instants,
        groups: Codes,
        measure: int | None = None,
        centers: Floats | None = None,
    ) -> Tail:
        """What is known of rows with instant - range <= time < edge, for each instant and group.

        edges: the oldest time that is held at each instant. measure: None: rows are counted.
        centers: what deviations are from, the means of the values held.
        """
        center = np.zeros(instants.size) if centers is None else centers
        base = -1 if measure is None else kernels.MEASURES + kernels.MEASURE_LANES * measure
        lanes = np.empty((instants.size, kernels.TAIL_LANES))
        with np.errstate(all="ignore"):
            kernels.bound_tails(
                instants, edges, groups, base, center, self.range_us, self.pane_us,
                self._first_pane, self.known_from_us, self._cells, lanes,
            )  # fmt: skip
        return tail_of_lanes(lanes, center)

    def totals(self, measure: int | None, first_group: int, group_count: int) -> PaneTotals:
        """All panes in the order of time, for some groups."""
        slots = self._slots(self._first_pane, self._last_pane)
        cells = self._cells[slots, first_group : first_group + group_count]
        return totals_of_cells(cells, measure, self._first_pane)

    @property
    def _first_pane(self) -> int:
        return self._last_pane - self._arrivals.size + 1

    @property
    def _last_pane(self) -> int:
        return 0 if self._newest is None else self._newest

    def _slots(self, first: int, last: int) -> Instants:
        """Where those of the panes from first to last stand that are in the ring."""
        panes = np.arange(max(first, self._first_pane), min(last, self._last_pane) + 1)
        return panes % self._arrivals.size

    def _reserve(self, groups: int) -> None:
        """Have room for codes below this; panes are merged if it would take too much otherwise."""
        if groups <= self.group_count:
            return
        capacity = _power_of_two(groups)
        ring, before, lanes = self._cells.shape
        while 8 * ring * (capacity * lanes + 1) > self.bytes_limit and self._can_merge():
            self._merge_panes()
            ring = self._arrivals.size
        cells = np.zeros((ring, capacity, lanes))
        cells[:, :before] = self._cells
        self._cells = cells

    def limit(self, most_bytes: int) -> None:
        """Take no more than that from now on, unless the fewest panes of all groups do."""
        self.bytes_limit = min(BYTES_LIMIT, most_bytes)

    def _can_merge(self) -> bool:
        return self._arrivals.size > RANGES_KEPT * FEWEST_PANES

    def _merge_panes(self) -> None:
        ring, groups, lanes = self._cells.shape
        merged, arrivals = np.zeros((ring // 2, groups, lanes)), np.zeros(ring // 2, np.int64)
        if self._newest is not None:
            with np.errstate(all="ignore"):
                kernels.merge_pairs(self._first_pane, self._cells, self._arrivals, merged, arrivals)
            self._newest >>= 1
        self._cells, self._arrivals = merged, arrivals
        self.pane_us *= 2


def _power_of_two(number: int) -> int:
    """The smallest power of two that is not below a number.

    >>> [_power_of_two(number) for number in (1, 2, 3, 256, 257)]
    [1, 2, 4, 256, 512]
    """
    return 1 << (number - 1).bit_length()
