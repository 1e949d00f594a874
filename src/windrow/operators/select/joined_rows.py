"""Rows of a select as the pair operator's algorithm: stored until they expire, counted if equal.

Joined rows are found once, when the last of their rows enters; after that only the store is asked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from windrow.operators.expiry.binary_heap import BinaryHeap
from windrow.operators.expiry.calendar_queue import CalendarQueue
from windrow.operators.expiry.expiry_queue import EXPIRY_LIMIT, ExpiryQueue
from windrow.operators.expiry.ladder.ladder_queue import BranchLadderQueue, LadderQueue
from windrow.operators.expiry.wheel.timing_wheel import TimingWheel
from windrow.operators.lanes import LaneLayout, Vector
from windrow.operators.pairs.block import JoinedRows, MergedEvents
from windrow.operators.pairs.sums.states import GroupStates
from windrow.operators.select.kernels import earliest
from windrow.operators.select.live_rows import (
    CountedRows,
    DistinctRows,
    EarlyRows,
    LiveRows,
    NewRows,
    RowEvents,
)
from windrow.plan.model import QueryPlan
from windrow.plan.stores import queue_of
from windrow.rows.shape import QueryShape
from windrow.windows.growing import enlarged

__all__ = ["LiveResults"]


class LiveResults:
    """Counts of equal rows in `states`, one group for each row of the select list."""

    def __init__(
        self, plan: QueryPlan, shape: QueryShape, states: GroupStates, grid_us: int
    ) -> None:
        inputs = len(plan.joined)
        self._states = states
        self.probes_leave: NDArray[np.bool_] = np.zeros(inputs, np.bool_)
        self.pauses_leave: NDArray[np.bool_] = np.zeros(inputs, np.bool_)
        self._leave = np.zeros((0, inputs), np.int64)
        self._until = -EXPIRY_LIMIT
        self._is_distinct = shape.is_distinct
        self._rows = _store(plan, shape, grid_us)

    def reserve_slots(self, slots: int) -> None:
        """Have room for slots below this."""
        self._leave = enlarged(self._leave, slots)
        self._rows.reserve(slots, 1)

    def expect(self, input_index: int, slots: Vector, leave: Vector) -> None:
        """When rows leave by time."""
        self._leave[slots, input_index] = np.minimum(leave, EXPIRY_LIMIT)

    def open(self, until: int) -> None:
        """Events up to and including this instant follow."""
        self._until = until

    def begin(self) -> None:
        """New events."""
        self._rows.begin()

    def apply(self, events: MergedEvents, rows: JoinedRows, next_event: int) -> None:
        """Run the block, and the events up to next_event."""
        code = rows.group if rows.group.size else np.zeros(rows.count, np.int32)
        expiry = np.empty(rows.count, np.int64)
        earliest(self._leave, rows.slot, expiry)
        self._rows.reserve(0, self._states.count.size)
        self._rows.add(
            RowEvents(*events.arrays),
            NewRows(rows.event, rows.slot, code, expiry),
            next_event,
        )
        through = int(events.at[min(next_event, events.count - 1)])
        self._put_out(min(through, self._until))

    def close(self) -> None:
        """All events have come."""
        self._put_out(self._until)

    def change_layout(self, layout: LaneLayout) -> None:
        """Nothing is summed."""

    def sweep(self) -> None:
        """Rows free their places themselves."""

    @property
    def nbytes(self) -> int:
        """Bytes in addition to the states."""
        return self._leave.nbytes + self._rows.nbytes

    def _put_out(self, until: int) -> None:
        self._states.add_counts(*self._rows.drain(until), is_distinct=self._is_distinct)


def _store(plan: QueryPlan, shape: QueryShape, grid_us: int) -> LiveRows:
    queue = _queue(plan)
    ends_early = np.array([entry.window.traits.counts_rows for entry in plan.joined])
    ends_early[[negation.of for negation in plan.negations]] = True
    if ends_early.any():
        return EarlyRows(queue, grid_us, ends_early)
    return DistinctRows(queue, grid_us) if shape.is_distinct else CountedRows(queue, grid_us)


def _queue(plan: QueryPlan) -> ExpiryQueue:
    # A ladder's first rung has buckets as wide as the finest slide, at which expiries can differ.
    step = min(max(entry.window.slide_us, 1) for entry in plan.joined)
    queues: dict[str, Callable[[], ExpiryQueue]] = {
        "wheel": TimingWheel,
        "branch-ladder": lambda: BranchLadderQueue(step=step),
        "ladder": lambda: LadderQueue(step=step),
        "calendar": CalendarQueue,
        "heap": BinaryHeap,
    }
    return queues[queue_of(plan)]()
