"""The rate of a stream: rows a second of event time, of which older ones count less and less."""

from __future__ import annotations

import math

__all__ = ["HALF_LIFE_US", "FadingRate"]

# Rows that are older by this much count half.
HALF_LIFE_US = 60_000_000

_SECOND_US = 1_000_000


class FadingRate:
    """Counts rows by the latest time of each batch.

    >>> rate = FadingRate()
    >>> for second in range(600):
    ...     rate.add(second * 1_000_000, 50)
    >>> round(rate.rows_per_second)
    50
    """

    def __init__(self) -> None:
        self._rows = 0.0
        self._first_us: int | None = None
        self._last_us = 0

    def add(self, latest_us: int, rows: int) -> None:
        """So many rows came, the latest of this time."""
        if self._first_us is None:
            self._first_us = self._last_us = latest_us
        ahead_us = max(0, latest_us - self._last_us)
        self._rows = self._rows * 0.5 ** (ahead_us / HALF_LIFE_US) + rows
        self._last_us = max(self._last_us, latest_us)

    @property
    def rows_per_second(self) -> float:
        """0 while all rows are of one time."""
        if self._first_us is None or self._last_us == self._first_us:
            return 0.0
        covered = 1 - 0.5 ** ((self._last_us - self._first_us) / HALF_LIFE_US)
        weight_us = HALF_LIFE_US / math.log(2) * covered
        return float(self._rows * _SECOND_US / weight_us)
