"""Incremental: joined rows are added when one of their rows enters, subtracted when one leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import LaneLayout
from windrow.operators.pairs.arrays import JoinedArrays, WholeArrays
from windrow.operators.pairs.block import JoinedRows, MergedEvents
from windrow.operators.pairs.sums import kernels
from windrow.operators.pairs.sums.shares import Shares
from windrow.operators.pairs.sums.states import GroupStates

__all__ = ["Incremental"]


class Incremental:
    """IC and GIC; nothing is kept in addition to the states."""

    def __init__(self, states: GroupStates, shares: Shares, inputs: int) -> None:
        assert states.extremes == 0, "an extreme cannot be retracted"
        self._states = states
        self._shares = shares
        self.probes_leave: NDArray[np.bool_] = np.ones(inputs, np.bool_)
        self.pauses_leave: NDArray[np.bool_] = np.zeros(inputs, np.bool_)

    def begin(self) -> None:
        """New events."""

    def apply(self, events: MergedEvents, rows: JoinedRows, next_event: int) -> None:
        """Run the block."""
        del next_event  # events without joined rows change nothing
        states = self._states
        if not rows.group.size and not rows.values.size:
            events_at_most = int(rows.event[-1] - rows.event[0]) + 1 if rows.count else 0
            states.reserve_updates(events_at_most)
            share, kinds = self._shares.of_or_direct(rows, states.layout)
            delta = np.empty((1, states.layout.lane_count), np.int64)
            whole = WholeArrays(rows.event, share, rows.words, kinds, delta)
            low_limb = states.layout.low_limb
            kernels.add_whole(whole, low_limb, events.arrays, states.arrays, states.output)
            return
        states.reserve_updates(rows.count)
        share = self._shares.of(rows, states.layout)
        codes = states.tally_codes(rows)
        joined = JoinedArrays(rows.event, rows.group, share, codes, rows.rank, rows.present)
        kernels.add_rows(joined, events.arrays, states.arrays, states.output)

    def change_layout(self, layout: LaneLayout) -> None:
        """Only the states have lanes."""

    def sweep(self) -> None:
        """Nothing is kept that could run empty."""

    @property
    def nbytes(self) -> int:
        """Bytes in addition to the states."""
        return 0
