"""Which rows are too far ahead to be believed: one wrong clock must not make all others late.

A row further ahead than `most_ahead_us` of the clock on the wall has no time that can be believed.
Where `most_ahead_of_rows_us` is given, neither has a row that far ahead of all rows before it: it
is a suspect. Suspects wait; CONFIRMING in a row that agree with each other show that time has moved
on (a night without rows, a gap in a recording), and all of them count. A row that is no suspect
shows that those which wait were wrong. So it does not matter how rows are cut into batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME, START_OF_TIME

__all__ = ["CONFIRMING", "PlausibleTimes", "Verdict"]

# So many suspects in a row, each near the one before, are believed.
CONFIRMING = 3

Instants = NDArray[np.int64]
ACCEPTED, WAITING, ASIDE = 0, 1, 2


@dataclass(frozen=True)
class Verdict:
    """What becomes of rows, by their places: those that waited come first, then those given."""

    accepted: NDArray[np.int64]
    waiting: NDArray[np.int64]
    aside: NDArray[np.int64]


@dataclass
class PlausibleTimes:
    """The judge of one stream.

    >>> judge = PlausibleTimes(most_ahead_us=100, most_ahead_of_rows_us=10)
    >>> judge.judge(np.array([5, 90, 7, 200]), newest_us=0, now_us=50).aside.tolist()
    [1, 3]
    """

    most_ahead_us: int | None
    most_ahead_of_rows_us: int | None = None
    waiting_us: list[int] = field(default_factory=list)

    def judge(self, times_us: Instants, newest_us: int, now_us: int) -> Verdict | None:
        """The verdict on rows in order of arrival; None: all are accepted, and none waited.

        newest_us: of the stream so far. now_us: the clock on the wall.
        """
        if not self.waiting_us and self._are_plain(times_us, newest_us, now_us):
            return None
        times = np.concatenate([np.array(self.waiting_us, np.int64), times_us])
        fates = self._fates(times.tolist(), newest_us, now_us)
        by_fate = [np.flatnonzero(fates == fate) for fate in (ACCEPTED, WAITING, ASIDE)]
        self.waiting_us = times[by_fate[WAITING]].tolist()
        return Verdict(*by_fate)

    def believed_until(self, newest_us: int, now_us: int) -> int:
        """Rows up to this time are accepted as long as none waits, now and later.

        newest_us: of the stream so far. now_us: the clock on the wall; both only grow.
        """
        if self.waiting_us:
            return START_OF_TIME
        bounds = [END_OF_TIME]
        if self.most_ahead_us is not None:
            bounds.append(now_us + self.most_ahead_us)
        if self.most_ahead_of_rows_us is not None:
            bounds.append(newest_us + self.most_ahead_of_rows_us)
        return min(bounds)

    def believed(self, times_us: Instants, newest_us: int, now_us: int) -> Instants:
        """The times that judge() would accept, which is yet to be asked."""
        waiting_us = list(self.waiting_us)
        verdict = self.judge(times_us, newest_us, now_us)
        self.waiting_us = waiting_us
        if verdict is None:
            return times_us
        return np.concatenate([np.array(waiting_us, np.int64), times_us])[verdict.accepted]

    def _are_plain(self, times: Instants, newest_us: int, now_us: int) -> bool:
        """Whether all rows are accepted without any doubt."""
        if times.size == 0:
            return True
        if self.most_ahead_us is not None and int(times.max()) > now_us + self.most_ahead_us:
            return False
        ahead_us = self.most_ahead_of_rows_us
        oldest_us = int(times.min()) if newest_us == START_OF_TIME else newest_us
        # Most rows are near those before; only where not, each is compared.
        if ahead_us is None or int(times.max()) <= oldest_us + ahead_us:
            return True
        before = np.maximum.accumulate(np.concatenate([[max(newest_us, -(2**62))], times[:-1]]))
        if newest_us == START_OF_TIME:
            before[0] = times[0]
        return bool((times - before <= ahead_us).all())

    def _fates(self, times: list[int], newest_us: int, now_us: int) -> NDArray[np.int8]:
        fates = np.zeros(len(times), np.int8)
        suspects: list[int] = []
        for place, time_us in enumerate(times):
            if self._is_beyond_clock(time_us, now_us):
                fates[place] = ASIDE
            elif not self._is_suspect(time_us, newest_us, now_us):
                fates[suspects], suspects = ASIDE, []
                newest_us = max(newest_us, time_us)
            else:
                if suspects and not self._agree(times[suspects[-1]], time_us):
                    fates[suspects], suspects = ASIDE, []
                suspects.append(place)
                if len(suspects) == CONFIRMING:
                    newest_us = max(newest_us, *(times[each] for each in suspects))
                    suspects = []
        fates[suspects] = WAITING
        return fates

    def _is_beyond_clock(self, time_us: int, now_us: int) -> bool:
        return self.most_ahead_us is not None and time_us > now_us + self.most_ahead_us

    def _is_suspect(self, time_us: int, newest_us: int, now_us: int) -> bool:
        ahead_us = self.most_ahead_of_rows_us
        if ahead_us is None or newest_us == START_OF_TIME or time_us <= newest_us + ahead_us:
            return False
        # A row of about now is believed at once: the rows before it may just be old.
        return abs(time_us - now_us) > ahead_us

    def _agree(self, one_us: int, other_us: int) -> bool:
        return self.most_ahead_of_rows_us is None or (
            abs(one_us - other_us) <= self.most_ahead_of_rows_us
        )
