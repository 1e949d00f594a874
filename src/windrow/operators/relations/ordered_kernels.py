"""Balanced trees in arrays: the rows of many partitions, each in order of its words.

Purpose: neighbours, first, last, rank and k-th of rows that come and go.
Needs: rows are numbered densely; a number stands for one content, whose words are in `words`.
Time: O(1) expected to insert at or near either end and to remove; O(log n) to insert anywhere else,
    and for anything once subtree sizes are kept.
Space: 32 bytes of links and 8 of multiplicity for each row, 8 more for sizes.
Source: treaps (Seidel, Aragon 1996) with priorities that are a hash of the row's number, and with
    neighbours linked.

A partition whose rows are only put in at or near its ends, as rows in order of time are, is a list:
its tree is made when a row has to be looked for, and dropped once it was not needed for as many
changes as it has rows. So making it costs O(1) a change, and most partitions never have one.

Equal rows are one node with a multiplicity, or a node each. `heads` has the root, first and last
row of partitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from windrow.compiling.kernels import inlined, njit

EMPTY = -1

# Columns of `links`.
LEFT = 0
RIGHT = 1
PARENT = 2
FOLLOWING = 3
PREVIOUS = 4
LINK_COLUMNS = 8  # half a line of the cache; the last two are the row's first word
FIRST_WORD = 3  # where that is, in columns of 64 bits

# Columns of `heads`.
ROOT = 0
FIRST = 1
LAST = 2
ROWS = 3  # nodes, copies not counted
QUIET = 4  # changes since the tree was needed last
HEAD_COLUMNS = 8

# In the place of a root: the partition is a list.
LISTED = -2

# So many rows from the end are looked at before the tree is descended: rows come almost in order.
NEAR_ROWS = 4


class OrderedTree(NamedTuple):
    """links[row], heads[partition], words[row], counts[row]; sizes[row]: copies below, or empty.

    first: words[:, 0] once more, in the memory of links, so that a step down the tree reads one
    line of the cache.
    """

    links: np.ndarray
    first: np.ndarray
    heads: np.ndarray
    words: np.ndarray
    counts: np.ndarray
    sizes: np.ndarray


@inlined
def is_before(row, other, first, words):
    """Whether a row is before another in order; equal ones are in the order of their numbers."""
    if first[row] != first[other]:
        return first[row] < first[other]
    for place in range(1, words.shape[1]):
        mine, theirs = words[row, place], words[other, place]
        if mine != theirs:
            return mine < theirs
    return row < other


@inlined
def priority(row):
    """A number that looks random and is always the same: of parent and child the larger is up."""
    mixed = np.uint64(row + 1) * np.uint64(0x9E3779B97F4A7C15)
    return (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)


@inlined
def first_after(row, partition, tree):
    """The first row of the partition that is behind this one, which is not in it; or EMPTY."""
    links, heads, first, words = tree.links, tree.heads, tree.first, tree.words
    last = heads[partition, LAST]
    if last == EMPTY or is_before(last, row, first, words):
        return EMPTY
    foremost = heads[partition, FIRST]
    if is_before(row, foremost, first, words):
        return foremost
    after = last
    for _ in range(NEAR_ROWS):
        before = links[after, PREVIOUS]
        if before == EMPTY or is_before(before, row, first, words):
            return after
        after = before
    if heads[partition, ROOT] == LISTED:
        make_tree(partition, links, heads)
    heads[partition, QUIET] = 0
    node = heads[partition, ROOT]
    while node != EMPTY:
        if is_before(row, node, first, words):
            after = node
            node = links[node, LEFT]
        else:
            node = links[node, RIGHT]
    return after


@inlined
def insert(row, partition, count, tree):
    """Put a row that is not there into its partition, that many times."""
    insert_before(row, first_after(row, partition, tree), partition, count, tree)


@inlined
def insert_before(row, following, partition, count, tree):
    """Put a row into its place, which is before this one (EMPTY: at the end)."""
    links, heads, counts, sizes = tree.links, tree.heads, tree.counts, tree.sizes
    previous = heads[partition, LAST] if following == EMPTY else links[following, PREVIOUS]
    if following == EMPTY and previous == EMPTY:
        heads[partition, ROWS] = 0
        heads[partition, QUIET] = 0
        heads[partition, ROOT] = LISTED if sizes.size == 0 else EMPTY
    heads[partition, ROWS] += 1
    counts[row] = count
    links[row, FOLLOWING] = following
    links[row, PREVIOUS] = previous
    if following == EMPTY:
        heads[partition, LAST] = row
    else:
        links[following, PREVIOUS] = row
    if previous == EMPTY:
        heads[partition, FIRST] = row
    else:
        links[previous, FOLLOWING] = row
    is_in_tree = heads[partition, ROOT] != LISTED
    if is_in_tree:
        put_into_tree(row, following, previous, partition, count, tree)
        note_quiet(partition, heads, sizes)


@inlined
def put_into_tree(row, following, previous, partition, count, tree):
    """Put a row that is between these neighbours into the tree."""
    links, heads, sizes = tree.links, tree.heads, tree.sizes
    links[row, LEFT] = EMPTY
    links[row, RIGHT] = EMPTY
    parent = EMPTY
    if previous != EMPTY and links[previous, RIGHT] == EMPTY:
        parent = previous
        links[parent, RIGHT] = row
    elif following != EMPTY:
        # One of two neighbours is below the other, so this has no left child.
        parent = following
        links[parent, LEFT] = row
    else:
        heads[partition, ROOT] = row
    links[row, PARENT] = parent
    if sizes.size > 0:
        sizes[row] = 0
        add_to_sizes(row, count, links, sizes)
    mine = priority(row)
    while links[row, PARENT] != EMPTY and priority(links[row, PARENT]) < mine:
        rotate_up(row, partition, links, heads, sizes)


@inlined
def note_quiet(partition, heads, sizes):
    """The tree was not needed for this change: it is dropped where it seldom is."""
    heads[partition, QUIET] += 1
    if sizes.size == 0 and heads[partition, QUIET] > heads[partition, ROWS]:
        heads[partition, ROOT] = LISTED


@inlined
def make_tree(partition, links, heads):
    """Make the tree of a list: each row goes below the last one, and up as its priority says."""
    root = EMPTY
    last = EMPTY
    row = heads[partition, FIRST]
    while row != EMPTY:
        mine = priority(row)
        below = EMPTY
        upper = last
        while upper != EMPTY and priority(upper) < mine:
            below = upper
            upper = links[upper, PARENT]
        links[row, LEFT] = below
        links[row, RIGHT] = EMPTY
        links[row, PARENT] = upper
        if below != EMPTY:
            links[below, PARENT] = row
        if upper == EMPTY:
            root = row
        else:
            links[upper, RIGHT] = row
        last = row
        row = links[row, FOLLOWING]
    heads[partition, ROOT] = root


@inlined
def remove(row, partition, tree):
    """Take all copies of a row out of its partition."""
    links, heads, counts, sizes = tree.links, tree.heads, tree.counts, tree.sizes
    is_in_tree = heads[partition, ROOT] != LISTED
    if is_in_tree:
        take_out_of_tree(row, partition, tree)
    counts[row] = 0
    heads[partition, ROWS] -= 1
    following, previous = links[row, FOLLOWING], links[row, PREVIOUS]
    if following == EMPTY:
        heads[partition, LAST] = previous
    else:
        links[following, PREVIOUS] = previous
    if previous == EMPTY:
        heads[partition, FIRST] = following
    else:
        links[previous, FOLLOWING] = following
    if is_in_tree:
        note_quiet(partition, heads, sizes)


@inlined
def take_out_of_tree(row, partition, tree):
    """Take a row out of the tree; it has its neighbours still."""
    links, heads, counts, sizes = tree.links, tree.heads, tree.counts, tree.sizes
    if sizes.size > 0:
        add_to_sizes(row, -counts[row], links, sizes)
    while links[row, LEFT] != EMPTY and links[row, RIGHT] != EMPTY:
        left, right = links[row, LEFT], links[row, RIGHT]
        upper = left if priority(left) > priority(right) else right
        rotate_up(upper, partition, links, heads, sizes)
    child = links[row, LEFT] if links[row, LEFT] != EMPTY else links[row, RIGHT]
    parent = links[row, PARENT]
    replace_child(parent, row, child, partition, links, heads)


@inlined
def recount(row, count, tree):
    """Give a row that is there another multiplicity above 0."""
    if tree.sizes.size > 0:
        add_to_sizes(row, count - tree.counts[row], tree.links, tree.sizes)
    tree.counts[row] = count


@inlined
def apply_count(row, partition, count, tree):
    """Let the row be there that many times: put in, taken out or counted again."""
    held = tree.counts[row]
    if held == 0:
        if count > 0:
            insert(row, partition, count, tree)
    elif count == 0:
        remove(row, partition, tree)
    else:
        recount(row, count, tree)


@inlined
def replace_child(parent, child, other, partition, links, heads):
    """Let another node, or none, be where a child is."""
    if parent == EMPTY:
        heads[partition, ROOT] = other
    elif links[parent, LEFT] == child:
        links[parent, LEFT] = other
    else:
        links[parent, RIGHT] = other
    if other != EMPTY:
        links[other, PARENT] = parent


@inlined
def rotate_up(row, partition, links, heads, sizes):
    """Exchange a node with its parent."""
    parent = links[row, PARENT]
    replace_child(links[parent, PARENT], parent, row, partition, links, heads)
    if links[parent, LEFT] == row:
        inner = links[row, RIGHT]
        links[parent, LEFT] = inner
        links[row, RIGHT] = parent
    else:
        inner = links[row, LEFT]
        links[parent, RIGHT] = inner
        links[row, LEFT] = parent
    if inner != EMPTY:
        links[inner, PARENT] = parent
    links[parent, PARENT] = row
    if sizes.size > 0:
        inside = sizes[inner] if inner != EMPTY else 0
        below = sizes[parent]
        sizes[parent] = below - sizes[row] + inside
        sizes[row] = below


@inlined
def add_to_sizes(row, count, links, sizes):
    """Count copies more or less in a node and in all above it."""
    while row != EMPTY:
        sizes[row] += count
        row = links[row, PARENT]


@njit(cache=True)
def rank_of(row, tree):
    """How many copies are before the row; needs sizes."""
    links, sizes = tree.links, tree.sizes
    left = links[row, LEFT]
    rank = sizes[left] if left != EMPTY else 0
    while links[row, PARENT] != EMPTY:
        parent = links[row, PARENT]
        if links[parent, RIGHT] == row:
            rank += sizes[parent] - sizes[row]
        row = parent
    return rank


@njit(cache=True)
def row_at(rank, partition, tree):
    """The row of the copy with so many before it, or EMPTY; needs sizes."""
    links, sizes = tree.links, tree.sizes
    node = tree.heads[partition, ROOT]
    if node == EMPTY or rank < 0 or rank >= sizes[node]:
        return EMPTY
    while True:
        left = links[node, LEFT]
        before = sizes[left] if left != EMPTY else 0
        if rank < before:
            node = left
        elif rank < before + tree.counts[node]:
            return node
        else:
            rank -= before + tree.counts[node]
            node = links[node, RIGHT]


@njit(cache=True)
def apply_changes(rows, partitions, weights, tree):
    """Add the weights of one instant to multiplicities; returns whether one fell below 0."""
    # Within an instant a multiplicity may be negative, so all of them are added first.
    net = np.zeros(tree.counts.size, np.int64)
    for place in range(rows.size):
        net[rows[place]] += weights[place]
    for place in range(rows.size):
        row = rows[place]
        if net[row] == 0:
            continue
        count = tree.counts[row] + net[row]
        net[row] = 0
        if count < 0:
            return True
        apply_count(row, partitions[place], count, tree)
    return False


@njit(cache=True)
def grown(array, size):
    """What was written so far, with room for at least so many."""
    larger = np.empty((max(2 * array.shape[0], size), array.shape[1]), array.dtype)
    larger[: array.shape[0]] = array
    return larger
