"""Loops over changes of a relation that is aggregated: which groups they update, and their sums.

A place is one group at one instant: where its state after that instant is put out. All loops go
through the same changes in the same order, and write a state at the last change of its place.
"""

from __future__ import annotations

from windrow.compiling.kernels import njit
from windrow.exact.kernels import (
    INTEGER,
    LIMB_BITS,
    LIMB_MASK,
    MINUS_INFINITY_LANE,
    NAN_LANE,
    PLUS_INFINITY_LANE,
    VALID_LANE,
    add_value,
    parts_of_word,
)
from windrow.windows.kernels import AHEAD, LARGE_TABLE, prefetch

# A value times this many still leaves room for what a limb holds already.
MOST_AT_ONCE = 1 << 29


@njit(cache=True)
def find_places(at, group, last_place, base, out):
    """Give each change its place; returns how many places there are, and how many groups.

    last_place[group] is the group's last place, counted from `base` at the first change on. Of
    each place: the number of its group among the different groups, the last change, and the place
    of that group before it, ~number where there is none.
    """
    place, place_at, number, last_change, previous, different = out
    used = 0
    groups = 0
    first_of_now = 0
    fetches = last_place.size > LARGE_TABLE
    for i in range(at.size):
        if fetches and i + AHEAD < at.size:
            prefetch(last_place, group[i + AHEAD])
        if i > 0 and at[i] != at[i - 1]:
            first_of_now = used
        which = group[i]
        found = last_place[which] - base
        if found < 0 or found < first_of_now:
            if found < 0:
                different[groups] = which
                number[used] = groups
                previous[used] = ~groups
                groups += 1
            else:
                number[used] = number[found]
                previous[used] = found
            place_at[used] = at[i]
            found = used
            last_place[which] = base + found
            used += 1
        place[i] = found
        last_change[found] = i
    return used, groups


@njit(cache=True)
def find_different(codes, weight, times, effect):
    """Count how often each code is there; effect: by how much that changes how many are there."""
    for i in range(codes.size):
        code = codes[i]
        if code < 0:
            effect[i] = 0
            continue
        before = times[code]
        after = before + weight[i]
        times[code] = after
        effect[i] = (after > 0) - (before > 0)


@njit(cache=True)
def add_narrow(changes, values, is_nullable, sums, out):
    """Sums in plain lanes: one a value, and one that counts its valid rows."""
    group, weights, place, last_change = changes
    words, valid, _, weight_of = values
    counts, lanes = sums
    out_counts, out_lanes = out
    size = words.shape[0]
    checks = valid.shape[0] > 0
    fetches = counts.size > LARGE_TABLE
    for i in range(group.size):
        if fetches and i + AHEAD < group.size:
            prefetch(counts, group[i + AHEAD])
            prefetch(lanes, group[i + AHEAD])
        which = group[i]
        counts[which] += weights[0, i]
        for value in range(size):
            if checks and valid[value, i] == 0:
                continue
            weight = weights[weight_of[value], i]
            lanes[which, value] += weight * words[value, i]
            if is_nullable:
                lanes[which, size + value] += weight
        at = place[i]
        if last_change[at] == i:
            out_counts[at] = counts[which]
            for lane in range(lanes.shape[1]):
                out_lanes[at, lane] = lanes[which, lane]


@njit(cache=True)
def add_wide(changes, values, form, sums, out):
    """Sums in exact lanes; form: counters before the limbs, limbs, and the number of the lowest."""
    group, weights, place, last_change = changes
    words, valid, kinds, weight_of = values
    counters, limbs, low_limb = form
    counts, lanes = sums
    out_counts, out_lanes = out
    checks = valid.shape[0] > 0
    for i in range(group.size):
        which = group[i]
        counts[which] += weights[0, i]
        for value in range(words.shape[0]):
            weight = weights[weight_of[value], i]
            if weight == 0 or (checks and valid[value, i] == 0):
                continue
            base = value * (counters + limbs)
            if counters > 0:
                lanes[which, base + VALID_LANE] += weight
            word = words[value, i]
            if kinds[value] != INTEGER:
                special = parts_of_word(word, kinds[value])[2]
                if special == 2:
                    lanes[which, base + NAN_LANE] += weight
                    continue
                if special == 1:
                    lane = MINUS_INFINITY_LANE if word < 0 else PLUS_INFINITY_LANE
                    lanes[which, base + lane] += weight
                    continue
            while weight != 0:
                part = min(max(weight, -MOST_AT_ONCE), MOST_AT_ONCE)
                weight -= part
                add_value(word, kinds[value], part, low_limb, lanes, which, base + counters)
                carry(lanes, which, base + counters, limbs)
        at = place[i]
        if last_change[at] == i:
            out_counts[at] = counts[which]
            for lane in range(lanes.shape[1]):
                out_lanes[at, lane] = lanes[which, lane]


@njit(cache=True)
def carry(lanes, row, first, limbs):
    """Have 32 bits in each limb but the highest, which carries the sign."""
    over = 0
    for lane in range(first, first + limbs - 1):
        total = lanes[row, lane] + over
        lanes[row, lane] = total & LIMB_MASK
        over = total >> LIMB_BITS
    lanes[row, first + limbs - 1] += over
