"""The two tables that the governor decides by, and what it decides.

All times are microseconds of event time. Width is how far back a window reaches; memory of a window
is width * rate * bytes a row, and a budget bounds the sum over all windows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = [
    "SECOND_US",
    "Decision",
    "Demand",
    "Turn",
    "WidthGiven",
    "WindowState",
    "decision_from_json",
]

SECOND_US = 1_000_000


@dataclass(frozen=True)
class Demand:
    """What one query asks of one window: a row of the table of queries.

    range_us: Qt, how far back it looks. tolerance_us: Qe, how much narrower the window may be for
    the answer to stay within the tolerated error. delay_us: Qd, how far apart the instants may be
    at which that holds; 0: it must hold at all times. begin_us, end_us: its life; None: open.
    can_have_error: whether its author could give it an ERROR, or more of it.
    """

    query: str
    window: str
    range_us: int
    tolerance_us: int = 0
    delay_us: int = 0
    begin_us: int | None = None
    end_us: int | None = None
    can_have_error: bool = True

    @property
    def least_us(self) -> int:
        """Qt - Qe: the narrowest width that answers within the error."""
        return self.range_us - self.tolerance_us


@dataclass(frozen=True)
class WindowState:
    """One window as it is: bytes of a row as really stored, measured rows a second, width now.

    clock_us: the instant through which it has answered, if that is not the one of the decision.
    """

    window: str
    row_bytes: float
    rate: float
    width_us: int = 0
    clock_us: int | None = None

    @property
    def bytes_per_us(self) -> float:
        """Memory that one microsecond of width takes."""
        return self.row_bytes * self.rate / SECOND_US


@dataclass(frozen=True)
class Turn:
    """When a window of a serial adjusting group grows: for growth_us, once in every period_us.

    It grows from start_us + k * period_us on and is at full width growth_us later, for all k >= 0;
    then it shrinks at once. Windows of one group have the same period, and no two of their turns
    overlap.
    """

    group: int
    period_us: int
    start_us: int
    growth_us: int


@dataclass(frozen=True)
class WidthGiven:
    """A window's width: constant, or the narrow one between turns, which then add growth_us."""

    window: str
    width_us: int
    turn: Turn | None = None

    @property
    def widest_us(self) -> int:
        """The width at the end of a turn."""
        return self.width_us + (0 if self.turn is None else self.turn.growth_us)

    def level(self, demand: Demand) -> str:
        """How this width serves a demand: 'A', 'B' or 'C'; 'none' when it does not."""
        if self.width_us >= demand.range_us:
            return "A"
        if self.width_us >= demand.least_us:
            return "B"
        if self.turn is None or self.widest_us < demand.least_us:
            return "none"
        return "C" if self.turn.period_us <= demand.delay_us else "none"


@dataclass(frozen=True)
class Decision:
    """Widths for all windows.

    case: 'A', 'B' or 'C'. bytes: the most memory that these widths take at any moment. least_bytes:
    the least that would do at any level, by the best solution known; bound_bytes: proven to be
    needed, so that the gap between the two bounds how far the solution is from the best. solver:
    what found it ('proportional', 'greedy', 'dp', 'ap', 'ruin-recreate', 'exact', 'kept'). late_us:
    how much longer than its delay a query has to wait around this decision, at most.
    """

    case: str
    widths: tuple[WidthGiven, ...]
    bytes: float
    least_bytes: float
    bound_bytes: float
    solver: str
    late_us: int = 0

    def of(self, window: str) -> WidthGiven:
        """The width of one window."""
        return next(each for each in self.widths if each.window == window)

    @property
    def gap(self) -> float:
        """(least - bound) / bound: 0 when proven best."""
        return 0.0 if self.bound_bytes <= 0 else self.least_bytes / self.bound_bytes - 1


def decision_from_json(told: Mapping[str, Any]) -> Decision:
    """Back from asdict().

    >>> from dataclasses import asdict
    >>> turn = Turn("one", 9, 0, 3)
    >>> decision = Decision("C", (WidthGiven("s", 40, turn),), 80.0, 60.0, 60.0, "greedy")
    >>> decision_from_json(asdict(decision)) == decision
    True
    """
    widths = (
        WidthGiven(each["window"], each["width_us"], each["turn"] and Turn(**each["turn"]))
        for each in told["widths"]
    )
    return Decision(**{**told, "widths": tuple(widths)})
