"""Bottom: an array of nodes sorted by expiry, from whose head rows leave."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.results.ladder.rungs.kernels import (
    BOTTOM_END,
    BOTTOM_FIRST,
    COUNTED_WIDTH,
    FEW_NODES,
    NEEDED_BOTTOM,
)
from windrow.results.ladder.trunks.kernels import (
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
