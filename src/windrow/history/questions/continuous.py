"""A question that is asked again and again while rows come into a history.

It says at which instants it must see the history as it is then, looks at it there, and keeps what
it has found in a feed. Who brings rows and time, in this process or on Spark, is not its concern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from windrow.history.operator import HistoryOperator
from windrow.history.questions.feed import HistoryFeed
from windrow.history.questions.growth import HistoryGrowth
from windrow.output.due_instants import INSTANTS_LIMIT
from windrow.plan.history_plan import HistoryPlan

__all__ = ["ContinuousQuestion", "move_on"]

Instants = NDArray[np.int64]


class ContinuousQuestion:
    """FROM HISTORY(s) [FROM ... TO NOW]: its clock, what it has come to, and what is due."""

    def __init__(self, plan: HistoryPlan, operator: HistoryOperator, feed: HistoryFeed) -> None:
        self.plan, self.feed = plan, feed
        self._operator = operator
        self.growth = HistoryGrowth(operator, plan)
        self.clock = operator.history.now_us
        # Before anything has come there is an answer, but no instant at which it began.
        self.has_begun = operator.rows > 0
        self._rows_shown = operator.rows
        feed.show(self.clock, self.growth.rows(), changed=self.has_begun)

    @property
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""
        return (self, self.growth, *self.feed.parts)

    @property
    def operator(self) -> HistoryOperator:
        """The history that it looks at."""
        return self._operator

    @property
    def is_behind(self) -> bool:
        """Whether rows have arrived since the answer was computed."""
        return self._rows_shown != self._operator.rows

    @property
    def rows_shown(self) -> int:
        """How many rows the history had when the answer was computed."""
        return self._rows_shown

    def resume(self, clock: int, rows_shown: int, *, has_begun: bool) -> None:
        """Goes on where another stood; its growth and its feed do so by themselves."""
        self.clock, self._rows_shown, self.has_begun = clock, rows_shown, has_begun

    def stops(self, entered: Instants, clock: int) -> Instants:
        """The instants up to the clock at which it must see the history as it is then."""
        every = self.plan.every_us
        if every is None:
            return entered
        # Between two ticks nothing is answered; at a tick without new rows nothing has changed.
        ticks = -(-entered // every) * every
        if self.is_behind:
            ticks = np.append(ticks, (self.clock // every + 1) * every)
        return np.unique(ticks[ticks <= clock])

    def fold(self, instant_us: int) -> None:
        """Rows up to the instant are there, and nothing has become coarser by it yet."""
        self.growth.fold(instant_us)

    def look(self, instant_us: int) -> None:
        """The history is complete through one of its stops."""
        self.advance(instant_us - 1)
        self.show(instant_us)
        if self.plan.every_us is None:
            self.feed.answer(np.array([instant_us], np.int64))
            self.clock = instant_us
        else:
            self.advance(instant_us)

    def advance(self, clock: int) -> None:
        """All stops up to the clock have been processed: at other ticks nothing has changed."""
        if clock <= self.clock:
            return
        every = self.plan.every_us
        if every is not None and self.has_begun:
            first = (self.clock // every + 1) * every
            excess = (clock - first) // every + 1 - INSTANTS_LIMIT
            first += max(0, excess) * every
            self.feed.answer(np.arange(first, clock + 1, every, dtype=np.int64))
        self.clock = clock

    def show(self, instant_us: int) -> None:
        """The answer at the time of the history."""
        self.feed.show(instant_us, self.growth.rows())
        self._rows_shown = self._operator.rows
        self.has_begun = True


def move_on(
    operator: HistoryOperator,
    questions: Sequence[ContinuousQuestion],
    clock: int,
    look: Callable[[ContinuousQuestion, int], None] = ContinuousQuestion.look,
) -> None:
    """Brings a history to the clock, and stops wherever a question looks; look: as it does."""
    due = operator.drain_due(clock)
    looking: dict[int, list[ContinuousQuestion]] = {}
    for question in questions:
        for instant in question.stops(due.instants, clock).tolist():
            looking.setdefault(instant, []).append(question)
    first = 0
    for instant in sorted({*looking, clock}):
        end = int(np.searchsorted(due.times, instant, side="right"))
        operator.insert(due, first, end)
        first = end
        for question in questions:
            question.fold(instant)
        operator.history.advance(instant)
        for question in looking.get(instant, ()):
            look(question, instant)
    for question in questions:
        question.advance(clock)
