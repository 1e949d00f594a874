"""Extremes of groups whose values come and go: a pairing heap a group, in arrays.

Purpose: the best value of every group after every instant.
Form: a node is one value of one group, with how often it is there; a hash table finds it. Nodes
    with values that are there are in the heap of their group: child is the first of the nodes
    below, following the next one beside, before the one beside on the left or, of a first child,
    the parent.
Time: O(1) to add; O(log n) amortised to remove any node; nothing is kept of what was removed.
Space: 44 bytes a node, and 4 bytes for each of two slots.
Source: Fredman, Sedgewick, Sleator and Tarjan, The pairing heap (1986).

The largest rank is the best. Where ranks are equal, values differ only if they have letters: then
these decide.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import inlined, njit
from windrow.windows.kernels import AHEAD, EMPTY, LARGE_TABLE, home_slot, prefetch, take_code


@njit(cache=True)
def update_extremes(start, changes, nodes, roots, texts, sign, out):
    """Count values of groups from change `start` on; write the best one at the end of a place.

    sign: 1 where the largest letters are the best, -1 where the smallest are. Returns how far it
    came: the nodes may be full.
    """
    group, weight, place, last_change, words, ranks, valid = changes
    slots, word, rank, owner, times, child, following, before, free, counters = nodes
    first, size, letters, users = texts
    out_word, out_present = out
    checks = valid.size > 0
    counts_users = users.size > 0
    mask = slots.size - 1
    fetches = slots.size > LARGE_TABLE
    for i in range(start, group.size):
        if fetches and i + AHEAD < group.size:
            prefetch(slots, home_of(words[i + AHEAD], group[i + AHEAD], mask))
        which = group[i]
        if not checks or valid[i] != 0:
            if counters[0] >= word.size:
                return i
            slot = home_of(words[i], which, mask)
            while slots[slot] != EMPTY and (
                word[slots[slot]] != words[i] or owner[slots[slot]] != which
            ):
                slot = (slot + 1) & mask
            node = np.int64(slots[slot])
            if node == EMPTY:
                node = np.int64(take_code(free, counters))
                slots[slot] = node
                word[node] = words[i]
                rank[node] = ranks[i]
                owner[node] = which
                times[node] = 0
                child[node] = following[node] = before[node] = EMPTY
                if counts_users:
                    users[words[i]] += 1
            was = times[node]
            now = was + weight[i]
            times[node] = now
            root = np.int64(roots[which])
            if was <= 0 and now > 0:
                roots[which] = meld(
                    root, node, child, following, before, rank, word, first, size, letters, sign
                )
            elif was > 0 and now <= 0:
                below = merged_children(
                    node, child, following, before, rank, word, first, size, letters, sign
                )
                if node == root:
                    roots[which] = below
                else:
                    detach(node, child, following, before)
                    roots[which] = meld(
                        root, below, child, following, before, rank, word, first, size, letters,
                        sign,
                    )  # fmt: skip
            if now == 0:
                free[counters[2]] = node
                counters[2] += 1
                counters[0] -= 1
                close_gap(slot, slots, word, owner, mask)
                if counts_users:
                    users[words[i]] -= 1
        at = place[i]
        if last_change[at] == i:
            root = np.int64(roots[which])
            out_present[at] = root != EMPTY
            out_word[at] = word[root] if root != EMPTY else 0
    return group.size


@njit(cache=True)
def fill_slots(slots, old_slots, word, owner):
    """Put the nodes of an old table into a new, empty one."""
    mask = slots.size - 1
    for place in range(old_slots.size):
        node = old_slots[place]
        if node != EMPTY:
            slot = home_of(word[node], owner[node], mask)
            while slots[slot] != EMPTY:
                slot = (slot + 1) & mask
            slots[slot] = node


@inlined
def home_of(word, group, mask):
    """The slot at which the search for a value of a group begins."""
    return home_slot(word ^ (np.int64(group) << 32) ^ np.int64(group), mask)


@inlined
def close_gap(gap, slots, word, owner, mask):
    """Empty a slot and move later entries of its run back, so that no search ends too soon."""
    slot = (gap + 1) & mask
    while slots[slot] != EMPTY:
        home = home_of(word[slots[slot]], owner[slots[slot]], mask)
        if ((slot - home) & mask) >= ((slot - gap) & mask):
            slots[gap] = slots[slot]
            gap = slot
        slot = (slot + 1) & mask
    slots[gap] = EMPTY


@inlined
def is_better(left, right, rank, word, first, size, letters, sign):
    """Whether the left node's value comes before that of the right one."""
    if rank[left] != rank[right] or first.size == 0:
        return rank[left] > rank[right]
    one = word[left]
    other = word[right]
    for i in range(min(size[one], size[other])):
        difference = np.int64(letters[first[one] + i]) - np.int64(letters[first[other] + i])
        if difference != 0:
            return sign * difference > 0
    return sign * (size[one] - size[other]) > 0


@inlined
def meld(left, right, child, following, before, rank, word, first, size, letters, sign):
    """One heap of two, given by their roots; the root of it."""
    if left == EMPTY:
        return right
    if right == EMPTY:
        return left
    if is_better(right, left, rank, word, first, size, letters, sign):
        left, right = right, left
    inner = child[left]
    following[right] = inner
    if inner != EMPTY:
        before[inner] = right
    before[right] = left
    child[left] = right
    return left


@inlined
def merged_children(node, child, following, before, rank, word, first, size, letters, sign):
    """One heap of all that is below a node: in pairs from the left, then all from the right."""
    left = np.int64(child[node])
    child[node] = EMPTY
    pairs = np.int64(EMPTY)
    while left != EMPTY:
        right = np.int64(following[left])
        rest = np.int64(EMPTY)
        following[left] = before[left] = EMPTY
        if right != EMPTY:
            rest = np.int64(following[right])
            following[right] = before[right] = EMPTY
        root = meld(left, right, child, following, before, rank, word, first, size, letters, sign)
        following[root] = pairs
        pairs = root
        left = rest
    whole = np.int64(EMPTY)
    while pairs != EMPTY:
        rest = np.int64(following[pairs])
        following[pairs] = EMPTY
        whole = meld(whole, pairs, child, following, before, rank, word, first, size, letters, sign)
        pairs = rest
    return whole


@inlined
def detach(node, child, following, before):
    """Cut a node that is no root out of the nodes beside it."""
    left = before[node]
    right = following[node]
    if child[left] == node:
        child[left] = right
    else:
        following[left] = right
    if right != EMPTY:
        before[right] = left
    following[node] = before[node] = EMPTY
