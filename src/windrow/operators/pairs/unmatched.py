"""Stages between the merged events and the join: rows of an input that something matches drop out.

A stage turns events into events, in which the rows that count now enter and leave when their
last match goes and their first one comes. Stages follow each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from windrow.operators.pairs import negation_kernels
from windrow.operators.pairs.block import MergedEvents
from windrow.operators.pairs.index import JoinIndex
from windrow.operators.pairs.probing import BLOCK, Prober
from windrow.windows.codes import Codes
from windrow.windows.growing import enlarged

__all__ = ["Matches", "UnmatchedByCondition", "UnmatchedByKey", "UnmatchedRows"]

# Which of the pairs (event, slots of both rows) match; may use up its arguments.
Matches = Callable[
    [NDArray[np.int32], NDArray[np.int32]], tuple[NDArray[np.int32], NDArray[np.int32]]
]
SMALLEST = 4096


class UnmatchedRows(Protocol):
    """What both kinds of stage have; `of` and `negated` are numbers of inputs."""

    of: int
    negated: int
    index: JoinIndex

    def reserve_slots(self, slots: int) -> None:
        """Have room for slots below this."""

    def passed(self, events: MergedEvents) -> Iterator[MergedEvents]:
        """The events of rows that count; each part must be used before the next is requested."""

    @property
    def nbytes(self) -> int:
        """Bytes held."""


def place(stage: UnmatchedRows, input_index: int, slots: NDArray[np.int64], codes: Codes) -> None:
    """The codes of rows that are to enter; input 0 holds those that count, 1 the negated ones."""
    stage.index.place(input_index, 0, slots, codes)


class UnmatchedByKey:
    """Rows match whose keys are equal."""

    def __init__(self, of: int, negated: int) -> None:
        self.of, self.negated = of, negated
        self.index = JoinIndex(2, [{0: (), 1: ()}])
        self._out = MergedEvents(SMALLEST)
        self._progress = np.zeros(negation_kernels.PROGRESS_ENTRIES, np.int64)

    def reserve_slots(self, slots: int) -> None:
        """Rows have nothing but their place in the index."""

    def passed(self, events: MergedEvents) -> Iterator[MergedEvents]:
        """The events of rows that count."""
        progress, index = self._progress, self.index
        progress[:] = 0
        is_done = False
        while not is_done:
            negation_kernels.pass_by_key(
                events.count, self.of, self.negated, events.arrays, index.arrays,
                self._out.arrays, progress,
            )  # fmt: skip
            if progress[negation_kernels.STATUS] == negation_kernels.NEEDS_ARENA:
                index.grow_arena()
                continue
            is_done = progress[negation_kernels.STATUS] == negation_kernels.DONE
            self._out.count = int(progress[negation_kernels.USED])
            progress[negation_kernels.USED] = 0
            if self._out.count:
                yield self._out
            if not is_done and progress[negation_kernels.ROOM] > self._out.at.size:
                self._out = MergedEvents(2 * int(progress[negation_kernels.ROOM]))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.index.nbytes + self._out.nbytes


class UnmatchedByCondition:
    """Rows match if their keys are equal and further conditions hold: each match is counted."""

    def __init__(self, of: int, negated: int, matches: Matches, block: int = BLOCK) -> None:
        self.of, self.negated = of, negated
        self.index = JoinIndex(2, [{0: (), 1: ()}])
        self.index.choose_orders([1, 1], [1])
        self._matches = matches
        self._prober = Prober(self.index, 2, block)
        self._probes_leave = np.array([False, True])
        self._pauses: NDArray[np.bool_] = np.zeros(2, np.bool_)
        self._counts = np.zeros(SMALLEST, np.int32)
        self._out = MergedEvents(SMALLEST)
        self._progress = np.zeros(negation_kernels.PROGRESS_ENTRIES, np.int64)

    def reserve_slots(self, slots: int) -> None:
        """Have room for slots below this."""
        self._counts = enlarged(self._counts, slots)

    def passed(self, events: MergedEvents) -> Iterator[MergedEvents]:
        """The events of rows that count."""
        own, numbers = self._own(events)
        self._progress[:] = 0
        self._prober.begin()
        is_done = False
        while not is_done:
            is_done = self._prober.fill(own, self._probes_leave, self._pauses)
            event, slot = self._matches(self._prober.event, self._prober.slot)
            next_event = events.count if is_done else int(numbers[self._prober.next_event])
            ahead = next_event - int(self._progress[negation_kernels.EVENT]) + 1
            if ahead + event.size > self._out.at.size:
                self._out = MergedEvents(2 * (ahead + event.size))
            self._progress[negation_kernels.USED] = 0
            negation_kernels.pass_by_matches(
                next_event, self.of, self.negated, events.arrays, numbers[event], slot,
                self._counts, self._out.arrays, self._progress,
            )  # fmt: skip
            self._out.count = int(self._progress[negation_kernels.USED])
            if self._out.count:
                yield self._out

    def _own(self, events: MergedEvents) -> tuple[MergedEvents, NDArray[np.int64]]:
        """The events of the two inputs, as inputs 0 and 1, and which events they are."""
        inputs = events.input[: events.count]
        numbers = np.flatnonzero((inputs == self.of) | (inputs == self.negated))
        own = MergedEvents(numbers.size)
        own.count = numbers.size
        own.at[:] = events.at[numbers]
        own.input[:] = inputs[numbers] == self.negated
        own.slot[:] = events.slot[numbers]
        own.sign[:] = events.sign[numbers]
        return own, numbers

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.index.nbytes + self._prober.nbytes + self._counts.nbytes + self._out.nbytes
