"""Loops for windows whose rows leave as others of their partition come, or stay away.

All take the rows that enter, from place `tail` to `stop`, and write events into `out`: at, row and
sign; `gone` gets the places of rows that are needed no more. Both in time order; `counts` has how
many. Rows of one partition are linked: first and last have the numbers (place + base) of the first
and the newest row of a partition, following that of the next one.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit

EMPTY = -1
FAR = np.int64(1) << np.int64(62)


@njit(cache=True)
def put(at, row, sign, out, counts):
    """One event."""
    place = counts[0]
    out[0, place] = at
    out[1, place] = row
    out[2, place] = sign
    counts[0] = place + 1


@njit(cache=True)
def drop(row, alive, gone, counts):
    """A row is needed no more."""
    alive[row] = False
    gone[counts[1]] = row
    counts[1] += 1


@njit(cache=True)
def join_session(row, times, partitions, base, links, following, since):
    """A row enters the open session of its partition, or begins one; since: when it began."""
    partition = partitions[row]
    newest = links[1, partition]
    if newest == EMPTY:
        links[0, partition] = row + base
        since[row] = times[row]
    else:
        following[newest - base] = row + base
        since[row] = since[newest - base]
    links[1, partition] = row + base


@njit(cache=True)
def open_sessions(
    times, partitions, tail, stop, base, gap, until, cursor, links, following, alive, since,
    only_newest, out, gone, counts,
):  # fmt: skip
    """Rows of sessions that are open: until more than the gap has passed since the newest row.

    cursor: the number of the next row that may turn out to have been the last of its session.
    only_newest: of each session only the newest row is there.
    """
    row = tail
    closing = cursor[0] - base
    while True:
        enter = times[row] if row < stop else FAR
        close = times[closing] + gap + 1 if closing < row else FAR
        if min(enter, close) > until:
            break
        if enter < close:
            newest = links[1, partitions[row]]
            join_session(row, times, partitions, base, links, following, since)
            alive[row] = True
            if only_newest and newest != EMPTY:
                put(enter, newest - base, -1, out, counts)
            put(enter, row, 1, out, counts)
            row += 1
            continue
        partition = partitions[closing]
        if alive[closing] and links[1, partition] == closing + base:
            each = links[0, partition] - base
            while True:
                if not only_newest or each == closing:
                    put(close, each, -1, out, counts)
                drop(each, alive, gone, counts)
                if each == closing:
                    break
                each = following[each] - base
            links[1, partition] = EMPTY
        closing += 1
    cursor[0] = closing + base


@njit(cache=True)
def closing_sessions(
    times, partitions, tail, stop, base, gap, until, cursor, links, following, alive, since,
    out, gone, counts,
):  # fmt: skip
    """Rows of sessions that close: all of them, at the instant of the end and at no other.

    Those of sessions that end at `until` are still there after it. Events are not in time order.
    """
    row = tail
    closing = cursor[0] - base
    while True:
        enter = times[row] if row < stop else FAR
        close = times[closing] + gap if closing < row else FAR
        if min(enter, close) > until:
            break
        if enter <= close:
            join_session(row, times, partitions, base, links, following, since)
            alive[row] = True
            row += 1
            continue
        partition = partitions[closing]
        if alive[closing] and links[1, partition] == closing + base:
            each = links[0, partition] - base
            while True:
                put(close, each, 1, out, counts)
                if close < until:
                    put(close + 1, each, -1, out, counts)
                    drop(each, alive, gone, counts)
                if each == closing:
                    break
                each = following[each] - base
            links[1, partition] = EMPTY
        closing += 1
    cursor[0] = closing + base


@njit(cache=True)
def ranges_of_partitions(
    times, partitions, tail, stop, base, length, links, following, alive, out, gone, counts
):
    """Of each partition the rows at most so much older than the newest one."""
    for row in range(tail, stop):
        partition = partitions[row]
        now = times[row]
        alive[row] = True
        if links[1, partition] == EMPTY:
            links[0, partition] = row + base
        else:
            following[links[1, partition] - base] = row + base
        links[1, partition] = row + base
        oldest = links[0, partition] - base
        while times[oldest] < now - length:
            put(now, oldest, -1, out, counts)
            drop(oldest, alive, gone, counts)
            oldest = following[oldest] - base
        links[0, partition] = oldest + base
        put(now, row, 1, out, counts)


@njit(cache=True)
def recent_of_partitions(
    times, partitions, tail, stop, base, length, rows, until, cursor, links, held, following, alive,
    out, gone, counts,
):  # fmt: skip
    """Of each partition the last rows, as long as they are not older than the length.

    cursor: the number of the next row that may be too old.
    """
    row = tail
    expiring = cursor[0] - base
    while True:
        enter = times[row] if row < stop else FAR
        expiry = times[expiring] + length + 1 if expiring < row else FAR
        if min(enter, expiry) > until:
            break
        if expiry <= enter:
            if alive[expiring]:
                partition = partitions[expiring]
                put(expiry, expiring, -1, out, counts)
                drop(expiring, alive, gone, counts)
                held[partition] -= 1
                if held[partition] > 0:
                    links[0, partition] = following[expiring]
            expiring += 1
            continue
        partition = partitions[row]
        alive[row] = True
        if held[partition] == 0:
            links[0, partition] = row + base
        else:
            following[links[1, partition] - base] = row + base
        links[1, partition] = row + base
        held[partition] += 1
        if held[partition] > rows:
            oldest = links[0, partition] - base
            put(enter, oldest, -1, out, counts)
            drop(oldest, alive, gone, counts)
            held[partition] -= 1
            links[0, partition] = following[oldest]
        put(enter, row, 1, out, counts)
        row += 1
    cursor[0] = expiring + base


@njit(cache=True)
def complete_rows(
    times, partitions, tail, stop, base, rows, links, held, following, alive, since, out, gone,
    counts,
):  # fmt: skip
    """Of each partition the newest rows that are as many as the window holds: all enter at once.

    links: of the rows that wait for others (first, newest), and the first of those shown, or EMPTY;
    held: how many wait; since: 1 for a row that is shown.
    """
    for row in range(tail, stop):
        partition = partitions[row]
        alive[row] = True
        since[row] = 0
        if held[partition] == 0:
            links[0, partition] = row + base
        else:
            following[links[1, partition] - base] = row + base
        links[1, partition] = row + base
        held[partition] += 1
        if held[partition] < rows:
            continue
        now = times[row]
        each = links[2, partition] - base
        for _ in range(rows if links[2, partition] != EMPTY else 0):
            put(now, each, -1, out, counts)
            drop(each, alive, gone, counts)
            each = following[each] - base
        each = links[0, partition] - base
        for _ in range(rows):
            put(now, each, 1, out, counts)
            since[each] = 1
            each = following[each] - base
        links[2, partition] = links[0, partition]
        held[partition] = 0
