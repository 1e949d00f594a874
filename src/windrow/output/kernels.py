"""Loops over group updates: chaining states of a group, listing answers, adding up shards."""

from __future__ import annotations

from numpy import uint64

from windrow.compiling.kernels import njit

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
