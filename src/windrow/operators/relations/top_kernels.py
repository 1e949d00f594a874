"""The first rows of partitions in order, maintained by moving the end of a prefix.

A prefix is the first k copies of a partition: its last row, how many copies of this are inside, and
how many copies it has. Each row that enters before the end pushes others out, each that leaves lets
others in. The rows after an offset are the difference of two prefixes. Only a front that is a few
times as long as the longer prefix is in order; what is behind it is in a list (rest_kernels).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from windrow.compiling.kernels import inlined, njit
from windrow.operators.relations.ordered_kernels import (
    EMPTY,
    FIRST,
    FOLLOWING,
    PARENT,
    PREVIOUS,
    ROWS,
    grown,
    insert,
    is_before,
    recount,
    remove,
)
from windrow.operators.relations.rest_kernels import (
    BEHIND,
    FRONT,
    SIZE,
    belongs_behind,
    bring_forward,
    note_change,
    put_behind,
    shorten_front,
    take_from_behind,
)

# Columns of `prefixes`.
NODE = 0
USED = 1
INSIDE = 2
PREFIX_COLUMNS = 4

NO_END = -1
BELOW_ZERO = -1


class InstantChanges(NamedTuple):
    """What changes in one instant, by row; zeros between two.

    net: what comes in. shown: what goes out, of the rows listed in changed[:counters[0]], which are
    flagged in is_listed. room: for the rows of a partition.
    """

    net: np.ndarray
    shown: np.ndarray
    is_listed: np.ndarray
    changed: np.ndarray
    counters: np.ndarray
    room: np.ndarray


@njit(cache=True)
def top_changes(coded, tree, rests, shortest, prefixes, lengths, instant, out):
    """Apply changes and write what follows, as (at, row, weight); returns (count, out).

    coded: at, weight, rows, partitions. shortest: rows of a front, at least.
    prefixes[i, partition]: of the offset and of offset + limit; lengths[i]: how many copies each
    has, NO_END for all. BELOW_ZERO for a count: a row left more often than it was there.
    """
    at, weight, rows, partitions = coded
    net = instant.net
    written = 0
    begin = 0
    while begin < at.size:
        end = begin + 1
        while end < at.size and at[end] == at[begin]:
            end += 1
        for place in range(begin, end):
            net[rows[place]] += weight[place]
        for place in range(begin, end):
            row = rows[place]
            change = net[row]
            net[row] = 0
            if change == 0:
                continue
            if tree.counts[row] + change < 0:
                return BELOW_ZERO, out
            change_row(
                row, partitions[place], change, tree, rests, shortest, prefixes, lengths, instant
            )
        if written + instant.counters[0] > out.shape[0]:
            out = grown(out, written + instant.counters[0])
        written = drain(at[begin], instant, out, written)
        begin = end
    return written, out


@inlined
def drain(at, instant, out, written):
    """Write what has changed in the instant, and forget it; returns how many are written."""
    for place in range(instant.counters[0]):
        row = instant.changed[place]
        if instant.shown[row] != 0:
            out[written, 0] = at
            out[written, 1] = row
            out[written, 2] = instant.shown[row]
            written += 1
            instant.shown[row] = 0
        instant.is_listed[row] = 0
    instant.counters[0] = 0
    return written


@inlined
def note(row, weight, instant):
    """Add to what has changed of a row in this instant."""
    if instant.is_listed[row] == 0:
        instant.is_listed[row] = 1
        instant.changed[instant.counters[0]] = row
        instant.counters[0] += 1
    instant.shown[row] += weight


@inlined
def change_row(row, partition, change, tree, rests, shortest, prefixes, lengths, instant):
    """Let copies of a row enter or leave."""
    count = tree.counts[row] + change
    is_new = count == change
    note_change(partition, rests)
    if is_new and belongs_behind(row, partition, tree, rests):
        put_behind(row, partition, count, tree, rests)
    elif not is_new and tree.links[row, PARENT] == BEHIND:
        if count == 0:
            take_from_behind(row, partition, tree, rests)
        tree.counts[row] = count
    elif change > 0:
        enter_front(row, partition, change, tree, prefixes, lengths, instant)
        if tree.heads[partition, ROWS] > 2 * rests[partition, FRONT]:
            shorten_front(partition, shortest, tree, rests)
    else:
        leave_front(row, partition, change, tree, prefixes, lengths, instant)
        for which in range(2):
            if lengths[which] > 0:
                refill(partition, which, lengths, shortest, prefixes, tree, rests, instant)


@inlined
def enter_front(row, partition, change, tree, prefixes, lengths, instant):
    """Let copies of a row enter that are in the front or get there."""
    if tree.counts[row] == 0:
        tree.links[row, PARENT] = EMPTY
        insert(row, partition, change, tree)
    else:
        recount(row, tree.counts[row] + change, tree)
    for which in range(2):
        if lengths[which] == NO_END:
            note(row, (2 * which - 1) * change, instant)
        elif lengths[which] > 0:
            enter(row, partition, change, which, lengths, prefixes, tree, instant)


@inlined
def leave_front(row, partition, change, tree, prefixes, lengths, instant):
    """Let copies of a row of the front leave, and the prefixes be shorter."""
    count = tree.counts[row] + change
    for which in range(2):
        inside = -change
        if lengths[which] != NO_END:
            inside = leave(row, -change, prefixes[which], partition, tree)
        if inside > 0:
            note(row, (1 - 2 * which) * inside, instant)
    if count == 0:
        remove(row, partition, tree)
    else:
        recount(row, count, tree)


@inlined
def enter(row, partition, count, which, lengths, prefixes, tree, instant):
    """Copies of a row are in the tree now: those that belong there get into the prefix."""
    ends = prefixes[which]
    length = lengths[which]
    node = ends[partition, NODE]
    held = ends[partition, INSIDE]
    inside = count
    if held == 0 or node == row or not is_before(row, node, tree.first, tree.words):
        # Behind the end there is room only while the prefix is all that there is.
        inside = min(count, length - held)
        if inside == 0:
            return
        used = ends[partition, USED] if node == row and held > 0 else 0
        ends[partition, USED] = used + inside
        ends[partition, NODE] = row
    ends[partition, INSIDE] += inside
    sign = 2 * which - 1
    note(row, sign * inside, instant)
    while ends[partition, INSIDE] > length:
        gone = min(ends[partition, INSIDE] - length, ends[partition, USED])
        note(ends[partition, NODE], -sign * gone, instant)
        drop_copies(gone, ends, partition, tree)


@inlined
def leave(row, count, ends, partition, tree):
    """Copies of a row, which are in the tree still, get out of the prefix; returns how many."""
    if ends[partition, INSIDE] == 0:
        return 0
    node = ends[partition, NODE]
    if node == row:
        # Copies are equal: those outside go first.
        gone = max(0, count - (tree.counts[row] - ends[partition, USED]))
        if gone > 0:
            drop_copies(gone, ends, partition, tree)
        return gone
    if is_before(row, node, tree.first, tree.words):
        ends[partition, INSIDE] -= count
        return count
    return 0


@inlined
def drop_copies(count, ends, partition, tree):
    """Move the end back by copies of the last row, as many as are inside at most."""
    ends[partition, INSIDE] -= count
    ends[partition, USED] -= count
    if ends[partition, USED] == 0:
        before = tree.links[ends[partition, NODE], PREVIOUS]
        ends[partition, NODE] = before
        ends[partition, USED] = tree.counts[before] if before != EMPTY else 0


@inlined
def refill(partition, which, lengths, shortest, prefixes, tree, rests, instant):
    """Let rows from behind the end in, while there are any."""
    ends = prefixes[which]
    length = lengths[which]
    while ends[partition, INSIDE] < length:
        node = ends[partition, NODE] if ends[partition, INSIDE] > 0 else EMPTY
        if node == EMPTY:
            node = tree.heads[partition, FIRST]
            ends[partition, USED] = 0
        elif ends[partition, USED] == tree.counts[node]:
            node = tree.links[node, FOLLOWING]
            if node != EMPTY:
                ends[partition, USED] = 0
        if node == EMPTY and rests[partition, SIZE] == 0:
            break
        if node == EMPTY:
            bring_forward(partition, shortest, tree, rests, instant.room)
            continue
        ends[partition, NODE] = node
        more = min(length - ends[partition, INSIDE], tree.counts[node] - ends[partition, USED])
        ends[partition, USED] += more
        ends[partition, INSIDE] += more
        note(node, (2 * which - 1) * more, instant)
