"""Partitions of windows into serial adjusting groups.

A group is valid if the growths of its windows add up to at most the shortest of their periods; it
costs the largest of their exchanges. Taking a window out of a group keeps it valid and makes it no
dearer. Windows stand in the order of falling exchange, so that the first of a group is its leader,
whose exchange is the cost. Times are whole microseconds, and their sums exact.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit

# Longer than all periods, and far enough below 2**63 for sums.
ENDLESS_US = 1 << 61
# Windows that are removed in addition to whole groups: at most this share, and about this many.
SCATTER = 0.15
SCATTERED = 15.0
# How often a group that would do is passed over, so that equal choices are not always the same.
BLINK = 0.02
# What reinsertion looks at is in these units: the dearest exchange, and the longest period.
COST_UNITS = 1000.0
TIME_UNITS = 100.0


@njit(cache=True)
def place_rest(growth_us, period_us, exchange, groups):
    """Put windows whose group is -1, in order, where the shares grow least, first among equals.

    By falling exchange that is the first group that stays valid. Groups are numbered from 0
    without gaps, before and after. Returns how many there are. Time: O(d * groups).
    """
    count = 0
    for window in range(groups.size):
        if groups[window] >= count:
            count = groups[window] + 1
    used_us = np.zeros(groups.size, np.int64)
    shortest_us = np.full(groups.size, ENDLESS_US, np.int64)
    share = np.zeros(groups.size, np.float64)
    for window in range(groups.size):
        group = groups[window]
        if group >= 0:
            used_us[group] += growth_us[window]
            shortest_us[group] = min(shortest_us[group], period_us[window])
            share[group] = max(share[group], exchange[window])
    for window in range(groups.size):
        if groups[window] >= 0:
            continue
        chosen = -1
        least = np.inf
        for group in range(count):
            room_us = min(shortest_us[group], period_us[window]) - used_us[group]
            if growth_us[window] <= room_us:
                dearer = max(0.0, exchange[window] - share[group])
                if dearer < least:
                    least = dearer
                    chosen = group
        if chosen < 0:
            chosen = count
            count += 1
        groups[window] = chosen
        used_us[chosen] += growth_us[window]
        shortest_us[chosen] = min(shortest_us[chosen], period_us[window])
        share[chosen] = max(share[chosen], exchange[window])
    return count


@njit(cache=True)
def partition_subsets(growth_us, period_us, exchange, groups):
    """The best partition of all, by dynamic programming over subsets; returns its cost.

    The cost of a subset is that of a group with its leader and of the best partition of the rest.
    Only the whole set has the dearest window, so that subsets of the others are enough: bit k is
    window k + 1. Time: O(3 ** (d - 1)). Space: 25 bytes * 2 ** (d - 1).
    """
    others = groups.size - 1
    full = (1 << others) - 1
    used_us = np.zeros(full + 1, np.int64)
    shortest_us = np.full(full + 1, ENDLESS_US, np.int64)
    is_valid = np.ones(full + 1, np.bool_)
    cost = np.zeros(full + 1, np.float64)
    chosen = np.zeros(full + 1, np.int64)
    for subset in range(1, full + 1):
        leader = lowest_bit(subset)
        lead = 1 << leader
        rest = subset ^ lead
        used_us[subset] = used_us[rest] + growth_us[leader + 1]
        shortest_us[subset] = min(shortest_us[rest], period_us[leader + 1])
        is_valid[subset] = used_us[subset] <= shortest_us[subset]
        least = np.inf
        part = rest
        while True:
            group = part | lead
            if is_valid[group] and cost[subset ^ group] < least:
                least = cost[subset ^ group]
                chosen[subset] = group
            if part == 0:
                break
            part = (part - 1) & rest
        cost[subset] = least + exchange[leader + 1]
    least = np.inf
    first = 0
    for part in range(full + 1):
        fits = used_us[part] + growth_us[0] <= min(shortest_us[part], period_us[0])
        if fits and cost[full ^ part] < least:
            least = cost[full ^ part]
            first = part
    groups[0] = 0
    group = first
    subset = full
    number = 0
    while True:
        for other in range(others):
            if (group >> other) & 1:
                groups[other + 1] = number
        subset ^= group
        if subset == 0:
            break
        group = chosen[subset]
        number += 1
    return least + exchange[0]


@njit(cache=True, forceinline=True)
def lowest_bit(subset):
    """The place of the lowest bit that is set; there is one."""
    place = 0
    while not (subset >> place) & 1:
        place += 1
    return place


@njit(cache=True)
def ruin_recreate(growth_us, period_us, exchange, groups, iterations, heat, generator):
    """Improve a valid partition: take some groups apart, put their windows elsewhere, again.

    Dearer partitions are taken too, the less the later (simulated annealing, from heat[0] down to
    heat[1] in COST_UNITS). `groups`, numbered without gaps, becomes the best partition seen;
    returns its cost. Time: O(d) an iteration, mostly. Space: O(d).
    """
    size = groups.size
    longest_us = 1
    for window in range(size):
        longest_us = max(longest_us, period_us[window])
    cost_unit = COST_UNITS / exchange[0]
    time_unit = TIME_UNITS / longest_us
    now = groups.copy()
    trial = np.empty(size, np.int64)
    used_us = np.empty(size + 1, np.int64)
    shortest_us = np.empty(size + 1, np.int64)
    share = np.empty(size + 1, np.float64)
    renamed = np.empty(size + 1, np.int64)
    is_ruined = np.empty(size + 1, np.bool_)
    removed = np.empty(size, np.int64)
    keys = np.empty(size, np.float64)
    count = 0
    for window in range(size):
        count = max(count, now[window] + 1)
    cost = cost_of(exchange, now, count, share)
    best = cost
    for iteration in range(iterations):
        temperature = heat[0] * (heat[1] / heat[0]) ** (iteration / iterations) / cost_unit
        # Ruin: two to four groups, and single windows of the others.
        for group in range(count):
            is_ruined[group] = False
            used_us[group] = 0
            shortest_us[group] = ENDLESS_US
            share[group] = 0.0
        for _ in range(2 + int(generator.random() * 3)):
            is_ruined[int(generator.random() * count)] = True
        scatter = generator.random() * min(SCATTER, SCATTERED / size)
        rule = int(generator.random() * 4)
        gone = 0
        for window in range(size):
            group = now[window]
            if is_ruined[group] or generator.random() < scatter:
                trial[window] = -1
                if rule == 0:
                    key = float(window)
                elif rule == 1:
                    key = -period_us[window] * time_unit + generator.random() * 10.0
                elif rule == 2:
                    key = -growth_us[window] * time_unit + generator.random() * 3.0
                else:
                    key = window + generator.random() * size * 0.3
                place = gone
                while place > 0 and keys[place - 1] > key:
                    keys[place] = keys[place - 1]
                    removed[place] = removed[place - 1]
                    place -= 1
                keys[place] = key
                removed[place] = window
                gone += 1
            else:
                trial[window] = group
                used_us[group] += growth_us[window]
                shortest_us[group] = min(shortest_us[group], period_us[window])
                share[group] = max(share[group], exchange[window])
        # Recreate: each where it fits best by one of three measures, or in a group of its own.
        measure = int(generator.random() * 3)
        trial_count = count
        for place in range(gone):
            window = removed[place]
            chosen = -1
            least = np.inf
            for group in range(trial_count):
                if used_us[group] == 0:
                    continue
                shorter_us = min(shortest_us[group], period_us[window])
                room_us = shorter_us - used_us[group] - growth_us[window]
                if room_us < 0 or generator.random() < BLINK:
                    continue
                dearer = max(0.0, exchange[window] - share[group]) * cost_unit
                lost = (shortest_us[group] - shorter_us) * time_unit
                room = room_us * time_unit
                if measure == 0:
                    worth = dearer * 1000.0 + room
                elif measure == 1:
                    worth = dearer * 1000.0 + lost * 3.0 + room
                else:
                    apart = abs(share[group] - exchange[window]) * cost_unit
                    worth = dearer * 10.0 + lost + apart * 0.03 + room * 0.1
                if worth < least:
                    least = worth
                    chosen = group
            if chosen < 0 or (measure == 2 and least >= exchange[window] * cost_unit * 10.0):
                chosen = 0
                while chosen < trial_count and used_us[chosen] > 0:
                    chosen += 1
                if chosen == trial_count:
                    trial_count += 1
                used_us[chosen] = 0
                shortest_us[chosen] = ENDLESS_US
                share[chosen] = 0.0
            trial[window] = chosen
            used_us[chosen] += growth_us[window]
            shortest_us[chosen] = min(shortest_us[chosen], period_us[window])
            share[chosen] = max(share[chosen], exchange[window])
        trial_cost = 0.0
        for group in range(trial_count):
            if used_us[group] > 0:
                trial_cost += share[group]
        if trial_cost > cost and generator.random() >= np.exp((cost - trial_cost) / temperature):
            continue
        cost = trial_cost
        count = 0
        for group in range(trial_count):
            if used_us[group] > 0:
                renamed[group] = count
                count += 1
        for window in range(size):
            now[window] = renamed[trial[window]]
        if cost < best:
            best = cost
            groups[:] = now
    return best


@njit(cache=True)
def cost_of(exchange, groups, count, share):
    """The sum of the dearest exchanges of `count` groups; `share` is overwritten with them."""
    for group in range(count):
        share[group] = 0.0
    for window in range(groups.size):
        share[groups[window]] = max(share[groups[window]], exchange[window])
    cost = 0.0
    for group in range(count):
        cost += share[group]
    return cost
