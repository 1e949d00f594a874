"""The first rows of partitions in order, maintained by moving the end of a prefix.

A prefix is the first k copies of a partition: its last row, how many copies of this are inside, and
how many copies it has. Each row that enters before the end pushes others out, each that leaves lets
others in; what is behind the end costs its place in the tree only. The rows after an offset are the
difference of two prefixes.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import inlined, njit
from windrow.operators.relations.ordered_kernels import (
    EMPTY,
    FIRST,
    FOLLOWING,
    PREVIOUS,
    insert,
    is_before,
    recount,
    remove,
)

# Columns of `prefixes`.
NODE = 0
USED = 1
INSIDE = 2
PREFIX_COLUMNS = 3

NO_END = -1
BELOW_ZERO = -1


@njit(cache=True)
def top_changes(coded, tree, prefixes, lengths, net, seen, out):
    """Apply changes and write what follows, as (at, row, weight); returns (count, out).

    coded: at, weight, rows, partitions. prefixes[i, partition]: of the offset and of offset +
    limit; lengths[i]: how many copies each has, NO_END for all. net, seen: zeros for each row,
    and left so. BELOW_ZERO for a count: a row left more often than it was there.
    """
    at, weight, rows, partitions = coded
    written = 0
    begin = 0
    changed = np.empty(16, np.int32)
    while begin < at.size:
        end = begin + 1
        while end < at.size and at[end] == at[begin]:
            end += 1
        for place in range(begin, end):
            net[rows[place]] += weight[place]
        listed = 0
        for place in range(begin, end):
            row = rows[place]
            change = net[row]
            net[row] = 0
            if change == 0:
                continue
            if tree.counts[row] + change < 0:
                return BELOW_ZERO, out
            # The lists of one change may reach over many rows, where a weight is large.
            listed, changed = change_row(
                row, partitions[place], change, tree, prefixes, lengths, seen, listed, changed
            )
        if written + listed > out.shape[0]:
            out = grown(out, written + listed)
        for place in range(listed):
            row = changed[place]
            if seen[row, 1] != 0:
                out[written, 0] = at[begin]
                out[written, 1] = row
                out[written, 2] = seen[row, 1]
                written += 1
            seen[row, 0] = 0
            seen[row, 1] = 0
        begin = end
    return written, out


@njit(cache=True)
def grown(array, size):
    """The same with room for at least so many."""
    larger = np.empty((max(2 * array.shape[0], size), array.shape[1]), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@njit(cache=True)
def note(row, weight, seen, listed, changed):
    """Add to what has changed of a row in this instant."""
    if seen[row, 0] == 0:
        seen[row, 0] = 1
        if listed == changed.size:
            longer = np.empty(2 * changed.size, np.int32)
            longer[:listed] = changed
            changed = longer
        changed[listed] = row
        listed += 1
    seen[row, 1] += weight
    return listed, changed


@njit(cache=True)
def change_row(row, partition, change, tree, prefixes, lengths, seen, listed, changed):
    """Let copies of a row enter or leave."""
    counts = tree.counts
    held = counts[row]
    if change > 0:
        if held == 0:
            insert(row, partition, change, tree)
        else:
            recount(row, held + change, tree)
    for which in range(2):
        sign = 2 * which - 1
        length = lengths[which]
        if length == NO_END:
            listed, changed = note(row, sign * change, seen, listed, changed)
        elif length > 0:
            prefix = prefixes[which, partition]
            if change > 0:
                listed, changed = enter(
                    row, change, length, prefix, sign, tree, seen, listed, changed
                )
            else:
                inside = leave(row, -change, prefix, tree)
                if inside > 0:
                    listed, changed = note(row, -sign * inside, seen, listed, changed)
    if change < 0:
        if held + change == 0:
            remove(row, partition, tree)
        else:
            recount(row, held + change, tree)
        for which in range(2):
            if lengths[which] > 0:
                prefix = prefixes[which, partition]
                first = tree.heads[partition, FIRST]
                listed, changed = refill(
                    first, lengths[which], prefix, 2 * which - 1, tree, seen, listed, changed
                )
    return listed, changed


@njit(cache=True)
def enter(row, count, length, prefix, sign, tree, seen, listed, changed):
    """Copies of a row are in the tree now: those that belong there get into the prefix."""
    node = prefix[NODE]
    inside = count
    if prefix[INSIDE] == 0 or node == row or not is_before(row, node, tree.words):
        # Behind the end there is room only while the prefix is all that there is.
        inside = min(count, length - prefix[INSIDE])
        if inside == 0:
            return listed, changed
        prefix[USED] = inside + (prefix[USED] if node == row and prefix[INSIDE] > 0 else 0)
        prefix[NODE] = row
    prefix[INSIDE] += inside
    listed, changed = note(row, sign * inside, seen, listed, changed)
    while prefix[INSIDE] > length:
        gone = min(prefix[INSIDE] - length, prefix[USED])
        listed, changed = note(prefix[NODE], -sign * gone, seen, listed, changed)
        drop_copies(gone, prefix, tree)
    return listed, changed


@inlined
def leave(row, count, prefix, tree):
    """Copies of a row, which are in the tree still, get out of the prefix; returns how many."""
    if prefix[INSIDE] == 0:
        return 0
    node = prefix[NODE]
    if node == row:
        # Copies are equal: those outside go first.
        gone = max(0, count - (tree.counts[row] - prefix[USED]))
        if gone > 0:
            drop_copies(gone, prefix, tree)
        return gone
    if is_before(row, node, tree.words):
        prefix[INSIDE] -= count
        return count
    return 0


@inlined
def drop_copies(count, prefix, tree):
    """Move the end back by copies of the last row, as many as are inside at most."""
    prefix[INSIDE] -= count
    prefix[USED] -= count
    if prefix[USED] == 0:
        before = tree.links[prefix[NODE], PREVIOUS]
        prefix[NODE] = before
        prefix[USED] = tree.counts[before] if before != EMPTY else 0


@njit(cache=True)
def refill(first, length, prefix, sign, tree, seen, listed, changed):
    """Let rows from behind the end in, while there are any."""
    while prefix[INSIDE] < length:
        node = prefix[NODE] if prefix[INSIDE] > 0 else EMPTY
        if node == EMPTY:
            prefix[USED] = 0
            prefix[NODE] = first
            if first == EMPTY:
                break
        elif prefix[USED] == tree.counts[node]:
            following = tree.links[node, FOLLOWING]
            if following == EMPTY:
                break
            prefix[NODE] = following
            prefix[USED] = 0
        node = prefix[NODE]
        more = min(length - prefix[INSIDE], tree.counts[node] - prefix[USED])
        prefix[USED] += more
        prefix[INSIDE] += more
        listed, changed = note(node, sign * more, seen, listed, changed)
    return listed, changed
