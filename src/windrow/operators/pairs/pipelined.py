"""Pipelined: every joined row is kept until one of its rows leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import LaneLayout, moved
from windrow.operators.pairs import result_kernels
from windrow.operators.pairs.arrays import JoinedArrays, ResultArrays
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
        self._results = ResultArrays(
            group=np.zeros(0, np.int32),
            lanes=np.zeros((0, states.layout.lane_count), np.int64),
            tally=np.zeros((0, states.distincts), np.int32),
            is_live=np.zeros(0, np.uint8),
            users=np.zeros(0, np.int8),
            is_ranked=np.zeros((0, states.extremes), np.uint8),
            following=np.zeros((0, inputs), np.int64),
            first_result=np.zeros(0, np.int64),
            results_of=np.zeros(0, np.int64),
            progress=np.zeros(result_kernels.PROGRESS_ENTRIES, np.int64),
        )
        self._results.progress[result_kernels.FIRST_FREE] = EMPTY

    def reserve_slots(self, slots: int) -> None:
        """Have room for slots below this."""
        rows, results = slots * self._inputs, self._results
        if rows > results.first_result.size:
            self._results = results._replace(
                first_result=grown(results.first_result, rows, EMPTY),
                results_of=grown(results.results_of, rows, 0),
            )

    def begin(self) -> None:
        """New events."""
        self._results.progress[result_kernels.EVENT] = 0

    def apply(self, events: MergedEvents, rows: JoinedRows, next_event: int) -> None:
        """Run the block, and the events up to next_event."""
        states, progress = self._states, self._results.progress
        self._reserve(int(progress[result_kernels.NEXT_FRESH]) + rows.count)
        share = self._shares.of(rows, states.layout)
        codes = states.tally_codes(rows)
        joined = JoinedArrays(rows.event, rows.group, share, codes, rows.rank, rows.present)
        progress[result_kernels.ROW] = 0
        is_done = False
        while not is_done:
            is_done = result_kernels.keep_rows(
                next_event, joined, rows.slot, events.arrays, self._results,
                states.arrays, states.output,
            )  # fmt: skip
            if not is_done:
                event = int(progress[result_kernels.EVENT])
                owner = events.slot[event] * self._inputs + events.input[event]
                states.reserve_updates(int(self._results.results_of[owner]) + rows.count + 1)

    def change_layout(self, layout: LaneLayout) -> None:
        """Move the lanes of all results; before the states change theirs."""
        old, lanes = self._states.layout, self._results.lanes
        ones = np.ones((lanes.shape[0], old.value_count), np.int64)
        self._results = self._results._replace(lanes=moved(lanes, ones, old, layout))

    def sweep(self) -> None:
        """Results free their places themselves."""

    @property
    def nbytes(self) -> int:
        """Bytes in addition to the states."""
        return sum(array.nbytes for array in self._results)

    def _reserve(self, count: int) -> None:
        results = self._results
        if count <= results.group.size:
            return
        count = max(count, 2 * results.group.size)
        self._results = results._replace(
            group=grown(results.group, count, 0),
            lanes=grown(results.lanes, count, 0),
            tally=grown(results.tally, count, EMPTY),
            is_live=grown(results.is_live, count, 0),
            users=grown(results.users, count, 0),
            is_ranked=grown(results.is_ranked, count, 0),
            following=grown(results.following, count, EMPTY),
        )
        if self._states.extremes:
            self._states.reserve_members(count * self._states.extremes)
