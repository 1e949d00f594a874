"""The rate of a stream: rows a second of event time, of which older ones count less and less."""

from __future__ import annotations

import math

from windrow.governor.measured_rates import is_measured, measured_rate

__all__ = ["HALF_LIFE_US", "FadingRate"]

# Rows that are older by this much count half.
HALF_LIFE_US = 60_000_000

_SECOND_US = 1_000_000


class FadingRate:
    """Counts rows batch by batch; those of one batch count as spread evenly over its time.

    >>> rate = FadingRate()
    >>> for minute in range(10):
    ...     rate.add(minute * 60_000_000, minute * 60_000_000 + 59_999_999, 3000)
    >>> round(rate.rows_per_second)
    50
    """

    def __init__(self) -> None:
        self._rows = 0.0
        self._first_us: int | None = None
        self._last_us = 0

    def add(self, earliest_us: int, latest_us: int, rows: int) -> None:
        """So many rows came, of the times from the earliest to the latest."""
        if self._first_us is None:
            self._first_us = self._last_us = earliest_us
        ahead_us = max(0, latest_us - self._last_us)
        spread_us = max(0, latest_us - max(self._last_us, earliest_us))
        self._rows = self._rows * 0.5 ** (ahead_us / HALF_LIFE_US) + rows * _mean_weight(spread_us)
        self._last_us = max(self._last_us, latest_us)

    def rate_for(self, range_us: int) -> float:
        """Rows a second, as far as they tell something of a window of this range."""
        if self._first_us is None or is_measured(self._last_us - self._first_us, range_us):
            return self.rows_per_second
        return measured_rate(self._rows, 0, range_us)

    @property
    def rows_per_second(self) -> float:
        """0 while all rows are of one time."""
        if self._first_us is None or self._last_us == self._first_us:
            return 0.0
        # A few rows of the first milliseconds say little: they count as those of a whole second.
        span_us = max(self._last_us - self._first_us, _SECOND_US)
        covered = 1 - 0.5 ** (span_us / HALF_LIFE_US)
        weight_us = HALF_LIFE_US / math.log(2) * covered
        return float(self._rows * _SECOND_US / weight_us)


def _mean_weight(spread_us: int) -> float:
    """What a row counts, on average, at the end of a span over which rows came evenly."""
    half_lives = spread_us / HALF_LIFE_US
    return (1 - 0.5**half_lives) / (half_lives * math.log(2)) if spread_us else 1.0
