"""Ladder queues: Top, rungs of buckets and Bottom, with branch lists for equal expiries or without.

Purpose: rows with expiries of any kind, many of them equal.
Needs: rows that expire after the last dequeue (overdue ones are kept elsewhere).
Time: O(1) a row, amortised. Space: 32 bytes a trunk node, 64 for seven more rows of its expiry.
Source: paper 4; without branches Tang, Goh, Thng (2005), from whom we have it that a Bottom grown
too long becomes a rung.

Top is bucket 0; the buckets of a rung follow those of the rung above. Bottom is an array of nodes,
sorted; nodes move from list to list, and take their branches along. A `look_back` of 0 means that
there are no branches.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy import uint64

from windrow.results.expiry_queue import EXPIRY_LIMIT
from windrow.results.ladder.trunks.kernels import (
    BRANCH,
    BRANCH_ITEMS,
    EXPIRY,
    FILL_MASK,
    HEAD,
    ITEM,
    LAST,
    LINK,
    NEXT,
    NODE_COLUMNS,
    NODES,
    PREVIOUS,
    TAIL,
    TRUNK_CONTROL_ENTRIES,
    TRUNK_MASK,
    TRUNK_NODES,
    TRUNK_SHIFT,
    add_item,
    add_trunk,
    append_node,
    give_branch,
    give_trunk,
    merge,
    spare_branches,
    spare_trunks,
)
from windrow.windows.kernels import EMPTY

TOP = 0  # the bucket

# Columns of `rungs`.
START = 0  # RS of the paper
WIDTH = 1  # BkWd
DRAINED = 2  # buckets that were drained
FROM = 3  # RC: the smallest expiry that the rung takes
FIRST_BUCKET = 4
BUCKETS = 5
RUNG_NODES = 6
END = 7  # where the rung above goes on: the last bucket may reach further
RUNG_COLUMNS = 8
# With a threshold of 2 a bucket of any width is one instant wide after so many rungs.
MOST_RUNGS = 64

# Entries of `control`, behind those of the trunks.
TOP_START = TRUNK_CONTROL_ENTRIES  # TopST: what expires at or after it enters Top
TOP_MIN = TOP_START + 1
TOP_MAX = TOP_START + 2
RUNGS = TOP_START + 3
BUCKETS_USED = TOP_START + 4
BOTTOM_FIRST = TOP_START + 5
BOTTOM_END = TOP_START + 6
OPEN_BRANCH = TOP_START + 7  # of the node that was given out last: chunks still to go
OPEN_EXPIRY = TOP_START + 8
# What must be at hand before it can go on.
NEEDED_TRUNKS = TOP_START + 9
NEEDED_BRANCHES = TOP_START + 10
NEEDED_BUCKETS = TOP_START + 11
NEEDED_BOTTOM = TOP_START + 12
CONTROL_ENTRIES = TOP_START + 13

LONG_AGO = -EXPIRY_LIMIT
# Nodes of Top for each bucket of the first rung.
NODES_A_BUCKET = 8
# So many at the most: the tails of more would not stay in the cache, which costs more than that
# buckets are spread a second time.
MOST_BUCKETS = 1024
# So many buckets at least, which keeps the end of the last one within 64 bits.
FEWEST_BUCKETS = 8
# Bottom becomes a rung when it has more nodes than this, and than the threshold.
LONG_BOTTOM = 64
# Up to so many nodes are sorted by insertion, more of them by counting where a bucket is not wider
# than so many instants a node.
FEW_NODES = 16
COUNTED_WIDTH = 8


@njit(cache=True)
def insert_rows(
    start, passed, look_back, threshold, expiries, items,
    trunks, links, branches, buckets, rungs, bottom, control,
):  # fmt: skip
    """Put rows where they belong; returns how far it came: there may be no room."""
    row = start
    top_start = control[TOP_START]
    while row < expiries.size:
        expiry = expiries[row]
        bucket = np.int64(TOP)
        rung = np.int64(EMPTY)
        if expiry < top_start:
            rung = np.int64(0)
            while rung < control[RUNGS] and expiry < rungs[rung, FROM]:
                rung += 1
            bucket = np.int64(EMPTY)
            if rung < control[RUNGS]:
                bucket = bucket_of(expiry, rung, rungs)
        if bucket != EMPTY:
            nodes = np.int64(buckets[bucket, NODES])
            node = np.int64(buckets[bucket, TAIL])
            seen = node
            equal = np.int64(EMPTY)
            for _ in range(min(look_back, nodes)):
                if trunks[seen, EXPIRY] == expiry:
                    equal = seen
                    break
                if (seen & TRUNK_MASK) == 0:
                    chunk = np.int64(links[seen >> TRUNK_SHIFT, PREVIOUS])
                    seen = (chunk << TRUNK_SHIFT) + TRUNK_NODES
                seen -= 1
            if equal != EMPTY:
                last = trunks[equal, LAST]
                if last != EMPTY and (branches[last, LINK] & FILL_MASK) != BRANCH_ITEMS:
                    branches[last, branches[last, LINK] & FILL_MASK] = items[row]
                    branches[last, LINK] += 1
                elif spare_branches(branches, control) > 0:
                    add_item(trunks, equal, items[row], branches, control)
                else:
                    control[NEEDED_BRANCHES] = 1
                    return row
                row += 1
                continue
            node += 1
            if (nodes & TRUNK_MASK) == 0:
                if spare_trunks(links, control) == 0:
                    control[NEEDED_TRUNKS] = 1
                    return row
                node = add_trunk(bucket, links, buckets, control)
            trunks[node, EXPIRY] = expiry
            trunks[node, ITEM] = items[row]
            trunks[node, BRANCH] = EMPTY
            trunks[node, LAST] = EMPTY
            buckets[bucket, TAIL] = node
            buckets[bucket, NODES] = nodes + 1
            row += 1
            if rung != EMPTY:
                rungs[rung, RUNG_NODES] += 1
            else:
                control[TOP_MIN] = min(control[TOP_MIN], expiry)
                control[TOP_MAX] = max(control[TOP_MAX], expiry)
            continue
        if spare_branches(branches, control) == 0:
            control[NEEDED_BRANCHES] = 1
            return row
        nodes = control[BOTTOM_END] - control[BOTTOM_FIRST]
        if nodes > LONG_BOTTOM and nodes > threshold:
            end = rungs[control[RUNGS] - 1, FROM]
            is_spread = (
                bottom[control[BOTTOM_FIRST], EXPIRY] != bottom[control[BOTTOM_END] - 1, EXPIRY]
            )
            if is_spread and end - passed > 2 and control[RUNGS] < MOST_RUNGS:
                width = (end - passed - 2) // threshold + 1
                if not has_room(threshold, nodes, look_back, links, branches, buckets, control):
                    return row
                add_rung(passed + 1, end, width, buckets, rungs, control)
                rung = control[RUNGS] - 1
                for place in range(control[BOTTOM_FIRST], control[BOTTOM_END]):
                    rungs[rung, RUNG_NODES] += append_node(
                        bucket_of(bottom[place, EXPIRY], rung, rungs), bottom, place, look_back,
                        trunks, links, branches, buckets, control,
                    )  # fmt: skip
                control[BOTTOM_FIRST] = 0
                control[BOTTOM_END] = 0
                continue
        if control[BOTTOM_END] == bottom.shape[0] and not shift_bottom(bottom, control):
            return row
        insert_bottom(expiry, items[row], look_back, branches, bottom, control)
        row += 1
    return row


@njit(cache=True)
def remove_rows(
    until, look_back, threshold, step,
    trunks, links, branches, buckets, rungs, bottom, control, out_expiries, out_items,
):  # fmt: skip
    """Take out what has expired; returns how many rows, and whether that was all.

    It may stop for want of room in the output or, with a NEEDED_ set, in the arrays.
    """
    count = 0
    while True:
        chunk = control[OPEN_BRANCH]
        while chunk != EMPTY:
            fill = branches[chunk, LINK] & FILL_MASK
            if count + fill > out_expiries.size:
                control[OPEN_BRANCH] = chunk
                return count, False
            for place in range(fill):
                out_expiries[count + place] = control[OPEN_EXPIRY]
                out_items[count + place] = branches[chunk, place]
            count += fill
            chunk = give_branch(chunk, branches, control)
        control[OPEN_BRANCH] = EMPTY
        first = control[BOTTOM_FIRST]
        end = control[BOTTOM_END]
        branch = np.int64(EMPTY)
        while first < end and branch == EMPTY and bottom[first, EXPIRY] <= until:
            if count == out_expiries.size:
                control[BOTTOM_FIRST] = first
                return count, False
            out_expiries[count] = bottom[first, EXPIRY]
            out_items[count] = bottom[first, ITEM]
            count += 1
            branch = bottom[first, BRANCH]
            first += 1
        control[BOTTOM_FIRST] = first
        if branch != EMPTY:
            control[OPEN_BRANCH] = branch
            control[OPEN_EXPIRY] = bottom[first - 1, EXPIRY]
            continue
        if first < end:
            return count, True
        control[BOTTOM_FIRST] = 0
        control[BOTTOM_END] = 0
        if control[RUNGS] == 0:
            # Nothing is sorted: Top may take whatever comes.
            control[TOP_START] = LONG_AGO
            if buckets[TOP, NODES] == 0 or control[TOP_MIN] > until:
                return count, True
            if not open_top(look_back, step, trunks, links, branches, buckets, rungs, control):
                return count, False
            continue
        rung = control[RUNGS] - 1
        bucket = next_bucket(until, rung, buckets, rungs)
        if bucket == EMPTY:
            if rungs[rung, DRAINED] < rungs[rung, BUCKETS]:
                return count, True
            control[RUNGS] = rung
            control[BUCKETS_USED] = rungs[rung, FIRST_BUCKET]
            continue
        nodes = np.int64(buckets[bucket, NODES])
        width = rungs[rung, WIDTH]
        if nodes > threshold and width > 1 and rung + 1 < MOST_RUNGS:
            if not has_room(threshold, nodes, look_back, links, branches, buckets, control):
                return count, False
            finer = (width - 1) // threshold + 1
            lowest = rungs[rung, FROM]
            add_rung(lowest, min(lowest + width, rungs[rung, END]), finer, buckets, rungs, control)
            spread(bucket, rung + 1, look_back, trunks, links, branches, buckets, rungs, control)
        else:
            if nodes > bottom.shape[0]:
                control[NEEDED_BOTTOM] = nodes
                return count, False
            start = rungs[rung, FROM]
            sort_into_bottom(bucket, start, width, trunks, links, buckets, bottom, control)
        rungs[rung, RUNG_NODES] -= nodes
        drain_bucket(rung, rungs)


@njit(cache=True, forceinline=True)
def bucket_of(expiry, rung, rungs):
    """The bucket of a rung that an expiry falls into."""
    # Unsigned, for signed division also looks after signs.
    index = uint64(expiry - rungs[rung, START]) // uint64(rungs[rung, WIDTH])
    return rungs[rung, FIRST_BUCKET] + np.int64(index)


@njit(cache=True)
def has_room(more_buckets, nodes, look_back, links, branches, buckets, control):
    """Whether so many nodes can be spread over so many more buckets; sets what is needed."""
    trunks_needed = min(nodes, more_buckets) + nodes // TRUNK_NODES + 1
    branches_needed = nodes // BRANCHES_SHARE if look_back > 0 else 0
    buckets_needed = control[BUCKETS_USED] + more_buckets
    control[NEEDED_TRUNKS] = trunks_needed
    control[NEEDED_BRANCHES] = branches_needed
    control[NEEDED_BUCKETS] = buckets_needed
    return (
        spare_trunks(links, control) >= trunks_needed
        and spare_branches(branches, control) >= branches_needed
        and buckets.shape[0] >= buckets_needed
    )


# Of nodes that are spread one in so many finds a chunk for a branch: enough if all are merged.
BRANCHES_SHARE = 7


@njit(cache=True)
def add_rung(start, end, width, buckets, rungs, control):
    """Put an empty rung below all others."""
    rung = control[RUNGS]
    first = control[BUCKETS_USED]
    count = (end - start - 1) // width + 1
    rungs[rung, START] = start
    rungs[rung, END] = end
    rungs[rung, WIDTH] = width
    rungs[rung, DRAINED] = 0
    rungs[rung, FROM] = start
    rungs[rung, FIRST_BUCKET] = first
    rungs[rung, BUCKETS] = count
    rungs[rung, RUNG_NODES] = 0
    for bucket in range(first, first + count):
        buckets[bucket, NODES] = 0
    control[BUCKETS_USED] = first + count
    control[RUNGS] = rung + 1


@njit(cache=True)
def open_top(look_back, step, trunks, links, branches, buckets, rungs, control):
    """Make the first rung of all that is in Top; returns whether there was room."""
    nodes = np.int64(buckets[TOP, NODES])
    span = control[TOP_MAX] - control[TOP_MIN]
    # A step far below the distance of nodes would make buckets without nodes, and many.
    wanted = min(max(nodes // NODES_A_BUCKET, FEWEST_BUCKETS), MOST_BUCKETS)
    width = max(step, span // wanted + 1)
    if not has_room(span // width + 2, nodes, look_back, links, branches, buckets, control):
        return False
    control[TOP_START] = control[TOP_MAX] + width
    add_rung(control[TOP_MIN], control[TOP_START], width, buckets, rungs, control)
    spread(TOP, 0, look_back, trunks, links, branches, buckets, rungs, control)
    control[TOP_MIN] = -LONG_AGO
    control[TOP_MAX] = LONG_AGO
    return True


@njit(cache=True)
def spread(source, rung, look_back, trunks, links, branches, buckets, rungs, control):
    """Move all nodes of a bucket into those of a rung."""
    node = np.int64(buckets[source, HEAD])
    left = np.int64(buckets[source, NODES])
    buckets[source, NODES] = 0
    start = rungs[rung, START]
    width = uint64(rungs[rung, WIDTH])
    first = rungs[rung, FIRST_BUCKET]
    made = 0
    while left > 0:
        # As in append_node: a call for each node would take longer than the work.
        expiry = trunks[node, EXPIRY]
        bucket = first + np.int64(uint64(expiry - start) // width)
        nodes = np.int64(buckets[bucket, NODES])
        target = np.int64(buckets[bucket, TAIL])
        seen = target
        equal = np.int64(EMPTY)
        for _ in range(min(look_back, nodes)):
            if trunks[seen, EXPIRY] == expiry:
                equal = seen
                break
            if (seen & TRUNK_MASK) == 0:
                chunk = np.int64(links[seen >> TRUNK_SHIFT, PREVIOUS])
                seen = (chunk << TRUNK_SHIFT) + TRUNK_NODES
            seen -= 1
        if equal != EMPTY and spare_branches(branches, control) > 0:
            last = trunks[equal, LAST]
            is_full = last == EMPTY or (branches[last, LINK] & FILL_MASK) == BRANCH_ITEMS
            if is_full or trunks[node, BRANCH] != EMPTY:
                merge(trunks, equal, trunks, node, branches, control)
            else:
                branches[last, branches[last, LINK] & FILL_MASK] = trunks[node, ITEM]
                branches[last, LINK] += 1
        else:
            target += 1
            if (nodes & TRUNK_MASK) == 0:
                target = add_trunk(bucket, links, buckets, control)
            trunks[target, EXPIRY] = expiry
            trunks[target, ITEM] = trunks[node, ITEM]
            trunks[target, BRANCH] = trunks[node, BRANCH]
            trunks[target, LAST] = trunks[node, LAST]
            buckets[bucket, TAIL] = target
            buckets[bucket, NODES] = nodes + 1
            made += 1
        left -= 1
        if (node & TRUNK_MASK) != TRUNK_MASK and left > 0:
            node += 1
        else:
            node = give_trunk(node >> TRUNK_SHIFT, links, control) << TRUNK_SHIFT
    rungs[rung, RUNG_NODES] += made


@njit(cache=True)
def next_bucket(until, rung, buckets, rungs):
    """The first bucket of the rung with nodes that may have expired; EMPTY when there is none."""
    if rungs[rung, RUNG_NODES] == 0:
        if rungs[rung, END] <= until + 1:
            rungs[rung, DRAINED] = rungs[rung, BUCKETS]
        return EMPTY
    while rungs[rung, DRAINED] < rungs[rung, BUCKETS]:
        bucket = rungs[rung, FIRST_BUCKET] + rungs[rung, DRAINED]
        if rungs[rung, FROM] > until:
            return EMPTY
        if buckets[bucket, NODES] > 0:
            return bucket
        # A bucket that the instant lies in still takes rows: past it they would go to Bottom.
        if rungs[rung, FROM] + rungs[rung, WIDTH] > until + 1:
            return EMPTY
        drain_bucket(rung, rungs)
    return EMPTY


@njit(cache=True, forceinline=True)
def drain_bucket(rung, rungs):
    """The rung goes on to its next bucket."""
    rungs[rung, DRAINED] += 1
    rungs[rung, FROM] += rungs[rung, WIDTH]


@njit(cache=True)
def sort_into_bottom(bucket, start, width, trunks, links, buckets, bottom, control):
    """Move the nodes of a bucket into Bottom, which is empty and has room, in order of expiry.

    Nodes of equal expiry stay apart: they leave just so, and joining them would cost more.
    """
    node = np.int64(buckets[bucket, HEAD])
    nodes = np.int64(buckets[bucket, NODES])
    buckets[bucket, NODES] = 0
    is_counting = nodes > FEW_NODES and width // COUNTED_WIDTH <= nodes
    is_inserting = width > 1 and nodes <= FEW_NODES
    ends = np.zeros(width + 1 if is_counting else 1, np.int64)
    if is_counting:
        seen = node
        for count in range(1, nodes + 1):
            ends[trunks[seen, EXPIRY] - start + 1] += 1
            seen += 1
            if (seen & TRUNK_MASK) == 0 and count < nodes:
                seen = np.int64(links[(seen - 1) >> TRUNK_SHIFT, NEXT]) << TRUNK_SHIFT
        for offset in range(1, width + 1):
            ends[offset] += ends[offset - 1]
    for end in range(nodes):
        expiry = trunks[node, EXPIRY]
        target = end
        if is_counting:
            target = ends[expiry - start]
            ends[expiry - start] = target + 1
        elif is_inserting:
            while target > 0 and bottom[target - 1, EXPIRY] > expiry:
                for column in range(NODE_COLUMNS):
                    bottom[target, column] = bottom[target - 1, column]
                target -= 1
        for column in range(NODE_COLUMNS):
            bottom[target, column] = trunks[node, column]
        if (node & TRUNK_MASK) != TRUNK_MASK and end + 1 < nodes:
            node += 1
        else:
            node = give_trunk(node >> TRUNK_SHIFT, links, control) << TRUNK_SHIFT
    control[BOTTOM_END] = nodes
    if not is_counting and not is_inserting and width > 1:
        bottom[:nodes] = bottom[:nodes][np.argsort(bottom[:nodes, EXPIRY], kind="mergesort")]


@njit(cache=True)
def insert_bottom(expiry, item, look_back, branches, bottom, control):
    """Put a row into Bottom, its place looked for from the tail; there is room."""
    end = control[BOTTOM_END]
    place = end
    while place > control[BOTTOM_FIRST] and bottom[place - 1, EXPIRY] > expiry:
        place -= 1
    has_equal = place > control[BOTTOM_FIRST] and bottom[place - 1, EXPIRY] == expiry
    if look_back > 0 and has_equal:
        add_item(bottom, place - 1, item, branches, control)
        return
    for moved in range(end, place, -1):
        for column in range(NODE_COLUMNS):
            bottom[moved, column] = bottom[moved - 1, column]
    bottom[place, EXPIRY] = expiry
    bottom[place, ITEM] = item
    bottom[place, BRANCH] = EMPTY
    bottom[place, LAST] = EMPTY
    control[BOTTOM_END] = end + 1


@njit(cache=True)
def shift_bottom(bottom, control):
    """Move Bottom to the begin of its array; returns whether that made room."""
    first = control[BOTTOM_FIRST]
    if 2 * first < bottom.shape[0]:
        control[NEEDED_BOTTOM] = bottom.shape[0] + 1
        return False
    for place in range(first, control[BOTTOM_END]):
        for column in range(NODE_COLUMNS):
            bottom[place - first, column] = bottom[place, column]
    control[BOTTOM_FIRST] = 0
    control[BOTTOM_END] -= first
    return True
