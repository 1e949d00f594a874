"""Pairing heaps in one arena: the largest word of each of many sets, any member of which may go.

Purpose: the extreme of a group over the best words of its cells, rows or charges.
Needs: nothing of the order in which members come and go.
Time: O(1) to insert, O(log n) amortised to delete, also from the middle.
Space: 32 bytes a member.
Source: Fredman, Sedgewick, Sleator, Tarjan (1986), with two passes and a pointer back.

A member is a row of `heap`: CHILD, FOLLOWING (brother), PREVIOUS (brother, or the parent of a first
child) and VALUE. Who calls may number the members himself or take them from the arena: `control`
keeps the free ones. A heap is named by its root, EMPTY where it has no member.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, njit
from windrow.windows.kernels import EMPTY

# Columns of `heap`.
CHILD = 0
FOLLOWING = 1
PREVIOUS = 2
VALUE = 3
HEAP_COLUMNS = 4

# Entries of `control`.
FIRST_FREE = 0  # free members are chained by FOLLOWING
NEXT_FRESH = 1  # members from here on were never taken
CONTROL_ENTRIES = 2


@njit(cache=True)
def take_member(heap, control):
    """A free member; EMPTY when the arena is full."""
    member = control[FIRST_FREE]
    if member != EMPTY:
        control[FIRST_FREE] = heap[member, FOLLOWING]
        return member
    member = control[NEXT_FRESH]
    if member == heap.shape[0]:
        return EMPTY
    control[NEXT_FRESH] = member + 1
    return member


@njit(cache=True)
def give_member(member, heap, control):
    """A member that is in no heap is free again."""
    heap[member, FOLLOWING] = control[FIRST_FREE]
    control[FIRST_FREE] = member


@njit(cache=True)
def meld(left, right, heap):
    """One heap of two; returns its root. On a tie the left root stays."""
    if left == EMPTY:
        return right
    if right == EMPTY:
        return left
    upper, lower = left, right
    if heap[right, VALUE] > heap[left, VALUE]:
        upper, lower = right, left
    first = heap[upper, CHILD]
    heap[lower, FOLLOWING] = first
    heap[lower, PREVIOUS] = upper
    if first != EMPTY:
        heap[first, PREVIOUS] = lower
    heap[upper, CHILD] = lower
    return upper


@njit(cache=True)
def insert(root, member, heap):
    """Put a member that is in no heap, its VALUE set, into the heap; returns the new root."""
    heap[member, CHILD] = EMPTY
    heap[member, FOLLOWING] = EMPTY
    heap[member, PREVIOUS] = EMPTY
    return meld(root, member, heap)


@njit(cache=True)
def delete(root, member, heap):
    """Take a member out of the heap; returns the new root."""
    rest = join_brothers(heap[member, CHILD], heap)
    if member == root:
        return rest
    cut(member, heap)
    return meld(root, rest, heap)


@njit(cache=True)
def change(root, member, value, heap):
    """Give a member of the heap another value; returns the new root."""
    before = heap[member, VALUE]
    if value < before:
        root = delete(root, member, heap)
        heap[member, VALUE] = value
        return insert(root, member, heap)
    heap[member, VALUE] = value
    if member == root or value == before:
        return root
    # What hangs below stays below: a rise needs no pass over the children.
    cut(member, heap)
    heap[member, FOLLOWING] = EMPTY
    heap[member, PREVIOUS] = EMPTY
    return meld(root, member, heap)


@njit(cache=True)
def cut(member, heap):
    """Take a member that is no root out of the list of its brothers."""
    previous = heap[member, PREVIOUS]
    following = heap[member, FOLLOWING]
    if heap[previous, CHILD] == member:
        heap[previous, CHILD] = following
    else:
        heap[previous, FOLLOWING] = following
    if following != EMPTY:
        heap[following, PREVIOUS] = previous


@njit(cache=True)
def join_brothers(first, heap):
    """One heap of a list of brothers, who lost their parent; returns its root."""
    pairs = EMPTY  # a stack of melded pairs, chained by FOLLOWING
    while first != EMPTY:
        second = heap[first, FOLLOWING]
        rest = EMPTY
        if second != EMPTY:
            rest = heap[second, FOLLOWING]
        pair = meld(first, second, heap)
        heap[pair, FOLLOWING] = pairs
        pairs = pair
        first = rest
    root = EMPTY
    while pairs != EMPTY:
        following = heap[pairs, FOLLOWING]
        root = meld(pairs, root, heap)
        pairs = following
    if root != EMPTY:
        heap[root, FOLLOWING] = EMPTY
        heap[root, PREVIOUS] = EMPTY
    return root


# Monotone queues, for rows that leave in the order in which they came: of each set only the rows
# are kept that are larger than every later one, so the first is the largest. Rows have numbers, and
# stand in their window at the number less `base`: there are their ranks, and links, by how many
# rows further back or on the neighbour is (0: there is none), which stay right when rows move.
# head and tail hold the number of the first and of the last row of each set. `kind`: of several
# sets of a row, the one that is meant.
BEFORE = uint64(0)
AFTER = uint64(1)


@inlined
def push(owner, kind, number, base, head, tail, ranks, links):
    """A row enters the set of the owner: what is not larger leads nowhere any more."""
    place = uint64(number - base)
    rank = ranks[kind, place]
    last = np.int64(tail[owner])
    while last != EMPTY and ranks[kind, uint64(last - base)] <= rank:
        distance = np.int64(links[kind, uint64(last - base), BEFORE])
        last = last - distance if distance != 0 else np.int64(EMPTY)
    links[kind, place, AFTER] = 0
    if last == EMPTY:
        links[kind, place, BEFORE] = 0
        head[owner] = number
    else:
        links[kind, place, BEFORE] = number - last
        links[kind, uint64(last - base), AFTER] = number - last
    tail[owner] = number


@inlined
def pop(owner, kind, number, base, head, tail, links):
    """A row leaves the set of the owner, before all later ones."""
    if head[owner] == number:
        distance = np.int64(links[kind, uint64(number - base), AFTER])
        if distance == 0:
            head[owner] = EMPTY
            tail[owner] = EMPTY
        else:
            head[owner] = number + distance
            links[kind, uint64(number + distance - base), BEFORE] = 0
