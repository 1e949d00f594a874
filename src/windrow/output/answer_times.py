"""When answers are due on a grid: at the ticks of EVERY, or at the ends of a window's turns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from windrow.output.due_instants import INSTANTS_LIMIT

__all__ = ["TICKS_LIMIT", "AnswerTimes"]

# A step of the clock over more ticks than this answers at the newest ones and counts the others.
TICKS_LIMIT = INSTANTS_LIMIT


@dataclass(frozen=True)
class AnswerTimes:
    """turns: the first end of a turn, and how far apart ends are; None: answers are due at ticks.

    last_turn: the end of a turn after which there are no more. The window may be wide enough only
    then, so that an answer is due there, and ticks count from there on: nobody waits longer for an
    answer than ticks are apart.
    """

    turns: tuple[int, int] | None = None
    last_turn: int | None = None

    def with_turns(self, turns: tuple[int, int] | None, clock: int) -> AnswerTimes:
        """From a clock on with other turns, or with none.

        >>> AnswerTimes((103, 20)).with_turns(None, clock=150).last_turn
        163
        """
        if turns == self.turns:
            return self
        if turns is not None or self.turns is None:
            return AnswerTimes(turns)
        end, period = self.turns
        return AnswerTimes(None, end - (end - clock - 1) // period * period)

    def ticks(
        self, after: int, until: int, grid: tuple[int, int]
    ) -> tuple[AnswerTimes, NDArray[np.int64], int]:
        """The instants from one to another, and how many are lost as there are too many.

        grid: how far apart ticks are, and one of them.

        >>> AnswerTimes(None, 163).ticks(151, 210, (20, 0))[1].tolist()
        [163, 180, 200]
        """
        every, origin = grid
        if self.turns is not None:
            origin, every = self.turns
            after = max(after, origin)
        first = origin - (origin - after) // every * every
        lost = max(0, (until - first) // every + 1 - TICKS_LIMIT)
        ticks = np.arange(first + lost * every, until + 1, every, dtype=np.int64)
        if self.last_turn is None:
            return self, ticks, lost
        ticks = ticks[ticks > self.last_turn]
        if self.last_turn > until:
            return self, ticks, lost
        last = np.array([self.last_turn], np.int64)
        return replace(self, last_turn=None), np.concatenate([last, ticks]), lost
