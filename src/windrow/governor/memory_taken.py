"""Memory that widths take at the most, and keeping it within what there is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from windrow.governor.figures import WindowFigures
from windrow.governor.tables import WidthGiven

__all__ = ["memory_taken", "static_sum", "trimmed"]


def memory_taken(widths: Iterable[WidthGiven], bytes_per_us: Mapping[str, float]) -> float:
    """The most that widths take at any moment: in each group one window has grown at a time.

    >>> from windrow.governor.tables import Turn
    >>> first = WidthGiven("a", 50, Turn(group=0, period_us=30, start_us=0, growth_us=10))
    >>> second = WidthGiven("b", 20, Turn(group=0, period_us=30, start_us=10, growth_us=15))
    >>> memory_taken([first, second], {"a": 1.0, "b": 2.0})
    120.0
    """
    static = []
    shares: dict[int, float] = {}
    for each in widths:
        static.append(each.width_us * bytes_per_us[each.window])
        if each.turn is not None:
            exchange = each.turn.growth_us * bytes_per_us[each.window]
            shares[each.turn.group] = max(shares.get(each.turn.group, 0.0), exchange)
    return math.fsum([*static, *shares.values()])


def static_sum(widths_us: Iterable[int], figures: Sequence[WindowFigures]) -> float:
    """What constant widths take; they stand in the order of the figures."""
    return math.fsum(
        width_us * each.bytes_per_us for width_us, each in zip(widths_us, figures, strict=True)
    )


def trimmed(
    widths_us: list[int],
    least_us: Sequence[int],
    figures: Sequence[WindowFigures],
    available_bytes: float,
) -> list[int]:
    """Widths cut until they take no more than there is, none below its least.

    Shares of memory are computed in floating point, so that widths may take a little too much: a
    few microseconds come off.
    """
    widths_us = list(widths_us)
    for place in sorted(range(len(figures)), key=lambda each: least_us[each] - widths_us[each]):
        excess = static_sum(widths_us, figures) - available_bytes
        if excess <= 0:
            break
        per_us = figures[place].bytes_per_us
        if per_us > 0:
            surplus_us = widths_us[place] - least_us[place]
            widths_us[place] -= min(surplus_us, math.ceil(excess / per_us) + 1)
    return widths_us
