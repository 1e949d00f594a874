"""Bottom: an array of nodes sorted by expiry, from whose head rows leave."""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.operators.expiry.ladder.rung_kernels import (
    BOTTOM_END,
    BOTTOM_FIRST,
    COUNTS,
    FEW_NODES,
    MOST_COUNT_BITS,
    MOST_MOVES,
    NEEDED_BOTTOM,
)
from windrow.operators.expiry.ladder.trunk_kernels import (
    BRANCH,
    EXPIRY,
    HEAD,
    ITEM,
    LAST,
    NEXT,
    NODE_COLUMNS,
    NODES,
    TRUNK_MASK,
    TRUNK_SHIFT,
    add_item,
    give_trunk,
)
from windrow.windows.kernels import EMPTY


@njit(cache=True)
def sort_into_bottom(bucket, start, width, trunks, links, buckets, bottom, control):
    """Move the nodes of a bucket into Bottom, which is empty and has room, in order of expiry.

    Nodes of equal expiry stay apart: they leave just so, and joining them would cost more.
    """
    node = np.int64(buckets[bucket, HEAD])
    nodes = np.int64(buckets[bucket, NODES])
    buckets[bucket, NODES] = 0
    is_counting = nodes > FEW_NODES and width > 1
    narrow = 0
    if is_counting:
        narrow = count_nodes(node, nodes, start, width, trunks, links, control)
    for end in range(nodes):
        target = uint64(end)
        if is_counting:
            entry = uint64(COUNTS + ((trunks[uint64(node), EXPIRY] - start) >> narrow))
            target = uint64(control[entry])
            control[entry] += 1
        for column in range(NODE_COLUMNS):
            bottom[target, column] = trunks[uint64(node), column]
        if (node & TRUNK_MASK) != TRUNK_MASK and end + 1 < nodes:
            node += 1
        else:
            node = give_trunk(node >> TRUNK_SHIFT, links, control) << TRUNK_SHIFT
    control[BOTTOM_END] = nodes
    if (narrow > 0 or not is_counting) and not insert_all(nodes, bottom):
        bottom[:nodes] = bottom[:nodes][np.argsort(bottom[:nodes, EXPIRY], kind="mergesort")]


@njit(cache=True)
def count_nodes(node, nodes, start, width, trunks, links, control):
    """Count the nodes of a trunk into about as many parts of its width.

    Leaves where each part begins in COUNTS; returns the bits of a part.
    """
    bits = 1
    while bits < MOST_COUNT_BITS and nodes >> bits != 0:
        bits += 1
    narrow = 0
    while (width - 1) >> narrow >> bits != 0:
        narrow += 1
    parts = ((width - 1) >> narrow) + 1
    control[COUNTS : COUNTS + parts + 1] = 0
    for count in range(1, nodes + 1):
        control[uint64(COUNTS + 1 + ((trunks[uint64(node), EXPIRY] - start) >> narrow))] += 1
        node += 1
        if (node & TRUNK_MASK) == 0 and count < nodes:
            node = np.int64(links[(node - 1) >> TRUNK_SHIFT, NEXT]) << TRUNK_SHIFT
    for entry in range(COUNTS, COUNTS + parts):
        control[entry + 1] += control[entry]
    return narrow


@njit(cache=True)
def insert_all(nodes, bottom):
    """Sort nodes that are nearly in order; gives up, in whatever order, if they are not."""
    moves = 0
    for end in range(1, nodes):
        expiry = bottom[end, EXPIRY]
        if bottom[end - 1, EXPIRY] <= expiry:
            continue
        item = bottom[end, ITEM]
        branch = bottom[end, BRANCH]
        last = bottom[end, LAST]
        place = end
        while place > 0 and bottom[place - 1, EXPIRY] > expiry:
            for column in range(NODE_COLUMNS):
                bottom[place, column] = bottom[place - 1, column]
            place -= 1
        bottom[place, EXPIRY] = expiry
        bottom[place, ITEM] = item
        bottom[place, BRANCH] = branch
        bottom[place, LAST] = last
        moves += end - place
        if moves > MOST_MOVES * nodes:
            return False
    return True


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
