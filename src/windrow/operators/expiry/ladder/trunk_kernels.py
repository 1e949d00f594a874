"""Trunks and branches: lists of nodes in chunks, each node with the rows of one expiry.

A node is a row of four words: its EXPIRY, the ITEM of its first row, and the first (BRANCH) and the
last (LAST) chunk of its other rows. A chunk of a branch has some items and a word that says how
many of them are there and which chunk follows. A chunk of a trunk is some nodes in a row; `links`
chains the chunks both ways. A bucket names the first and the last node of its trunk.

Nodes are named by an array and a place, not by a view: views cost more than the work on a node.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit
from windrow.windows.kernels import EMPTY

# Columns of a node.
EXPIRY = 0
ITEM = 1
BRANCH = 2
LAST = 3
NODE_COLUMNS = 4

# A chunk of a branch is two lines of the cache; its last word is the next chunk and the fill.
FILL_BITS = 4
BRANCH_COLUMNS = 1 << FILL_BITS
FILL_MASK = BRANCH_COLUMNS - 1
BRANCH_ITEMS = FILL_MASK
LINK = FILL_MASK

# Few chunks begin within the look-back; more nodes would leave more of a chunk unused.
TRUNK_SHIFT = 4
TRUNK_NODES = 1 << TRUNK_SHIFT
TRUNK_MASK = TRUNK_NODES - 1
# Columns of `links`.
NEXT = 0
PREVIOUS = 1
LINK_COLUMNS = 2

# Columns of `buckets`.
HEAD = 0  # the first node
TAIL = 1  # the last node
NODES = 2  # all chunks but the last are full
BUCKET_COLUMNS = 4  # a power of two, for the sake of the address

# The first entries of `control`: free chunks are chained by LINK and by NEXT.
FIRST_FREE_BRANCH = 0
FRESH_BRANCH = 1
FREE_BRANCHES = 2
FIRST_FREE_TRUNK = 3
FRESH_TRUNK = 4
FREE_TRUNKS = 5
TRUNK_CONTROL_ENTRIES = 6


@njit(cache=True)
def spare_branches(branches, control):
    """Free chunks of branches."""
    return control[FREE_BRANCHES] + branches.shape[0] - control[FRESH_BRANCH]


@njit(cache=True)
def spare_trunks(links, control):
    """Free chunks of trunks."""
    return control[FREE_TRUNKS] + links.shape[0] - control[FRESH_TRUNK]


@njit(cache=True)
def add_item(nodes, node, item, branches, control):
    """Put one more row on the branch of a node; there is a chunk to spare."""
    last = nodes[node, LAST]
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
            nodes[node, BRANCH] = chunk
        else:
            branches[last, LINK] = (chunk << FILL_BITS) | BRANCH_ITEMS
        nodes[node, LAST] = chunk
        last = chunk
    branches[last, branches[last, LINK] & FILL_MASK] = item
    branches[last, LINK] += 1


@njit(cache=True)
def give_branch(chunk, branches, control):
    """A chunk of a branch is free again; returns the one that followed."""
    after = branches[chunk, LINK] >> FILL_BITS
    branches[chunk, LINK] = control[FIRST_FREE_BRANCH]
    control[FIRST_FREE_BRANCH] = chunk
    control[FREE_BRANCHES] += 1
    return after


@njit(cache=True)
def merge(nodes, node, sources, source, branches, control):
    """Put the rows of a later node of equal expiry on the branch; there is a chunk to spare."""
    add_item(nodes, node, sources[source, ITEM], branches, control)
    if sources[source, BRANCH] != EMPTY:
        last = nodes[node, LAST]
        fill = branches[last, LINK] & FILL_MASK
        branches[last, LINK] = (sources[source, BRANCH] << FILL_BITS) | fill
        nodes[node, LAST] = sources[source, LAST]


@njit(cache=True)
def add_trunk(bucket, links, buckets, control):
    """Put a free chunk, of which there is one, behind those of a bucket; returns its first node."""
    chunk = control[FIRST_FREE_TRUNK]
    if chunk == EMPTY:
        chunk = control[FRESH_TRUNK]
        control[FRESH_TRUNK] = chunk + 1
    else:
        control[FIRST_FREE_TRUNK] = np.int64(links[chunk, NEXT])
        control[FREE_TRUNKS] -= 1
    node = chunk << TRUNK_SHIFT
    links[chunk, NEXT] = EMPTY
    if buckets[bucket, NODES] == 0:
        buckets[bucket, HEAD] = node
    else:
        tail = np.int64(buckets[bucket, TAIL]) >> TRUNK_SHIFT
        links[tail, NEXT] = chunk
        links[chunk, PREVIOUS] = tail
    return node


@njit(cache=True)
def give_trunk(chunk, links, control):
    """A chunk of a trunk is free again; returns the one that followed."""
    after = np.int64(links[chunk, NEXT])
    links[chunk, NEXT] = control[FIRST_FREE_TRUNK]
    control[FIRST_FREE_TRUNK] = chunk
    control[FREE_TRUNKS] += 1
    return after


@njit(cache=True)
def append_node(
    bucket, sources, source, look_back, trunks, links, branches, buckets, control
):  # fmt: skip
    """Put a node with its branch into a bucket; returns how many nodes that made, 0 or 1."""
    nodes = np.int64(buckets[bucket, NODES])
    node = np.int64(buckets[bucket, TAIL])
    expiry = sources[source, EXPIRY]
    seen = node
    for _ in range(min(look_back, nodes)):
        # Without a chunk to spare equal nodes stay apart, which costs time but is right as well.
        if trunks[seen, EXPIRY] == expiry and spare_branches(branches, control) > 0:
            merge(trunks, seen, sources, source, branches, control)
            return 0
        if (seen & TRUNK_MASK) == 0:
            seen = (np.int64(links[seen >> TRUNK_SHIFT, PREVIOUS]) << TRUNK_SHIFT) + TRUNK_NODES
        seen -= 1
    node += 1
    if (nodes & TRUNK_MASK) == 0:
        node = add_trunk(bucket, links, buckets, control)
    for column in range(NODE_COLUMNS):
        trunks[node, column] = sources[source, column]
    buckets[bucket, TAIL] = node
    buckets[bucket, NODES] = nodes + 1
    return 1
