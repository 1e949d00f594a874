"""Groups that a linear program requests, and the lower bound that it yields (column generation).

The program covers each window by fractions of groups at the least cost. It knows few groups; the
prices that it gives the windows say which others would make it cheaper, and a knapsack finds them.
When there are none, its cost is a bound for all partitions. Before that there is one too: in every
partition each window leads one group at most, so that no partition is cheaper than the sum of
prices less the most that each leader's group gains.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from windrow.governor.columns import kernels
from windrow.governor.columns.linear_program import Covering, Members
from windrow.governor.groups.turning import Bytes, Longs, TurningWindows, members_of

__all__ = ["COST_UNITS", "Columns", "Scaled", "generate", "rows_of", "scaled"]

# The dearest window costs so much in the program, whose tolerances are absolute.
COST_UNITS = 1000.0
# Units of time in the tables of knapsacks, which only guide the search: sums are exact.
TABLE_UNITS = 256
# Steps of all searches of one pricing together, some 5 nanoseconds each.
PRICING_STEPS = 20_000_000
# Groups that gain less than this share of their cost are let be.
MARGIN = 1e-9
CLOSE = 1e-7


@dataclass(frozen=True)
class Scaled:
    """Windows as the program takes them: costs in COST_UNITS, periods cut to the sum of growths."""

    growth_us: Longs
    period_us: Longs
    cost: Bytes
    bytes_per_cost: float
    unit_us: int


@dataclass(frozen=True)
class Columns:
    """What the program found: a bound and its prices, and the groups that it knows."""

    bound: float
    prices: Bytes
    members: Members

    def bound_bytes(self, windows: Scaled) -> float:
        """The bound in bytes."""
        return self.bound * windows.bytes_per_cost


def scaled(turning: TurningWindows) -> Scaled:
    """The windows in the units of the program."""
    # No group needs longer than all growths together.
    period_us = np.minimum(turning.period_us, turning.growth_us.sum())
    bytes_per_cost = float(turning.exchange[0]) / COST_UNITS
    unit_us = -(-int(period_us.max()) // TABLE_UNITS)
    cost = turning.exchange / bytes_per_cost
    return Scaled(turning.growth_us, period_us, cost, bytes_per_cost, unit_us)


def generate(windows: Scaled, groups: Longs, until_s: float) -> Columns:
    """The bound by column generation, or what it has come to when the time is `until_s`."""
    size = windows.growth_us.size
    program = Covering(size)
    program.add(np.eye(size, dtype=np.uint8), windows.cost)
    known = rows_of(groups)
    program.add(known, windows.cost[known.argmax(axis=1)])
    best = Columns(0.0, np.zeros(size), known)
    members = np.zeros((size, size), np.uint8)
    gain, ceiling = np.zeros(size), np.zeros(size)
    while (left_s := until_s - time.perf_counter()) > 0:
        prices = program.solve(left_s)
        if prices is None:
            break
        kernels.price_groups(
            windows.growth_us, windows.period_us, windows.cost, prices, windows.unit_us, MARGIN,
            PRICING_STEPS, members, gain, ceiling,
        )  # fmt: skip
        bound = float(prices.sum() - ceiling.sum())
        # Of bounds that are as good as equal, the later has the better prices: fewer groups gain.
        if bound > best.bound * (1 - CLOSE):
            best = Columns(bound, prices, known)
        gaining = np.flatnonzero(gain > 0)
        if not program.add(members[gaining], windows.cost[gaining]):
            break
    return Columns(best.bound, best.prices, np.array(program.groups))


def rows_of(groups: Longs) -> Members:
    """A partition as rows of 0 and 1, one for each group."""
    rows = np.zeros((int(groups.max()) + 1, groups.size), np.uint8)
    for number, members in enumerate(members_of(groups)):
        rows[number, members] = 1
    return rows
