"""Turns: when each window of a serial adjusting group grows, and how wide it is then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from windrow.governor.figures import WindowFigures
from windrow.governor.groups.turning import is_group
from windrow.governor.tables import Turn, WidthGiven

__all__ = ["turns_of", "width_at_us"]


def turns_of(groups: Iterable[Sequence[WindowFigures]], start_us: int) -> dict[str, Turn]:
    """The turn of each window of some groups, from an instant on.

    The period of a group is the shortest delay that one of its base queries tolerates. Its windows
    follow each other at once: their growths fit into the period, so that the first has its next
    turn after the last.

    >>> one = WindowFigures("a", 1.0, growth_us=3, period_us=9, least_us=10)
    >>> two = WindowFigures("b", 1.0, growth_us=5, period_us=8, least_us=10)
    >>> turns_of([[one, two]], start_us=100)["b"]
    Turn(group=0, period_us=8, start_us=103, growth_us=5)
    """
    turns = {}
    for number, group in enumerate(groups):
        assert is_group(group), "growths that do not fit into a period"
        period_us = min(each.period_us for each in group)
        next_us = start_us
        for each in group:
            turns[each.window] = Turn(number, period_us, next_us, each.growth_us)
            next_us += each.growth_us
    return turns


def width_at_us(given: WidthGiven, at_us: int) -> int:
    """How far back a window reaches at an instant, if it had its narrow width to begin with.

    >>> given = WidthGiven("a", 50, Turn(group=0, period_us=30, start_us=0, growth_us=10))
    >>> [width_at_us(given, at) for at in (-1, 0, 4, 10, 11, 30, 40)]
    [50, 50, 54, 60, 50, 50, 60]
    """
    turn = given.turn
    if turn is None or at_us <= turn.start_us:
        return given.width_us
    # The end of a turn is the begin of the next when it lasts for the whole period: it is wide.
    since_us = (at_us - turn.start_us - 1) % turn.period_us + 1
    return given.width_us + (since_us if since_us <= turn.growth_us else 0)
