"""The governor on the driver: after each batch it measures the windows, decides, and sends orders.

What it decides reaches the shards through the control stream of each query; until then the windows
are as they were.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.governor.demands import MeasuredTables, measured_tables
from windrow.governor.measured_window import MeasuredWindow
from windrow.governor.refusals import outgrown
from windrow.governor.window_governor import WindowGovernor
from windrow.spark.driver.governed_windows import GovernedQuery, windows_of

__all__ = ["Governing"]

# A part of the budget for the rows of a batch: they come before those that they push out go.
INCOMING_PARTS = 8
# While less than this part of the budget is in use, and nothing was narrowed, nothing is decided.
EASY_PARTS = 2
# Nearer to the budget than by this part of it, memory is short.
NEAR_PARTS = 32


class Governing:
    """Governs the windows of a session's running queries under `budget` bytes.

    beside: bytes that count, too, and cannot be governed: those of continuous questions.
    Batches of several queries end in several threads: one at a time is looked at.
    """

    def __init__(
        self,
        budget: int,
        running: Callable[[], Sequence[GovernedQuery]],
        beside: Callable[[], int] = int,
    ) -> None:
        self._budget, self._running, self._beside = budget, running, beside
        self._lock = threading.RLock()
        self._governor = WindowGovernor(self, budget, "WA412", is_thorough=False)

    def admit(self, query: GovernedQuery) -> None:
        """Refuse a query that certainly cannot be served together with those that run.

        Rates are those that running queries have measured; of other streams none is known.
        """
        with self._lock:
            measured = self.windows()
            foreseen = partial(_foreseen, measured, windows_of(query), self.fixed_bytes())
            self._governor.admit(query.name, foreseen, measured)

    def started(self, query: GovernedQuery) -> None:
        """A query was set to work."""
        with self._lock:
            self._governor.started(query.name)

    def ended(self, query: GovernedQuery) -> None:
        """A query was stopped."""
        with self._lock:
            self._governor.ended(query.name)

    def after_batch(self) -> None:
        """Windows were reported: decide again where that changes anything.

        A query whose windows hold too much, at any width that the queries allow, ends.
        """
        with self._lock:
            held = self.nbytes
            if self._is_easy(held):
                return
            # Windows that take turns come near the budget in their turns, as was decided.
            near = self._budget - (0 if self.case == "C" else self._budget // NEAR_PARTS)
            if held > near:
                self._make_room(held)
            else:
                self._governor.after_step()

    def _make_room(self, held: int) -> None:
        if self._has_pending_order():
            return  # what was decided has not reached the windows yet
        refused = self._governor.review("memory is short", is_short=True)
        if held > self._budget and not self._has_pending_order():
            raise outgrown(held, self._budget, refused, self._beside())

    def _has_pending_order(self) -> bool:
        return any(query.has_pending_order for query in self._running())

    def _is_easy(self, held: int) -> bool:
        """Whether memory is far from short, so that there is nothing to decide."""
        is_full = not any(query.status.limits.lifetimes for query in self._running())
        is_plain = self._governor.has_nothing_due and is_full
        return is_plain and held <= self._budget // EASY_PARTS

    # ---- what is so

    @property
    def nbytes(self) -> int:
        """Bytes of the windows of all running queries, in all their buckets, and of questions."""
        return self._beside() + sum(query.status.window_bytes for query in self._running())

    @property
    def case(self) -> str:
        """The case of the last decision: 'A', 'B' or 'C'."""
        return self._governor.case

    def decisions(self) -> pa.Table:
        """The latest decisions: when, why, and widths before and after."""
        with self._lock:
            return self._governor.decisions()

    # ---- the governor's port

    def windows(self) -> list[MeasuredWindow]:
        """All windows of running queries, by their last reports."""
        return [window for query in self._running() for window in windows_of(query)]

    def clock_us(self) -> int:
        """The latest instant through which a query has answered."""
        clocks = [query.status.clock_us for query in self._running()]
        return max((each for each in clocks if each is not None), default=START_OF_TIME)

    def fixed_bytes(self) -> float:
        """What continuous questions hold."""
        return float(self._beside())

    def available_bytes(self, windows: Sequence[MeasuredWindow]) -> float:
        """The budget less what a batch brings."""
        del windows
        return self._budget - self._budget / INCOMING_PARTS

    def reclaim(self) -> None:
        """Shards give memory back by themselves, when orders reach them."""


def _foreseen(
    measured: Sequence[MeasuredWindow],
    new: Sequence[MeasuredWindow],
    fixed_bytes: float,
    is_average: bool,
) -> MeasuredTables:
    """The tables with the windows of a query that does not run yet."""
    telling = [each for each in measured if each.has_width and not each.is_filtered]

    def rate_of(stream: str, range_us: int) -> float:
        of_stream = [each for each in telling if each.stream == stream]
        rates = [each.rate_for(range_us, is_average=is_average) for each in of_stream]
        return max(rates, default=0.0)

    running = measured_tables(measured, fixed_bytes, is_average=is_average)
    own = measured_tables(new, rate_of=rate_of, is_average=is_average)
    windows, demands = running.windows + own.windows, running.demands + own.demands
    return MeasuredTables(windows, demands, running.fixed_bytes)
