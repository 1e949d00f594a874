"""What widths and turns come to, instant by instant."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.governor.tables import Demand, WidthGiven

__all__ = ["is_served", "slow_width_us"]


def slow_width_us(given: WidthGiven, at_us: int) -> int:
    """The width at an instant: from each begin of a turn on, no row leaves until its end."""
    width_us = given.width_us
    if given.turn is not None:
        begin_us = given.turn.start_us
        while begin_us <= at_us:
            if at_us <= begin_us + given.turn.growth_us:
                width_us = max(width_us, given.width_us + at_us - begin_us)
            begin_us += given.turn.period_us
    return width_us


def is_served(given: WidthGiven, demand: Demand, instants: Iterable[int]) -> bool:
    """Whether after each instant there is one within the delay at which the width is enough."""
    return all(
        any(
            slow_width_us(given, later_us) >= demand.least_us
            for later_us in range(at_us, at_us + demand.delay_us + 1)
        )
        for at_us in instants
    )
