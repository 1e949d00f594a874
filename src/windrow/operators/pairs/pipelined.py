"""Pipelined: every joined row is kept until one of its rows leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import LaneLayout, moved
from windrow.operators.pairs import result_kernels
from windrow.operators.pairs.block import JoinedRows, MergedEvents
from windrow.operators.pairs.sums.shares import Shares
from windrow.operators.pairs.sums.states import GroupStates, grown
from windrow.windows.kernels import EMPTY

__all__ = ["Pipelined"]


class Pipelined:
    """PC, GPC and MPC: results in an arena, a list of them for every row."""

    def __init__(self, states: GroupStates, shares: Shares, inputs: int) -> None:
        self._states = states
        self._shares = shares
        self._inputs = inputs
        self.probes_leave: NDArray[np.bool_] = np.zeros(inputs, np.bool_)
        self.pauses_leave: NDArray[np.bool_] = np.zeros(inputs, np.bool_)
        extremes, distincts = states.roots.shape[1], states.tallies.shape[1]
        self._group = np.zeros(0, np.int32)
        self._lanes = np.zeros((0, states.layout.lane_count), np.int64)
        self._tally = np.zeros((0, distincts), np.int32)
        self._is_live = np.zeros(0, np.uint8)
        self._users = np.zeros(0, np.int8)
        self._is_ranked = np.zeros((0, extremes), np.uint8)
        self._following = np.zeros((0, inputs), np.int64)
        self._first = np.zeros(0, np.int64)
        self._results_of = np.zeros(0, np.int64)
        self._progress = np.zeros(result_kernels.PROGRESS_ENTRIES, np.int64)
        self._progress[result_kernels.FIRST_FREE] = EMPTY

    def reserve_slots(self, slots: int) -> None:
        """Have room for slots below this."""
        rows = slots * self._inputs
        if rows > self._first.size:
            self._first = grown(self._first, rows, EMPTY)
            self._results_of = grown(self._results_of, rows, 0)

    def begin(self) -> None:
        """New events."""
        self._progress[result_kernels.EVENT] = 0

    def apply(self, events: MergedEvents, rows: JoinedRows, next_event: int) -> None:
        """Run the block, and the events up to next_event."""
        states = self._states
        self._reserve(int(self._progress[result_kernels.NEXT_FRESH]) + rows.count)
        share = self._shares.of(rows, states.layout)
        codes = states.tally_codes(rows)
        self._progress[result_kernels.ROW] = 0
        is_done = False
        while not is_done:
            is_done = result_kernels.keep_rows(
                self._progress[result_kernels.EVENT], next_event,
                self._progress[result_kernels.ROW], rows.count, rows.event, rows.slot, rows.group,
                share, codes, rows.rank, rows.present, *events.arrays(),
                states.layout.masks, states.tally_count,
                self._group, self._lanes, self._tally, self._is_live, self._users,
                self._is_ranked, self._following, self._first, self._results_of, self._progress,
                *states.arrays(),
            )  # fmt: skip
            if not is_done:
                event = int(self._progress[result_kernels.EVENT])
                owner = events.slot[event] * self._inputs + events.input[event]
                states.reserve_touches(int(self._results_of[owner]) + rows.count + 1)

    def change_layout(self, layout: LaneLayout) -> None:
        """Move the lanes of all results; before the states change theirs."""
        old = self._states.layout
        ones = np.ones((self._lanes.shape[0], old.value_count), np.int64)
        self._lanes = moved(self._lanes, ones, old, layout)

    def sweep(self) -> None:
        """Results free their places themselves."""

    @property
    def nbytes(self) -> int:
        """Bytes beside the states."""
        named = (self._group, self._lanes, self._tally, self._is_live, self._users)
        beside = (self._is_ranked, self._following, self._first, self._results_of, self._progress)
        return sum(array.nbytes for array in (*named, *beside))

    def _reserve(self, results: int) -> None:
        if results <= self._group.size:
            return
        results = max(results, 2 * self._group.size)
        self._group = grown(self._group, results, 0)
        self._lanes = grown(self._lanes, results, 0)
        self._tally = grown(self._tally, results, EMPTY)
        self._is_live = grown(self._is_live, results, 0)
        self._users = grown(self._users, results, 0)
        self._is_ranked = grown(self._is_ranked, results, 0)
        self._following = grown(self._following, results, EMPTY)
        if self._is_ranked.shape[1]:
            self._states.arena.reserve(results * self._is_ranked.shape[1])
