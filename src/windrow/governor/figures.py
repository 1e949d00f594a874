"""What the queries on a window ask of it together: how wide, how narrow, how often.

| here | in the paper | |
| --- | --- | --- |
| range_us | Max_T | the widest range: at this width all is exact |
| least_us | Min_T | at this width all is within the error, always |
| period_us | TP | the tolerated delay of the base query, which alone asks for least_us |
| growth_us | Min_D | how much narrower the window may be between the turns of the base query |
| exchange_bytes | Exch | memory that a turn takes |
| static_bytes | Static | memory between turns |

The paper's static memory is what the runner-up needs; if the base query cannot wait for as long as
growing from there takes, it would never be answered. Here it is what the definition of a group asks
for: least_us - growth_us.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from windrow.governor.tables import Demand, WindowState

__all__ = ["WindowFigures", "active_demands", "figures_of"]


@dataclass(frozen=True)
class WindowFigures:
    """One window's figures; of a window that no query names all are 0.

    base: the query that asks for the most at the least; runner_up: the one that asks for the most
    of the others. ranges_us: the ranges of all queries, ascending.
    """

    window: str
    bytes_per_us: float
    range_us: int = 0
    least_us: int = 0
    period_us: int = 0
    growth_us: int = 0
    base: str | None = None
    runner_up: str | None = None
    ranges_us: tuple[int, ...] = ()

    @property
    def needs_turn(self) -> bool:
        """Whether turns would save memory."""
        return self.growth_us > 0 and self.bytes_per_us > 0

    @property
    def narrow_us(self) -> int:
        """The width between turns, or at all times when none are needed."""
        return self.least_us - self.growth_us if self.needs_turn else self.least_us

    @property
    def exchange_bytes(self) -> float:
        """Memory that a turn takes in addition to the static memory."""
        return self.growth_us * self.bytes_per_us

    @property
    def static_bytes(self) -> float:
        """Memory between turns."""
        return self.narrow_us * self.bytes_per_us


def figures_of(
    windows: Sequence[WindowState], demands: Iterable[Demand]
) -> tuple[WindowFigures, ...]:
    """The figures of all windows, in the order of the windows.

    >>> rows = WindowState("s", row_bytes=10, rate=100)
    >>> wide = Demand("wide", "s", range_us=60_000, tolerance_us=10_000, delay_us=5_000)
    >>> narrow = Demand("narrow", "s", range_us=20_000)
    >>> (figures,) = figures_of([rows], [wide, narrow])
    >>> figures.range_us, figures.least_us, figures.growth_us, figures.static_bytes
    (60000, 50000, 5000, 45.0)
    """
    by_window: dict[str, list[Demand]] = {each.window: [] for each in windows}
    assert len(by_window) == len(windows), "two windows of one name"
    for demand in demands:
        assert demand.window in by_window, f"{demand.query} is on no window: {demand.window}"
        by_window[demand.window].append(demand)
    return tuple(_figures(each, by_window[each.window]) for each in windows)


def active_demands(demands: Iterable[Demand], at_us: int) -> list[Demand]:
    """The demands that are alive at an instant; both ends of a life belong to it."""
    return [
        each
        for each in demands
        if (each.begin_us is None or each.begin_us <= at_us)
        and (each.end_us is None or at_us <= each.end_us)
    ]


def _figures(state: WindowState, demands: list[Demand]) -> WindowFigures:
    if not demands:
        return WindowFigures(state.window, state.bytes_per_us)
    base, runner_up = _two_widest(demands)
    least_us = max(0, base.least_us)
    following_us = 0 if runner_up is None else max(0, runner_up.least_us)
    ranges = sorted(each.range_us for each in demands)
    return WindowFigures(
        state.window,
        state.bytes_per_us,
        range_us=ranges[-1],
        least_us=least_us,
        period_us=base.delay_us,
        growth_us=min(least_us - following_us, base.delay_us),
        base=base.query,
        runner_up=None if runner_up is None else runner_up.query,
        ranges_us=tuple(ranges),
    )


def _two_widest(demands: list[Demand]) -> tuple[Demand, Demand | None]:
    """Base and runner-up; of two equal ones the less patient is the base."""
    base = max(demands, key=_asks)
    others = [each for each in demands if each is not base]
    return base, max(others, key=_asks, default=None)


def _asks(demand: Demand) -> tuple[int, int]:
    return demand.least_us, -demand.delay_us
