"""Loops over updates: finding the latest one, adding up shards, merging their orders."""

from __future__ import annotations

from numpy import uint64

from windrow.compiling.kernels import njit


@njit(cache=True)
def latest_update(instants, at, before, out):
    """For each instant the number of the last update not later; `before` comes before all."""
    update = 0
    for j in range(instants.size):
        while update < at.size and at[uint64(update)] <= instants[uint64(j)]:
            update += 1
        out[uint64(j)] = before + update


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
def is_increasing(numbers):
    """Whether every number is larger than the one before it."""
    for index in range(1, numbers.size):
        if numbers[index] <= numbers[index - 1]:
            return False
    return True
