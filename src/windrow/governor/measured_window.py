"""A window as it really is, in whichever runner: what it takes, at which rate, and who reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from windrow.event_time import START_OF_TIME
from windrow.governor.governed_input import GovernedInput
from windrow.governor.measured_rates import is_measured, measured_rate
from windrow.governor.tables import SECOND_US, WindowState
from windrow.windows.row_store import spare_share

__all__ = ["RECENT_PARTS", "MeasuredWindow", "RateOf"]

# The recent rate is that of the last part of the time that a window covers.
RECENT_PARTS = 8

# Rows a second of a stream, as far as they tell something of a window of a range.
RateOf = Callable[[str, int], float]


@dataclass(frozen=True)
class MeasuredWindow:
    """slot_bytes: one row in all columns. fixed_bytes: what no width changes.

    inputs: all that read it, of one query or of several. average_rate: over all the time that it
    covers. rate: that, or the one of late if it is higher; both as memory is foreseen by them.
    span_us: the time of which it has the rows.
    """

    name: str
    inputs: tuple[GovernedInput, ...]
    rows: int
    bytes: int
    slot_bytes: float
    fixed_bytes: float
    rate: float
    average_rate: float
    span_us: int

    @property
    def stream(self) -> str:
        """Whose rows it holds."""
        return self.inputs[0].stream

    @property
    def has_width(self) -> bool:
        """Whether it can be made narrower or wider."""
        return all(each.has_width for each in self.inputs)

    @property
    def is_filtered(self) -> bool:
        """Whether it holds only some of the stream's rows."""
        return self.inputs[0].is_filtered

    @property
    def row_bytes(self) -> float:
        """Bytes of a row with its part of the spare room."""
        foreseen = self.rate * self.width_us / SECOND_US
        return self.slot_bytes * (1 + spare_share(max(self.rows, foreseen)))

    def copied_bytes(self, held: float) -> float:
        """What exists twice while it grows to so many bytes: 0 where that is not counted."""
        del held
        return 0.0

    @property
    def width_us(self) -> int:
        """The width of the widest of its inputs."""
        return max(each.width_us for each in self.inputs)

    @property
    def range_us(self) -> int:
        """The longest range that is asked of it."""
        return max(each.range_us for each in self.inputs)

    @property
    def shown_rate(self) -> float:
        """Rows a second of the time of which it has them."""
        return self.rows * SECOND_US / max(self.span_us, SECOND_US) if self.span_us else 0.0

    def state(self, *, is_average: bool = False) -> WindowState:
        """The row of the governor's table."""
        rate = self.average_rate if is_average else self.rate
        clock_us = min(each.narrows_from_us for each in self.inputs)
        known_us = clock_us if clock_us > START_OF_TIME else None
        return WindowState(self.name, self.row_bytes, rate, self.width_us, known_us)

    def rate_for(self, range_us: int, *, is_average: bool) -> float:
        """Rows a second, as far as they tell something of another window of this range."""
        if not is_measured(self.span_us, range_us):
            return measured_rate(self.rows, 0, range_us)
        return self.average_rate if is_average else self.rate

    def growth_with(self, query: str, rate_of: RateOf) -> float:
        """Bytes that come to what it holds until it is full, by average rates, for a new query too.

        It stays as wide as it is, unless the query asks for more.
        """
        asked = [each.range_us for each in self.inputs if each.query_name == query]
        others = [each.width_us for each in self.inputs if each.query_name != query]
        rate = self.average_rate
        if not rate and not self.is_filtered:
            rate = rate_of(self.stream, max(asked + others))
        more_us = max(asked + others) - self.span_us
        return max(0.0, self.row_bytes * rate * more_us / SECOND_US)
