"""When the governor decides again: a query starts or ends, or rows come faster, slower or larger.

What changes nothing asks for no decision. Which queries do is the paper's table, by the case that
the last decision came to:

| | A | B | C |
| --- | --- | --- | --- |
| starts | Qt > Max_T | Qt >= Min_T | Qt - Qe >= Min_T - Min_D |
| ends | never | Qt >= Min_T | Qt - Qe >= Min_T - Min_D |
"""

from __future__ import annotations

from collections.abc import Iterable

from windrow.governor.figures import WindowFigures
from windrow.governor.tables import Demand, WindowState

__all__ = [
    "RATE_DELTA",
    "end_matters",
    "is_outside",
    "moved_windows",
    "next_change_us",
    "start_matters",
]

# How much faster a window may take memory than when its width was decided.
RATE_DELTA = 0.25


def start_matters(case: str, figures: WindowFigures, demand: Demand) -> bool:
    """Whether a query that starts asks for a decision; the figures are those without it.

    >>> start_matters("A", WindowFigures("s", 1.0, range_us=60), Demand("q", "s", range_us=50))
    False
    """
    if case == "A":
        return demand.range_us > figures.range_us
    return _matters(case, figures, demand)


def end_matters(case: str, figures: WindowFigures, demand: Demand) -> bool:
    """Whether a query that ends asks for a decision; the figures are those with it."""
    return case != "A" and _matters(case, figures, demand)


def next_change_us(demands: Iterable[Demand], at_us: int) -> int | None:
    """The first instant after this one at which other demands are alive; None: there is none.

    A demand lives through its last instant, so that it is gone a microsecond later.

    >>> next_change_us([Demand("q", "s", 10, begin_us=70, end_us=500)], at_us=70)
    501
    """
    instants = [
        instant
        for each in demands
        for instant in (each.begin_us, None if each.end_us is None else each.end_us + 1)
        if instant is not None and instant > at_us
    ]
    return min(instants, default=None)


def moved_windows(
    decided: Iterable[WindowState], now: Iterable[WindowState], delta: float = RATE_DELTA
) -> tuple[str, ...]:
    """Windows whose memory for a width is no longer what it was when widths were decided.

    Rate and bytes of a row count together: widths depend on nothing else. Windows that came or went
    have moved too.
    """
    before = {each.window: each.bytes_per_us for each in decided}
    after = {each.window: each.bytes_per_us for each in now}
    both = [name for name in before if name in after]
    moved = [name for name in both if is_outside(before[name], after[name], delta)]
    return tuple(sorted([*moved, *(before.keys() ^ after.keys())]))


def is_outside(decided: float, now: float, delta: float = RATE_DELTA) -> bool:
    """Whether a rate has left the band about the one decided by, which asks for a decision.

    The band reaches from 1 / (1 + delta) ** 2 to 1 + delta: more memory than was counted on is
    dangerous, less is not. As the lower part is the wider one, a rate that leaves the band upwards
    must fall below where it came from to leave the next band downwards: one that wobbles between
    two values leaves it once, and then no more.

    >>> is_outside(100, 120), is_outside(100, 130), is_outside(130, 100)
    (False, True, False)
    """
    return now > decided * (1 + delta) or now * (1 + delta) ** 2 < decided


def _matters(case: str, figures: WindowFigures, demand: Demand) -> bool:
    if case == "B":
        return demand.range_us >= figures.least_us
    return demand.least_us >= figures.narrow_us
