"""When a window that takes turns at being wide is so, and how wide it is at an instant."""

from __future__ import annotations

import numpy as np

from windrow.windows.lifetime import Lifetime

__all__ = ["turns_of", "width_at_us"]

# Turns that are sent, in addition to the current one.
TURNS_BEFORE = 2
TURNS_AFTER = 3


def turns_of(lifetime: Lifetime | None, now_us: int) -> list[dict[str, int | bool]]:
    """Consecutive spans: in the wide ones no rows are evicted.

    >>> turning = Lifetime.closed(60).turning(100, 50, 10)
    >>> [(each["from_us"], each["to_us"]) for each in turns_of(turning, 120) if each["wide"]]
    [(100, 110), (150, 160), (200, 210), (250, 260)]
    """
    if lifetime is None or not lifetime.turn_growth_us:
        return []
    start_us, period_us = lifetime.turn_start_us, lifetime.turn_period_us
    current = max(0, (now_us - start_us) // period_us)
    found: list[dict[str, int | bool]] = []
    for number in range(max(0, current - TURNS_BEFORE), current + TURNS_AFTER + 1):
        begin_us = start_us + number * period_us
        wide_us = begin_us + lifetime.turn_growth_us
        found.append({"from_us": begin_us, "to_us": wide_us, "wide": True})
        if wide_us < begin_us + period_us:
            found.append({"from_us": wide_us, "to_us": begin_us + period_us, "wide": False})
    return found


def width_at_us(lifetime: Lifetime, instant_us: int) -> int:
    """How far back rows are held at an instant: during a turn further than between turns.

    >>> turning = Lifetime.closed(60).turning(100, 50, 10)
    >>> [width_at_us(turning, instant) for instant in (99, 100, 105, 110, 111, 155)]
    [60, 60, 65, 70, 60, 65]
    """
    edge_us = int(lifetime.edge(np.array([instant_us], np.int64))[0])
    return instant_us - edge_us + (lifetime.slide_us > 1)
