"""Groups by what they are worth: each window has a price, and a group costs its leader's exchange.

Windows stand in the order of falling exchange, so that the leader of a group is its first. Groups
are searched for one threshold at a time: windows whose period is at least the threshold, and
growths that add up to at most that, which is a knapsack. Sums are exact, in microseconds. What can
still be gained is looked up in a table over whole units of time, which is small; there growths and
room are rounded down, so that it misses no group: growths that fit into a room do so too when all
are rounded down to units.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit

# Columns of `branches`: a window, whether it is taken (1) or left (0), and the room before.
WINDOW = 0
IS_TAKEN = 1
ROOM_US = 2
BRANCH_COLUMNS = 3
# Columns of `hopes`: the sum of prices before, and what the branch can come to.
PRICES = 0
HOPE = 1
HOPE_COLUMNS = 2
# Places of `cursor`: branches that wait, and steps that are left.
DEPTH = 0
STEPS = 1
CURSOR_SIZE = 2


@njit(cache=True)
def price_groups(
    growth_us, period_us, exchange, price, unit_us, margin, steps, groups, gain, ceiling
):
    """For each window the group with it as leader whose prices exceed its cost most.

    The row of a window in `groups` has 1 for each member, and `gain` is by how much; both are 0
    where no group gains more than `margin` of its cost. No group gains more than `ceiling` of its
    leader, also where `steps`, a limit for all searches together, ended one early.
    Time: O(d * sum of different periods in units), mostly. Space: O(d * longest period in units).
    """
    size = growth_us.size
    thresholds_us = np.unique(period_us)
    table = np.zeros((size + 1, thresholds_us[-1] // unit_us + 1), np.float64)
    is_member = np.zeros(size, np.bool_)
    branches = np.zeros((size + 1, BRANCH_COLUMNS), np.int64)
    hopes = np.zeros((size + 1, HOPE_COLUMNS), np.float64)
    cursor = np.zeros(CURSOR_SIZE, np.int64)
    cursor[STEPS] = steps
    groups[:] = 0
    gain[:] = 0.0
    ceiling[:] = exchange * margin
    for threshold_us in thresholds_us:
        fill_table(growth_us, period_us, price, threshold_us, unit_us, table)
        for leader in range(size):
            room = (threshold_us - growth_us[leader]) // unit_us
            if period_us[leader] < threshold_us or room < 0:
                continue
            hope = price[leader] + table[leader + 1, room]
            needed = exchange[leader] + max(gain[leader], exchange[leader] * margin)
            if hope <= needed:
                continue
            begin(leader, threshold_us, hope, branches, hopes, cursor)
            while True:
                prices = next_group(
                    growth_us, period_us, price, threshold_us, unit_us, table, needed, is_member,
                    branches, hopes, cursor,
                )  # fmt: skip
                if prices < 0.0:
                    break
                needed = prices
                gain[leader] = prices - exchange[leader]
                for window in range(size):
                    groups[leader, window] = window >= leader and is_member[window]
            if cursor[STEPS] <= 0:
                needed = hope
            ceiling[leader] = max(ceiling[leader], needed - exchange[leader])


@njit(cache=True)
def enumerate_groups(growth_us, period_us, exchange, price, unit_us, gap, steps, groups):
    """All groups that cost at most `gap` more than their prices and that no window can be added to.

    They suffice to cover all windows at the least cost: a part of a group costs no less than the
    whole beyond its prices. Returns how many there are, and whether these are all: `steps` and the
    rows of `groups` are limits.
    """
    size = growth_us.size
    thresholds_us = np.unique(period_us)
    table = np.zeros((size + 1, thresholds_us[-1] // unit_us + 1), np.float64)
    is_member = np.zeros(size, np.bool_)
    branches = np.zeros((size + 1, BRANCH_COLUMNS), np.int64)
    hopes = np.zeros((size + 1, HOPE_COLUMNS), np.float64)
    cursor = np.zeros(CURSOR_SIZE, np.int64)
    cursor[STEPS] = steps
    count = 0
    for threshold_us in thresholds_us:
        fill_table(growth_us, period_us, price, threshold_us, unit_us, table)
        for leader in range(size):
            room = (threshold_us - growth_us[leader]) // unit_us
            if period_us[leader] < threshold_us or room < 0:
                continue
            hope = price[leader] + table[leader + 1, room]
            begin(leader, threshold_us, hope, branches, hopes, cursor)
            while True:
                prices = next_group(
                    growth_us, period_us, price, threshold_us, unit_us, table,
                    exchange[leader] - gap, is_member, branches, hopes, cursor,
                )  # fmt: skip
                if prices < 0.0:
                    break
                if not is_found_here(growth_us, period_us, is_member, leader, threshold_us):
                    continue
                if count == groups.shape[0]:
                    return count, False
                for window in range(size):
                    groups[count, window] = window >= leader and is_member[window]
                count += 1
            if cursor[STEPS] <= 0:
                return count, False
    return count, True


@njit(cache=True)
def fill_table(growth_us, period_us, price, threshold_us, unit_us, table):
    """table[w, room]: the largest total worth of windows from w on within `room` units."""
    size = growth_us.size
    longest = threshold_us // unit_us
    table[size, : longest + 1] = 0.0
    for window in range(size - 1, -1, -1):
        growth = growth_us[window] // unit_us
        if period_us[window] < threshold_us or price[window] <= 0.0:
            growth = longest + 1
        growth = min(growth, longest + 1)
        for room in range(growth):
            table[window, room] = table[window + 1, room]
        for room in range(growth, longest + 1):
            table[window, room] = max(
                table[window + 1, room], table[window + 1, room - growth] + price[window]
            )


@njit(cache=True)
def begin(leader, threshold_us, hope, branches, hopes, cursor):
    """The search for groups of one leader: one branch waits, in which it is taken."""
    branches[0, WINDOW] = leader
    branches[0, IS_TAKEN] = 1
    branches[0, ROOM_US] = threshold_us
    hopes[0, PRICES] = 0.0
    hopes[0, HOPE] = hope
    cursor[DEPTH] = 1


@njit(cache=True)
def next_group(
    growth_us, period_us, price, threshold_us, unit_us, table, needed, is_member, branches, hopes,
    cursor,
):  # fmt: skip
    """The next group whose prices exceed what is needed; returns their sum, or -1 at the end.

    `is_member` has its windows, from the leader on. Depth first, the more promising way first.
    """
    size = growth_us.size
    while cursor[DEPTH] > 0 and cursor[STEPS] > 0:
        depth = cursor[DEPTH] - 1
        cursor[DEPTH] = depth
        if hopes[depth, HOPE] <= needed:
            continue
        window = branches[depth, WINDOW]
        room_us = branches[depth, ROOM_US]
        prices = hopes[depth, PRICES]
        is_taken = branches[depth, IS_TAKEN] == 1
        while True:
            cursor[STEPS] -= 1
            is_member[window] = is_taken
            if is_taken:
                room_us -= growth_us[window]
                prices += price[window]
            window += 1
            if window == size:
                break
            without = prices + table[window + 1, room_us // unit_us]
            left_us = room_us - growth_us[window]
            with_it = -np.inf
            if period_us[window] >= threshold_us and left_us >= 0:
                with_it = prices + price[window] + table[window + 1, left_us // unit_us]
            is_taken = with_it >= without
            if max(with_it, without) <= needed:
                break
            if min(with_it, without) > needed:
                branches[depth, WINDOW] = window
                branches[depth, IS_TAKEN] = 0 if is_taken else 1
                branches[depth, ROOM_US] = room_us
                hopes[depth, PRICES] = prices
                hopes[depth, HOPE] = min(with_it, without)
                depth += 1
        cursor[DEPTH] = depth
        if window == size and prices > needed:
            return prices
    return -1.0


@njit(cache=True)
def is_found_here(growth_us, period_us, is_member, leader, threshold_us):
    """Whether the shortest period of a group is the threshold, and no window can be added to it.

    The former lets each group be found at one threshold only.
    """
    used_us = 0
    shortest_us = period_us[leader]
    for window in range(leader, growth_us.size):
        if is_member[window]:
            used_us += growth_us[window]
            shortest_us = min(shortest_us, period_us[window])
    if shortest_us != threshold_us:
        return False
    for window in range(leader + 1, growth_us.size):
        if not is_member[window]:
            if used_us + growth_us[window] <= min(shortest_us, period_us[window]):
                return False
    return True
