"""Loops over group updates: chaining states of a group, listing answers, adding up shards."""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.exact.kernels import LIMB_BITS, LOWEST_BIT, carry_over, scale_by_power

# This many limbs, squared, stay far inside the doubles, and so does a shift by this many bits.
MOST_LIMBS = 12
MOST_SHIFT = 320
# A difference that kept so much of what it was taken from is good to the last digit.
LEAST_SHARE = 2.0**-40
_SPLITTER = 134217729.0

ABSENT = -1
LATER = 2**63 - 1


@njit(cache=True)
def chain(group, many, first_row, last_row, last_many, row, previous_row, previous_many):
    """For each update: the row it makes, and row and number of copies that its group had before."""
    for i in range(group.size):
        which = group[i]
        previous_row[i] = last_row[which]
        previous_many[i] = last_many[which]
        row[i] = first_row + i if many[i] > 0 else ABSENT
        last_row[which] = row[i]
        last_many[which] = many[i]


@njit(cache=True)
def count_answers(instants, start, at, group, many, held, total):
    """How many rows the answers at these instants have; `held`, `total`: what was held before."""
    rows = 0
    update = start
    for j in range(instants.size):
        while update < at.size and at[update] <= instants[j]:
            total += many[update] - held[group[update]]
            held[group[update]] = many[update]
            update += 1
        rows += total
    return rows


@njit(cache=True)
def latest_update(instants, at, before, out):
    """For each instant the number of the last update not later; `before` comes before all."""
    update = 0
    for j in range(instants.size):
        while update < at.size and at[uint64(update)] <= instants[uint64(j)]:
            update += 1
        out[uint64(j)] = before + update


@njit(cache=True)
def list_answers(
    instants, at, group, many, row, held_many, held_row, active, place, size,
    out_instant, out_row, out_group,
):  # fmt: skip
    """Write the rows of the answers at these instants; all updates are used up.

    active lists the groups that are present, place says where in the list; size[0] is its length.
    """
    used = 0
    update = 0
    present = size[0]
    # Behind the last instant come the updates that the next answer will find done.
    for j in range(instants.size + 1):
        limit = instants[j] if j < instants.size else LATER
        while update < at.size and at[uint64(update)] <= limit:
            which = uint64(group[uint64(update)])
            copies = many[uint64(update)]
            held_row[which] = row[uint64(update)]
            before = held_many[which]
            held_many[which] = copies
            if before == 0 and copies > 0:
                active[uint64(present)] = which
                place[which] = present
                present += 1
            elif before > 0 and copies == 0:
                present -= 1
                moved = active[uint64(present)]
                active[uint64(place[which])] = moved
                place[uint64(moved)] = place[which]
            update += 1
        if j == instants.size:
            break
        for index in range(present):
            which = uint64(active[uint64(index)])
            for _ in range(held_many[which]):
                out_instant[uint64(used)] = j
                out_row[uint64(used)] = held_row[which]
                out_group[uint64(used)] = which
                used += 1
    size[0] = present


@njit(cache=True)
def add_up(updates, owner, tallies, extremes, last, totals, is_updated, updated, output):
    """Turn updates of a group in a shard into updates of groups, combined over shards.

    last[shard, group] is what each had before; is_updated, by group, is false. Updates are in
    time order; returns how many there are after those of one instant were merged. The structures
    are those of combine.py.
    """
    at, group, count, lanes, extras = updates
    last_count, last_lanes, last_extras = last
    total_count, total_lanes = totals
    out_at, out_group, out_count, out_lanes, out_extras = output
    used = 0
    waiting = 0
    shards = last_count.shape[0]
    for i in range(at.size):
        which = group[i]
        mine = owner[i]
        total_count[which] += count[i] - last_count[mine, which]
        last_count[mine, which] = count[i]
        for lane in range(lanes.shape[1]):
            total_lanes[which, lane] += lanes[i, lane] - last_lanes[mine, which, lane]
            last_lanes[mine, which, lane] = lanes[i, lane]
        for extra in range(extras.shape[1]):
            last_extras[mine, which, extra] = extras[i, extra]
        if not is_updated[which]:
            is_updated[which] = True
            updated[waiting] = which
            waiting += 1
        if i + 1 == at.size or at[i + 1] != at[i]:
            for index in range(waiting):
                which = updated[index]
                is_updated[which] = False
                out_at[used] = at[i]
                out_group[used] = which
                out_count[used] = total_count[which]
                for lane in range(lanes.shape[1]):
                    out_lanes[used, lane] = total_lanes[which, lane]
                for extra in range(extras.shape[1]):
                    out_extras[used, extra] = 0
                for shard in range(shards):
                    for tally in range(tallies):
                        out_extras[used, tally] += last_extras[shard, which, tally]
                    for extra in range(tallies, tallies + extremes):
                        flag = extra + extremes
                        if last_extras[shard, which, flag] == 0:
                            continue
                        rank = last_extras[shard, which, extra]
                        if out_extras[used, flag] == 0 or rank > out_extras[used, extra]:
                            out_extras[used, extra] = rank
                        out_extras[used, flag] = 1
                used += 1
            waiting = 0
    return used


@njit(cache=True)
def merge_order(at, starts, stops, order):
    """The stable order by time of several sorted runs of `at`."""
    heads = starts.copy()
    for index in range(order.size):
        best = -1
        for run in range(heads.size):
            if heads[run] < stops[run] and (best < 0 or at[heads[run]] < at[heads[best]]):
                best = run
        order[index] = heads[best]
        heads[best] += 1


@njit(cache=True)
def first_and_last(group, offset, first, last):
    """Note the first and the last update of each group; updates are numbered from `offset` on."""
    for i in range(group.size):
        which = group[i]
        if first[which] == ABSENT:
            first[which] = offset + i
        last[which] = offset + i


@njit(cache=True)
def is_increasing(numbers):
    """Whether every number is larger than the one before it."""
    for index in range(1, numbers.size):
        if numbers[index] <= numbers[index - 1]:
            return False
    return True


@njit(cache=True)
def quick_variances(values, squares, errors, low_limb, count, divisor, out, unsure):
    """(count * squares - values**2) / count / divisor in pairs of doubles; squares plus errors.

    A pair holds 106 bits. Where more than 40 of them cancel, or numbers are out of range, the row
    is flagged in `unsure` and nothing is written.
    """
    width = values.shape[1]
    exponent = LIMB_BITS * low_limb + LOWEST_BIT
    in_range = width <= MOST_LIMBS and -MOST_SHIFT <= exponent <= MOST_SHIFT
    work = np.empty(width, np.int64)
    shift = scale_by_power(1.0, -exponent) if in_range else 1.0
    for row in range(values.shape[0]):
        unsure[row] = not in_range
        if not in_range or count[row] == 0:
            out[row] = 0.0
            continue
        for limb in range(width):
            work[limb] = values[row, limb]
        total_high, total_low = pair_of_limbs(work)
        for limb in range(width):
            work[limb] = squares[row, limb] + errors[row, limb]
        square_high, square_low = pair_of_limbs(work)
        number = np.float64(count[row])
        left_high, left_low = times(square_high * shift, square_low * shift, number, 0.0)
        right_high, right_low = times(total_high, total_low, total_high, total_low)
        difference, rest = plus(left_high, left_low, -right_high, -right_low)
        unsure[row] = abs(difference) < LEAST_SHARE * left_high or count[row] >= 1 << 53
        quotient = (difference + rest) / number / np.float64(max(divisor[row], 1))
        out[row] = scale_by_power(quotient, 2 * exponent)


@njit(cache=True)
def pair_of_limbs(limbs):
    """Limbs as the sum of two doubles, in units of the lowest; the limbs are used up."""
    sign = carry_over(limbs)
    if sign < 0:
        for limb in range(limbs.size):
            limbs[limb] = -limbs[limb]
        carry_over(limbs)
    high = 0.0
    low = 0.0
    weight = 1.0
    for limb in range(limbs.size):
        high, low = plus(np.float64(limbs[limb]) * weight, 0.0, high, low)
        weight *= 4294967296.0
    return sign * high, sign * low


@njit(cache=True)
def plus(left_high, left_low, right_high, right_low):
    """The sum of two pairs of doubles."""
    total = left_high + right_high
    part = total - left_high
    error = (left_high - (total - part)) + (right_high - part)
    error += left_low + right_low
    high = total + error
    return high, error - (high - total)


@njit(cache=True)
def times(left_high, left_low, right_high, right_low):
    """The product of two pairs of doubles."""
    product = left_high * right_high
    split = _SPLITTER * left_high
    left_top = split - (split - left_high)
    left_rest = left_high - left_top
    split = _SPLITTER * right_high
    right_top = split - (split - right_high)
    right_rest = right_high - right_top
    error = left_top * right_top - product
    error += left_top * right_rest + left_rest * right_top
    error += left_rest * right_rest
    error += left_high * right_low + left_low * right_high
    high = product + error
    return high, error - (high - product)
