"""When a row enters a timed window and when it leaves it.

    A [T]                 enters at its time, leaves one microsecond after time + T
    A [RANGE T SLIDE S]   enters at the next multiple of S, leaves T later
    A [UNBOUNDED]         enters at its time, never leaves
    A [HOP T BY S]        enters at the first end of a window that is later than its time, leaves at
                          the first end that is later than time + T
    A [CUMULATE T BY S]   enters at the first end of a step that is later than its time, leaves one
                          step after the period of T in which it is

The first holds t-T <= time <= t: both ends belong to it.

The first three come down to two numbers: enter = time rounded up to `slide_us`, leave = enter +
`hold_us`. Of the last two, the start belongs to a window and the end does not (`opens_us` is 1),
and ends may be moved by a phase; where `leave_slide_us` is set, rows leave on a grid of its own:

    enter = time + opens, rounded up to the next phase + k * slide
    leave = time + opens + hold, rounded up to the next leave phase + k * leave slide

A window that is narrowed while it runs immediately evicts what it no longer covers, at
`floor_us` and not before. One that takes turns is narrow most of the time; from turn_start_us +
k * turn_period_us on it lets nothing go for turn_growth_us, so that it reaches that much further
back at the end of the turn, and then becomes narrow again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME, START_OF_TIME

__all__ = ["Lifetime", "lifetimes_from_json", "lifetimes_to_json"]

Instants = NDArray[np.int64]

# Added to any plausible time it is beyond the end of time, and added to that it does not overflow.
FOREVER_US = END_OF_TIME + END_OF_TIME // 2


@dataclass(frozen=True)
class Lifetime:
    """A timed window as numbers: two, and more for one that was made narrower or takes turns."""

    slide_us: int
    hold_us: int
    floor_us: int = START_OF_TIME
    turn_start_us: int = 0
    turn_period_us: int = 1
    turn_growth_us: int = 0
    opens_us: int = 0
    phase_us: int = 0
    leave_slide_us: int = 0
    leave_phase_us: int = 0

    @classmethod
    def timed(
        cls,
        slide_us: int,
        hold_us: int,
        opens_us: int = 0,
        phase_us: int = 0,
        leave_slide_us: int = 0,
        leave_phase_us: int = 0,
    ) -> Lifetime:
        """As a kind of window says; what is not said is that of a window with both ends."""
        return cls(
            slide_us,
            hold_us,
            opens_us=opens_us,
            phase_us=phase_us,
            leave_slide_us=leave_slide_us,
            leave_phase_us=leave_phase_us,
        )

    @classmethod
    def closed(cls, length_us: int) -> Lifetime:
        """A [T]: both ends belong to the window."""
        return cls(1, length_us + 1)

    @classmethod
    def sliding(cls, length_us: int, slide_us: int) -> Lifetime:
        """A [RANGE T SLIDE S]."""
        return cls(slide_us, length_us)

    @classmethod
    def unbounded(cls) -> Lifetime:
        """A [UNBOUNDED], and windows whose rows leave for other reasons than time."""
        return cls(1, FOREVER_US)

    def enter(self, times_us: Instants) -> Instants:
        """The instants at which rows of these times enter.

        >>> Lifetime.sliding(60, 5).enter(np.array([0, 1, 5, 6])).tolist()
        [0, 5, 5, 10]
        >>> Lifetime.timed(5, 10, opens_us=1, phase_us=2).enter(np.array([1, 2, 6, 7])).tolist()
        [2, 7, 7, 12]
        """
        if self.slide_us == 1 and not self.is_stepped:
            return times_us
        if not self.is_stepped:
            return -(-times_us // self.slide_us) * self.slide_us
        return _next(times_us + self.opens_us, self.slide_us, self.phase_us)

    def leave(self, times_us: Instants) -> Instants:
        """The first instants at which rows of these times are no longer held.

        >>> Lifetime.closed(60).leave(np.array([0])).tolist()
        [61]
        >>> Lifetime.closed(60).turning(100, 50, 10).leave(np.array([39, 40, 45, 50, 51])).tolist()
        [100, 111, 111, 111, 112]
        """
        if self.leave_slide_us:
            shifted = times_us + (self.opens_us + self.hold_us)
            leave = _next(shifted, self.leave_slide_us, self.leave_phase_us)
            return np.maximum(leave, self.floor_us)
        leave = self.enter(times_us) + self.hold_us
        if self.turn_growth_us:
            since = leave - 1 - self.turn_start_us
            phase = since % self.turn_period_us
            in_turn = (since >= 0) & (phase <= self.turn_growth_us)
            leave = np.where(in_turn, leave + self.turn_growth_us - phase, leave)
        return np.maximum(leave, self.floor_us)

    def edge(self, instants_us: Instants) -> Instants:
        """The entry instants at or after which rows are held at these instants, but for the floor.

        >>> Lifetime.closed(60).turning(100, 50, 10).edge(np.array([99, 100, 110, 111])).tolist()
        [39, 40, 40, 51]
        """
        edge = instants_us - self.hold_us + 1
        if self.turn_growth_us:
            since = instants_us - self.turn_start_us
            phase = since % self.turn_period_us
            if self.turn_growth_us == self.turn_period_us:
                # The last instant of a turn is the first of the next: there the window is wide.
                phase = np.where((phase == 0) & (since > 0), self.turn_period_us, phase)
            in_turn = (since >= 0) & (phase <= self.turn_growth_us)
            edge = np.where(in_turn, edge - phase, edge)
        return edge

    def narrowed(self, length_us: int, floor_us: int) -> Lifetime:
        """A window of the same kind and another length, from an instant on."""
        if self.leave_slide_us:
            return replace(self, floor_us=floor_us)  # such a window is as wide as it is
        hold = length_us + 1 if self.enters_at_time else length_us
        if not self.is_stepped:
            return Lifetime(self.slide_us, hold, floor_us)
        return replace(self, hold_us=hold, floor_us=floor_us)

    def turning(self, start_us: int, period_us: int, growth_us: int) -> Lifetime:
        """The same window, which takes turns."""
        return replace(
            self, turn_start_us=start_us, turn_period_us=period_us, turn_growth_us=growth_us
        )

    @property
    def turn_ends(self) -> tuple[int, int] | None:
        """When the first turn ends, and how far apart ends are; None without turns."""
        if not self.turn_growth_us:
            return None
        return self.turn_start_us + self.turn_growth_us, self.turn_period_us

    def numbers(self) -> Instants:
        """All of them, as kernels take them."""
        return np.array(
            [
                self.slide_us,
                self.hold_us,
                self.floor_us,
                self.turn_start_us,
                self.turn_period_us,
                self.turn_growth_us,
                self.opens_us,
                self.phase_us,
                self.leave_slide_us,
                self.leave_phase_us,
            ],
            np.int64,
        )

    @property
    def is_stepped(self) -> bool:
        """Whether rows enter at ends of windows that start and end as TUMBLE and HOP do."""
        return bool(self.opens_us or self.phase_us or self.leave_slide_us)

    @property
    def enters_at_time(self) -> bool:
        """Whether rows enter at their own time."""
        return self.slide_us == 1 and not self.is_stepped

    @property
    def reach_us(self) -> int:
        """A row is no longer held so long after its time, at the latest."""
        return max(self.hold_us, self.leave_slide_us) + self.slide_us + self.opens_us

    @property
    def is_endless(self) -> bool:
        """Whether rows never leave by time."""
        return self.hold_us >= FOREVER_US


def _next(instants_us: Instants, slide_us: int, phase_us: int) -> Instants:
    """The first instants of a grid that are not before these."""
    return -((phase_us - instants_us) // slide_us) * slide_us + phase_us


def lifetimes_to_json(lifetimes: Mapping[int, Lifetime]) -> list[list[int]]:
    """Lifetimes by the number of their window, as plain numbers.

    >>> lifetimes_from_json(lifetimes_to_json({1: Lifetime.closed(5)}))[1].hold_us
    6
    """
    return [
        [input_index, *lifetime.numbers().tolist()] for input_index, lifetime in lifetimes.items()
    ]


def lifetimes_from_json(listed: Sequence[Sequence[int]]) -> dict[int, Lifetime]:
    """Back from lifetimes_to_json()."""
    return {input_index: Lifetime(*numbers) for input_index, *numbers in listed}
