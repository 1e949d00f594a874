"""Tolerances that decisions count on: the least within a range, as what is measured wobbles.

A tolerance goes by panes of what has arrived: with the same rows a second it is now a pane more,
now a pane less. Windows that followed each of them would never be at rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from windrow.governor.tables import Demand

__all__ = ["SteadyTolerances", "with_reserve"]

# Parts of a range that are told apart.
PARTS = 4
# What is kept of a tolerance in reserve, in which it may fall and nothing changes: a part of it,
# or what a profile with 256 panes of a range does not know at both ends of what is missing.
RESERVE_PARTS = 4
RESERVE_PARTS_AT_FIRST = 2
RESERVE_RANGES = 2 / 256


def with_reserve(demand: Demand, *, is_known: bool) -> Demand:
    """The demand with less than the tolerance that it has; is_known: a whole range was seen."""
    parts = RESERVE_PARTS if is_known else RESERVE_PARTS_AT_FIRST
    reserve_us = max(demand.tolerance_us // parts, int(demand.range_us * RESERVE_RANGES))
    return replace(demand, tolerance_us=max(0, demand.tolerance_us - reserve_us))


@dataclass
class _Least:
    """The least of each part, the latest last; the number of the latest."""

    part: int
    parts: list[int]


class SteadyTolerances:
    """For each query on a window, the least tolerance seen within about its range.

    >>> steady = SteadyTolerances()
    >>> demand = Demand("q", "s", range_us=100, tolerance_us=7)
    >>> steady.counted_on(demand, 0).tolerance_us
    7
    >>> steady.counted_on(replace(demand, tolerance_us=9), 50).tolerance_us
    7
    >>> steady.counted_on(replace(demand, tolerance_us=9), 175).tolerance_us
    9
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], _Least] = {}

    def counted_on(self, demand: Demand, clock_us: int) -> Demand:
        """The demand with the tolerance to count on at an instant."""
        if not demand.tolerance_us:
            self._known.pop((demand.query, demand.window), None)
            return demand
        part = clock_us // max(1, demand.range_us // PARTS)
        known = self._known.setdefault((demand.query, demand.window), _Least(part, []))
        passed = part - known.part
        if passed or not known.parts:
            known.part = part
            fresh = [demand.tolerance_us] * min(max(1, passed), PARTS)
            known.parts = [*known.parts, *fresh][-PARTS:]
        known.parts[-1] = min(known.parts[-1], demand.tolerance_us)
        return replace(demand, tolerance_us=min(known.parts))

    def forget(self, queries: set[str]) -> None:
        """Only these are of interest still."""
        self._known = {key: each for key, each in self._known.items() if key[0] in queries}
