"""How wide a window is while it takes turns."""

from __future__ import annotations

from windrow.governor.tables import WidthGiven

__all__ = ["width_at_us"]


def width_at_us(given: WidthGiven, at_us: int) -> int:
    """How far back a window reaches at an instant, if it had its narrow width to begin with.

    >>> from windrow.governor.tables import Turn
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
