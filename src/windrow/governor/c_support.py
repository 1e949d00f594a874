"""Level C: base queries are within their error only at the end of their windows' turns.

Static memory is for all windows what the other queries need; windows of a group share memory to
grow into. What is left beyond that makes windows wider at all times, as at level B.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from windrow.governor.b_support import widened
from windrow.governor.calm_turns import NO_CLOCKS, calm_turns
from windrow.governor.figures import WindowFigures
from windrow.governor.groups.solve import continued, solve, solve_at_once, solve_quickly
from windrow.governor.groups.turning import (
    Grouping,
    TurningWindows,
    members_of,
    shares_of,
    turning_windows,
)
from windrow.governor.running import Running
from windrow.governor.tables import Demand, WidthGiven

__all__ = ["NO_WINDOWS", "CalmWidths", "Need", "c_support", "need_at_once", "need_of", "need_with"]

NO_WINDOWS: Running = MappingProxyType({})
# Memory is given out so often: wider windows have shorter turns, which may free a little again.
ROUNDS = 4
# Kept back of what is given out, so that no sum in floating point exceeds what there is.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Need:
    """The least memory that windows need, by the best groups known, and what they need for sure."""

    turning: TurningWindows
    grouping: Grouping
    least_bytes: float
    bound_bytes: float


def need_of(
    figures: Sequence[WindowFigures], time_limit_s: float, quick: bool = False, seed: int = 0
) -> Need:
    """The least memory by the best solver that fits the limit; quick: within milliseconds."""
    turning = turning_windows(figures)
    found = solve_quickly(turning, seed) if quick else solve(turning, time_limit_s, seed)
    return _need(figures, turning, found)


def need_at_once(figures: Sequence[WindowFigures]) -> Need:
    """The least memory by first fit."""
    turning = turning_windows(figures)
    return _need(figures, turning, solve_at_once(turning))


def need_with(figures: Sequence[WindowFigures], groups: Mapping[str, int]) -> Need:
    """The least memory by given groups, as far as they are valid still; others are placed."""
    turning = turning_windows(figures)
    return _need(figures, turning, continued(turning, groups))


class CalmWidths(NamedTuple):
    """late_us: how much longer than its delay a query waits, at most, until turns have begun."""

    widths: tuple[WidthGiven, ...]
    late_us: int


def c_support(
    figures: Sequence[WindowFigures],
    need: Need,
    available_bytes: float,
    start_us: int,
    demands: Sequence[Demand] = (),
    running: Running = NO_WINDOWS,
    clocks_us: Mapping[str, int] = NO_CLOCKS,
) -> CalmWidths:
    """The widths and turns of all windows, if the need fits; turns begin at an instant.

    demands, running: what has to wait, and as what; turns that run go on where they can. clocks_us:
    of windows that are behind.

    >>> one = WindowFigures("a", 1.0, 60, 60, period_us=30, growth_us=10, ranges_us=(50, 60))
    >>> two = WindowFigures("b", 1.0, 40, 40, period_us=20, growth_us=10, ranges_us=(30, 40))
    >>> need = need_of([one, two], time_limit_s=1)
    >>> for given in c_support([one, two], need, available_bytes=90, start_us=0).widths:
    ...     print(given)
    WidthGiven(window='a', width_us=50, turn=Turn(group=0, period_us=20, start_us=10, growth_us=10))
    WidthGiven(window='b', width_us=30, turn=Turn(group=0, period_us=20, start_us=0, growth_us=10))
    """
    assert need.least_bytes <= available_bytes, "the need does not fit"
    names = need.turning.windows
    groups = [[names[place] for place in members] for members in members_of(need.grouping.groups)]
    widths_us = [each.narrow_us for each in figures]
    now = list(figures)
    for _ in range(ROUNDS):
        left = available_bytes * (1 - ROUNDING) - _shared_bytes(groups, now)
        wider = list(widened(widths_us, figures, left))
        if wider == widths_us:
            break
        widths_us = wider
        now = [_begun(each, width_us) for each, width_us in zip(figures, widths_us, strict=True)]
    narrow = [
        WidthGiven(each.window, width_us) for each, width_us in zip(figures, widths_us, strict=True)
    ]
    calm = calm_turns(_turning(groups, now), narrow, demands, running, start_us, clocks_us)
    widths = (replace(each, turn=calm.turns.get(each.window)) for each in narrow)
    return CalmWidths(tuple(widths), calm.late_us)


def _begun(figures: WindowFigures, width_us: int) -> WindowFigures:
    """A turn that begins at this width: it ends at the same one as before, and is shorter."""
    growth_us = max(0, min(figures.growth_us, figures.least_us - width_us))
    return replace(figures, growth_us=growth_us)


def _turning(
    groups: Sequence[Sequence[str]], figures: Sequence[WindowFigures]
) -> list[list[WindowFigures]]:
    """The groups of those windows that need turns still; of a valid group, the rest is valid."""
    by_name = {each.window: each for each in figures if each.needs_turn}
    left = [[by_name[name] for name in group if name in by_name] for group in groups]
    return [group for group in left if group]


def _shared_bytes(groups: Sequence[Sequence[str]], figures: Sequence[WindowFigures]) -> float:
    return math.fsum(
        max(each.exchange_bytes for each in group) for group in _turning(groups, figures)
    )


def _need(figures: Sequence[WindowFigures], turning: TurningWindows, found: Grouping) -> Need:
    static = [each.static_bytes for each in figures]
    least = math.fsum([*static, *shares_of(turning, found.groups)])
    return Need(turning, found, least, min(least, math.fsum([*static, found.bound_bytes])))
