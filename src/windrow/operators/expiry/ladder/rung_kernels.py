"""Rungs: rows of buckets, each rung as wide as a bucket of the one above it.

Top is bucket 0; the buckets of a rung follow those of the rung above.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.operators.expiry.expiry_queue import EXPIRY_LIMIT
from windrow.operators.expiry.ladder.trunk_kernels import (
    BRANCH,
    BRANCH_ITEMS,
    EXPIRY,
    FILL_MASK,
    HEAD,
    ITEM,
    LAST,
    LINK,
    NODES,
    PREVIOUS,
    TAIL,
    TRUNK_CONTROL_ENTRIES,
    TRUNK_MASK,
    TRUNK_NODES,
    TRUNK_SHIFT,
    add_trunk,
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
END = 7  # where the rung above continues: the last bucket may reach further
SHIFT = 8  # bits of the width where that is a power of two, otherwise EMPTY
RUNG_COLUMNS = 9
# With a threshold of 2 a bucket of any width is one instant wide after this many rungs.
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
OPEN_PLACE = TOP_START + 9  # the item of the first of those chunks that leaves next
# What must be free before it can continue.
NEEDED_TRUNKS = TOP_START + 10
NEEDED_BRANCHES = TOP_START + 11
NEEDED_BUCKETS = TOP_START + 12
NEEDED_BOTTOM = TOP_START + 13
COUNTS = TOP_START + 14  # from here on: nodes of each bucket that Bottom is sorted by
MOST_COUNT_BITS = 10
CONTROL_ENTRIES = COUNTS + (1 << MOST_COUNT_BITS) + 1

LONG_AGO = -EXPIRY_LIMIT
# Nodes of Top for each bucket of the first rung.
NODES_A_BUCKET = 64
# So many at the most: the tails of more would not stay in the cache, which costs more than that
# buckets are spread a second time.
MOST_BUCKETS = 1024
# So many buckets at least, which keeps the end of the last one within 64 bits.
FEWEST_BUCKETS = 8
# Bottom becomes a rung when it has more nodes than this, and than the threshold.
LONG_BOTTOM = 64
# More nodes are counted before they are sorted by insertion.
FEW_NODES = 8
# So many moves a node at the most; then they are sorted in another way.
MOST_MOVES = 8
# One chunk per this many spread nodes is reserved for branches: enough if all are merged.
BRANCHES_SHARE = BRANCH_ITEMS


@njit(cache=True, forceinline=True)
def bucket_of(expiry, rung, rungs):
    """The bucket of a rung that an expiry falls into."""
    offset = uint64(expiry - rungs[rung, START])
    # A division would take longer than all else that is done for a row.
    if rungs[rung, SHIFT] != EMPTY:
        index = offset >> uint64(rungs[rung, SHIFT])
    else:
        index = offset // uint64(rungs[rung, WIDTH])
    return rungs[rung, FIRST_BUCKET] + np.int64(index)


@njit(cache=True)
def rounded_up(width):
    """The next power of two."""
    power = 1
    while power < width:
        power <<= 1
    return power


@njit(cache=True)
def shift_of(width):
    """The bits of a power of two; EMPTY for other numbers."""
    shift = 0
    while (width >> shift) & 1 == 0:
        shift += 1
    return shift if width >> shift == 1 else EMPTY


@njit(cache=True)
def has_room(more_buckets, nodes, look_back, links, branches, buckets, control):
    """Whether the nodes can be spread over that many more buckets; sets what is needed."""
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


@njit(cache=True)
def add_rung(start, end, width, buckets, rungs, control):
    """Put an empty rung below all others."""
    rung = control[RUNGS]
    first = control[BUCKETS_USED]
    count = (end - start - 1) // width + 1
    rungs[rung, START] = start
    rungs[rung, END] = end
    rungs[rung, WIDTH] = width
    rungs[rung, SHIFT] = shift_of(width)
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
    width = max(step, rounded_up(span // wanted + 1))
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
    made = 0
    while left > 0:
        # As in append_node: a call for each node would take longer than the work.
        expiry = trunks[node, EXPIRY]
        bucket = bucket_of(expiry, rung, rungs)
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
    """The rung advances to its next bucket."""
    rungs[rung, DRAINED] += 1
    rungs[rung, FROM] += rungs[rung, WIDTH]
