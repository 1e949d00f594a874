"""Incremental: joined rows are added when one of their rows enters, taken back when one leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windrow.operators.lanes import LaneLayout
from windrow.operators.pairs.block import JoinedRows, MergedEvents
from windrow.operators.pairs.sums import kernels
from windrow.operators.pairs.sums.shares import Shares
from windrow.operators.pairs.sums.states import GroupStates

__all__ = ["Incremental"]


class Incremental:
    """IC and GIC; nothing is kept beside the states."""

    def __init__(self, states: GroupStates, shares: Shares, inputs: int) -> None:
        assert states.roots.shape[1] == 0, "an extreme cannot be retracted"
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
            states.reserve_touches(events_at_most)
            share, kinds = self._shares.of_or_direct(rows, states.layout)
            delta = np.empty((1, states.layout.lane_count), np.int64)
            kernels.add_whole(
                rows.count, rows.event, share, events.at, events.sign, states.layout.masks, delta,
                rows.words, kinds, states.layout.low_limb, *states.arrays(),
            )  # fmt: skip
            return
        states.reserve_touches(rows.count)
        share = self._shares.of(rows, states.layout)
        codes = states.tally_codes(rows)
        kernels.add_rows(
            rows.count, rows.event, rows.group, share, codes, events.at, events.sign,
            states.layout.masks, states.tally_count, *states.arrays(),
        )  # fmt: skip

    def change_layout(self, layout: LaneLayout) -> None:
        """Only the states have lanes."""

    def sweep(self) -> None:
        """Nothing is kept that could run empty."""

    @property
    def nbytes(self) -> int:
        """Bytes beside the states."""
        return 0
