"""Loops over group updates: chaining the states of a group, listing answers, pairing changes."""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit

ABSENT = -1
# Runs of updates of one instant up to this long are sorted by insertion.
SHORT_RUN = 32


@njit(cache=True)
def chain(group, many, next_row, last_row, row, previous_row):
    """For each update the row it makes, if it has copies, and the row that its group had before.

    Rows are numbered from next_row on; returns the number after the last.
    """
    for i in range(group.size):
        which = uint64(group[uint64(i)])
        previous_row[uint64(i)] = last_row[which]
        mine = ABSENT
        if many[uint64(i)] > 0:
            mine = next_row
            next_row += 1
        row[uint64(i)] = mine
        last_row[which] = mine
    return next_row


@njit(cache=True)
def count_answers(instants, at, group, row, held, total, counts):
    """How many rows the answer at each instant has; `held`, `total`: what was held before."""
    update = 0
    for j in range(instants.size):
        while update < at.size and at[uint64(update)] <= instants[uint64(j)]:
            which = uint64(group[uint64(update)])
            total += np.int64(row[uint64(update)] != ABSENT) - np.int64(held[which] != ABSENT)
            held[which] = row[uint64(update)]
            update += 1
        counts[uint64(j)] = total


@njit(cache=True)
def list_in_order(instants, at, group, row, ordered, held, out):
    """Write the rows of the answers at these instants; groups come as they are ordered.

    held: the row of each group, which moves on over all updates. Takes a look at every group at
    every instant.
    """
    used = 0
    update = 0
    for j in range(instants.size):
        while update < at.size and at[uint64(update)] <= instants[uint64(j)]:
            held[uint64(group[uint64(update)])] = row[uint64(update)]
            update += 1
        for place in range(ordered.size):
            found = held[uint64(ordered[uint64(place)])]
            if found != ABSENT:
                out[uint64(used)] = found
                used += 1
    for rest in range(update, at.size):
        held[uint64(group[uint64(rest)])] = row[uint64(rest)]


@njit(cache=True)
def list_present(instants, at, group, row, held, active, place, present, out, out_group):
    """The same where few of the groups are there at a time: rows and groups, not in order.

    active lists the groups that are present, place says where in the list; present: how many.
    """
    used = 0
    update = 0
    for j in range(instants.size):
        while update < at.size and at[uint64(update)] <= instants[uint64(j)]:
            which = uint64(group[uint64(update)])
            before = held[which]
            now = row[uint64(update)]
            held[which] = now
            if before == ABSENT and now != ABSENT:
                active[uint64(present)] = which
                place[which] = present
                present += 1
            elif before != ABSENT and now == ABSENT:
                present -= 1
                moved = active[uint64(present)]
                active[uint64(place[which])] = moved
                place[uint64(moved)] = place[which]
            update += 1
        for index in range(present):
            which = uint64(active[uint64(index)])
            out[uint64(used)] = held[which]
            out_group[uint64(used)] = which
            used += 1
    for rest in range(update, at.size):
        held[uint64(group[uint64(rest)])] = row[uint64(rest)]


@njit(cache=True)
def order_in_instants(at, rank, ranks, order):
    """The order of updates by instant, within one by rank; they are in order of instants already.

    ranks: all of them are below. Short runs of one instant are sorted by insertion; where there is
    a long one, all are distributed by rank and then by instant.
    """
    run = 0
    longest = 0
    for i in range(at.size):
        order[uint64(i)] = i
        if i > 0 and at[uint64(i)] != at[uint64(i - 1)]:
            run = i
        longest = max(longest, i - run)
        if longest > SHORT_RUN:
            break
        hole = i
        mine = rank[uint64(i)]
        while hole > run and rank[uint64(order[uint64(hole - 1)])] > mine:
            order[uint64(hole)] = order[uint64(hole - 1)]
            hole -= 1
        order[uint64(hole)] = i
    if longest <= SHORT_RUN:
        return
    starts = np.zeros(ranks + 1, np.int64)
    for i in range(at.size):
        starts[uint64(rank[uint64(i)] + 1)] += 1
    for i in range(ranks):
        starts[uint64(i + 1)] += starts[uint64(i)]
    by_rank = np.empty(at.size, np.int64)
    for i in range(at.size):
        mine = uint64(rank[uint64(i)])
        by_rank[uint64(starts[mine])] = i
        starts[mine] += 1
    first = np.empty(at.size, np.int64)
    free = np.empty(at.size, np.int64)
    run = 0
    for i in range(at.size):
        if i > 0 and at[uint64(i)] != at[uint64(i - 1)]:
            run = i
        first[uint64(i)] = run
        free[uint64(i)] = i
    for i in range(at.size):
        mine = by_rank[uint64(i)]
        run = uint64(first[uint64(mine)])
        order[uint64(free[run])] = mine
        free[run] += 1


@njit(cache=True)
def pair_up(at, row, previous_row, order, out_at, out_row, out_sign, is_second):
    """The rows that go and come by updates, in that order; returns how many.

    order: which update is the next, none for the order that they are in. is_second: whether a row
    comes in the place of the one before it.
    """
    used = 0
    for j in range(at.size):
        i = uint64(order[uint64(j)] if order.size else j)
        before = previous_row[i]
        now = row[i]
        if before != ABSENT:
            out_at[uint64(used)] = at[i]
            out_row[uint64(used)] = before
            out_sign[uint64(used)] = -1
            is_second[uint64(used)] = False
            used += 1
        if now != ABSENT:
            out_at[uint64(used)] = at[i]
            out_row[uint64(used)] = now
            out_sign[uint64(used)] = 1
            is_second[uint64(used)] = before != ABSENT
            used += 1
    return used


@njit(cache=True)
def gather_states(numbers, group, row_count, lanes, extras, out):
    """States of these numbers, in arrays as they come in."""
    out_group, out_count, out_lanes, out_extras = out
    for i in range(numbers.size):
        number = uint64(numbers[uint64(i)])
        out_group[uint64(i)] = group[number]
        out_count[uint64(i)] = row_count[number]
        for lane in range(lanes.shape[1]):
            out_lanes[uint64(i), uint64(lane)] = lanes[number, uint64(lane)]
        for extra in range(extras.shape[1]):
            out_extras[uint64(i), uint64(extra)] = extras[number, uint64(extra)]


@njit(cache=True)
def first_and_last(group, offset, first, last):
    """Note the first and the last update of each group; updates are numbered from `offset` on."""
    for i in range(group.size):
        which = group[i]
        if first[which] == ABSENT:
            first[which] = offset + i
        last[which] = offset + i


@njit(cache=True)
def mark_used(numbers, used):
    """Flag the numbers that are named, ABSENT ones left out."""
    for i in range(numbers.size):
        if numbers[uint64(i)] != ABSENT:
            used[uint64(numbers[uint64(i)])] = 1


@njit(cache=True)
def number_used(used, new_number, kept):
    """Number what is flagged in its order, and list it; returns how many there are."""
    count = 0
    for number in range(used.size):
        new_number[uint64(number)] = count
        kept[uint64(count)] = number
        count += used[uint64(number)]
    return count


@njit(cache=True)
def rename(numbers, new_number, out):
    """The new numbers of numbers; ABSENT stays."""
    for i in range(numbers.size):
        number = numbers[uint64(i)]
        out[uint64(i)] = new_number[uint64(number)] if number != ABSENT else number
