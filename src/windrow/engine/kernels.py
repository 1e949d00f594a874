"""Loops over touches: chaining states of a group, listing answers, adding up shards."""

from __future__ import annotations

from numba import njit
from numpy import uint64

ABSENT = -1
LATER = 2**63 - 1


@njit(cache=True)
def chain(entity, many, first_row, last_row, last_many, row, previous_row, previous_many):
    """For each touch: the row it makes, and row and number of copies that its entity had before."""
    for i in range(entity.size):
        which = entity[i]
        previous_row[i] = last_row[which]
        previous_many[i] = last_many[which]
        row[i] = first_row + i if many[i] > 0 else ABSENT
        last_row[which] = row[i]
        last_many[which] = many[i]


@njit(cache=True)
def count_answers(instants, start, at, entity, many, held, total):
    """How many rows the answers at these instants have; `held`, `total`: what was held before."""
    rows = 0
    touch = start
    for j in range(instants.size):
        while touch < at.size and at[touch] <= instants[j]:
            total += many[touch] - held[entity[touch]]
            held[entity[touch]] = many[touch]
            touch += 1
        rows += total
    return rows


@njit(cache=True)
def latest_touch(instants, at, before, out):
    """For each instant the number of the last touch not later; `before` comes before all."""
    touch = 0
    for j in range(instants.size):
        while touch < at.size and at[uint64(touch)] <= instants[uint64(j)]:
            touch += 1
        out[uint64(j)] = before + touch


@njit(cache=True)
def list_answers(
    instants, at, entity, many, row, held_many, held_row, active, place, size,
    out_instant, out_row, out_entity,
):  # fmt: skip
    """Write the rows of the answers at these instants; all touches are used up.

    active lists the entities that are present, place says where in the list; size[0] is its length.
    """
    used = 0
    touch = 0
    present = size[0]
    # Behind the last instant come the touches that the next answer will find done.
    for j in range(instants.size + 1):
        limit = instants[j] if j < instants.size else LATER
        while touch < at.size and at[uint64(touch)] <= limit:
            which = uint64(entity[uint64(touch)])
            copies = many[uint64(touch)]
            held_row[which] = row[uint64(touch)]
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
            touch += 1
        if j == instants.size:
            break
        for index in range(present):
            which = uint64(active[uint64(index)])
            for _ in range(held_many[which]):
                out_instant[uint64(used)] = j
                out_row[uint64(used)] = held_row[which]
                out_entity[uint64(used)] = which
                used += 1
    size[0] = present


@njit(cache=True)
def add_up(
    at, entity, owner, count, lanes, extras, tallies, extremes, last_count, last_lanes, last_extras,
    total_count, total_lanes, touched_in, touched,
    out_at, out_entity, out_count, out_lanes, out_extras,
):  # fmt: skip
    """Turn touches of an entity in a shard into touches of entities, combined over shards.

    last_...[shard, entity] is what each had before. Touches are in time order; returns how many
    there are after those of one instant were merged.
    """
    used = 0
    waiting = 0
    shards = last_count.shape[0]
    for i in range(at.size):
        which = entity[i]
        mine = owner[i]
        total_count[which] += count[i] - last_count[mine, which]
        last_count[mine, which] = count[i]
        for lane in range(lanes.shape[1]):
            total_lanes[which, lane] += lanes[i, lane] - last_lanes[mine, which, lane]
            last_lanes[mine, which, lane] = lanes[i, lane]
        for extra in range(extras.shape[1]):
            last_extras[mine, which, extra] = extras[i, extra]
        if touched_in[which] != at[i]:
            touched_in[which] = at[i]
            touched[waiting] = which
            waiting += 1
        if i + 1 == at.size or at[i + 1] != at[i]:
            for index in range(waiting):
                which = touched[index]
                out_at[used] = at[i]
                out_entity[used] = which
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
def first_and_last(entity, offset, first, last):
    """Note the first and the last touch of each entity; touches are numbered from `offset` on."""
    for i in range(entity.size):
        which = entity[i]
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
