"""Trunks and branches: lists of nodes in chunks, each node with the rows of one expiry.

A node is a row of four words: its EXPIRY, the ITEM of its first row, and the first (BRANCH) and the
last (LAST) chunk of its other rows. A chunk of a branch has seven items and a word that says how
many of them are there and which chunk follows. A chunk of a trunk has four nodes; `links` chains
the chunks both ways. A bucket names the trunk of its nodes.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy import uint64

from windrow.windows.kernels import EMPTY

# Columns of a node.
EXPIRY = 0
ITEM = 1
BRANCH = 2
LAST = 3
NODE_COLUMNS = 4

# A chunk of a branch is a line of the cache; its last word is the next chunk and the fill.
BRANCH_ITEMS = 7
LINK = 7
BRANCH_COLUMNS = 8
FILL_BITS = 3
FILL_MASK = 7

TRUNK_NODES = 4
# Columns of `links`.
NEXT = 0
PREVIOUS = 1
LINK_COLUMNS = 2

# Columns of `buckets`.
HEAD = 0
TAIL = 1
FILL = 2  # nodes of the last chunk
NODES = 3
BUCKET_COLUMNS = 4

# The first entries of `control`: free chunks are chained by LINK and by NEXT.
FIRST_FREE_BRANCH = 0
FRESH_BRANCH = 1
FREE_BRANCHES = 2
FIRST_FREE_TRUNK = 3
FRESH_TRUNK = 4
FREE_TRUNKS = 5
TRUNK_CONTROL_ENTRIES = 6


@njit(cache=True, forceinline=True)
def spare_branches(branches, control):
    """Chunks of branches at hand."""
    return control[FREE_BRANCHES] + branches.shape[0] - control[FRESH_BRANCH]


@njit(cache=True, forceinline=True)
def spare_trunks(links, control):
    """Chunks of trunks at hand."""
    return control[FREE_TRUNKS] + links.shape[0] - control[FRESH_TRUNK]


@njit(cache=True, forceinline=True)
def add_item(node, item, branches, control):
    """Put one more row on the branch of a node; there is a chunk to spare."""
    last = node[LAST]
    if last == EMPTY or (branches[last, LINK] & FILL_MASK) == BRANCH_ITEMS:
        chunk = control[FIRST_FREE_BRANCH]
        if chunk == EMPTY:
            chunk = control[FRESH_BRANCH]
            control[FRESH_BRANCH] = chunk + 1
        else:
            control[FIRST_FREE_BRANCH] = branches[chunk, LINK]
            control[FREE_BRANCHES] -= 1
        branches[chunk, LINK] = EMPTY << FILL_BITS
        if last == EMPTY:
            node[BRANCH] = chunk
        else:
            branches[last, LINK] = (chunk << FILL_BITS) | BRANCH_ITEMS
        node[LAST] = chunk
        last = chunk
    branches[last, branches[last, LINK] & FILL_MASK] = item
    branches[last, LINK] += 1


@njit(cache=True, forceinline=True)
def give_branch(chunk, branches, control):
    """A chunk of a branch is free again; returns the one that followed."""
    after = branches[chunk, LINK] >> FILL_BITS
    branches[chunk, LINK] = control[FIRST_FREE_BRANCH]
    control[FIRST_FREE_BRANCH] = chunk
    control[FREE_BRANCHES] += 1
    return after


@njit(cache=True, forceinline=True)
def merge(node, later, branches, control):
    """Put the rows of a later node of equal expiry on the branch; there is a chunk to spare."""
    add_item(node, later[ITEM], branches, control)
    if later[BRANCH] != EMPTY:
        last = node[LAST]
        branches[last, LINK] = (later[BRANCH] << FILL_BITS) | (branches[last, LINK] & FILL_MASK)
        node[LAST] = later[LAST]


@njit(cache=True, forceinline=True)
def find_equal(bucket, expiry, look_back, trunks, links, buckets):
    """Chunk and place of the last node of this expiry among the last of a trunk, or EMPTY."""
    chunk = np.int64(buckets[bucket, TAIL])
    place = np.int64(buckets[bucket, FILL]) - 1
    nodes = np.int64(buckets[bucket, NODES])
    for _ in range(min(look_back, nodes)):
        if place < 0:
            chunk = np.int64(links[chunk, PREVIOUS])
            place = np.int64(TRUNK_NODES - 1)
        if trunks[chunk, place, EXPIRY] == expiry:
            return chunk, place
        place -= 1
    return np.int64(EMPTY), place


@njit(cache=True, forceinline=True)
def new_node(bucket, links, buckets, control):
    """Chunk and place of a node at the end of a trunk; there is a chunk to spare."""
    chunk = np.int64(buckets[bucket, TAIL])
    fill = np.int64(buckets[bucket, FILL])
    if buckets[bucket, NODES] == 0 or fill == TRUNK_NODES:
        fresh = control[FIRST_FREE_TRUNK]
        if fresh == EMPTY:
            fresh = control[FRESH_TRUNK]
            control[FRESH_TRUNK] = fresh + 1
        else:
            control[FIRST_FREE_TRUNK] = np.int64(links[fresh, NEXT])
            control[FREE_TRUNKS] -= 1
        links[fresh, NEXT] = EMPTY
        if buckets[bucket, NODES] == 0:
            buckets[bucket, HEAD] = fresh
        else:
            links[chunk, NEXT] = fresh
            links[fresh, PREVIOUS] = chunk
        buckets[bucket, TAIL] = fresh
        chunk = fresh
        fill = np.int64(0)
    buckets[bucket, FILL] = fill + 1
    buckets[bucket, NODES] += 1
    return chunk, fill


@njit(cache=True, forceinline=True)
def append_row(bucket, expiry, item, look_back, trunks, links, branches, buckets, control):
    """Put a row into a bucket; returns how many nodes that made, 0 or 1."""
    chunk, place = find_equal(bucket, expiry, look_back, trunks, links, buckets)
    if chunk != EMPTY:
        add_item(trunks[chunk, place], item, branches, control)
        return 0
    chunk, place = new_node(bucket, links, buckets, control)
    node = trunks[chunk, place]
    node[EXPIRY] = expiry
    node[ITEM] = item
    node[BRANCH] = EMPTY
    node[LAST] = EMPTY
    return 1


@njit(cache=True, forceinline=True)
def append_node(bucket, moved, look_back, trunks, links, branches, buckets, control):
    """Put a node with its branch into a bucket; returns how many nodes that made, 0 or 1."""
    chunk, place = find_equal(bucket, moved[EXPIRY], look_back, trunks, links, buckets)
    # Without a chunk to spare equal nodes stay apart, which costs time but is right as well.
    if chunk != EMPTY and spare_branches(branches, control) > 0:
        merge(trunks[chunk, place], moved, branches, control)
        return 0
    chunk, place = new_node(bucket, links, buckets, control)
    node = trunks[chunk, place]
    for column in range(NODE_COLUMNS):
        node[column] = moved[column]
    return 1


@njit(cache=True, forceinline=True)
def give_trunk(chunk, links, control):
    """A chunk of a trunk is free again; returns the one that followed."""
    after = np.int64(links[uint64(chunk), NEXT])
    links[uint64(chunk), NEXT] = control[FIRST_FREE_TRUNK]
    control[FIRST_FREE_TRUNK] = chunk
    control[FREE_TRUNKS] += 1
    return after
