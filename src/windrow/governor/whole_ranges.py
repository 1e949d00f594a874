"""What the windows of a session need at their whole ranges, so that nothing has to be decided.

Deciding looks at every window of every query. While all of them together need far less than the
budget, a query that starts is only added to what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from windrow.governor.demands import demands_on
from windrow.governor.measured_window import MeasuredWindow, RateOf
from windrow.governor.tables import SECOND_US

__all__ = ["WholeRanges"]

# Arrays exist twice while they grow: less than half of the budget is sure to be enough.
SURE_PARTS = 2


class WholeRanges:
    """An upper bound of the bytes that all windows need, until rows come."""

    def __init__(self, budget: int) -> None:
        self.change_budget(budget)

    def change_budget(self, budget: int) -> None:
        """From now on it is another one."""
        self._limit = budget / SURE_PARTS * 15 / 16  # the rest is for rows that come in
        self._bytes: float | None = None

    def forget(self) -> None:
        """Rows have come, or clocks have moved: rates and sizes are others now."""
        self._bytes = None

    def have_room(
        self,
        own: Callable[[], Iterable[MeasuredWindow]],
        everything: Callable[[], Iterable[MeasuredWindow]],
        beside: Callable[[], int],
        rate_of: RateOf,
    ) -> bool:
        """Whether there is surely room for all windows, with the own ones of a new query.

        everything: all windows, with those of the new query; only looked at where nothing is known.
        """
        known = self._bytes
        if known is None or known + _needed(own(), rate_of) > self._limit:
            known = beside() + _needed(everything(), rate_of)
        else:
            known += _needed(own(), rate_of)
        self._bytes = known if known <= self._limit else None
        return self._bytes is not None


def _needed(windows: Iterable[MeasuredWindow], rate_of: RateOf) -> float:
    return sum(_of_window(window, rate_of) for window in windows)


def _of_window(window: MeasuredWindow, rate_of: RateOf) -> float:
    if not window.has_width:
        return window.bytes
    range_us = max(demand.range_us for demand in demands_on(window))
    rate = window.rate or rate_of(window.stream, range_us)
    return window.fixed_bytes + window.row_bytes * rate * range_us / SECOND_US
