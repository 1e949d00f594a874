"""Rows of groups in order that come and go; after each instant some of them are picked.

Purpose: FIRST, LAST, MIN_BY, MAX_BY, MODE and percentiles of every group after every instant.
Form: the trees of ordered_kernels, a group being a partition. A pick has a kind and a fraction.
Time: O(1) expected a change near either end of the order, O(log n) elsewhere; the same for a pick.
Space: that of the trees.
"""

from __future__ import annotations

import math

import numpy as np

from windrow.compiling.kernels import inlined, njit
from windrow.operators.relations.ordered_kernels import (
    EMPTY,
    FIRST,
    LAST,
    ROOT,
    apply_count,
    insert,
    remove,
    row_at,
)

# Kinds of picks. BETWEEN has two rows, and how far behind the first it is.
PICK_FIRST = 0
PICK_LAST = 1
PICK_BETWEEN = 2
PICK_NEAREST = 3


@njit(cache=True)
def update_ordered(changes, tree, net, by_count, picks, out):
    """Count rows from change to change; write what is picked at the end of each place.

    net: zeros, by row. by_count: the first word of a row is minus how often it is there. Returns
    whether a row left that was not there.
    """
    at, rows, groups, weight, place, last_change = changes
    begin = 0
    while begin < at.size:
        # Within an instant a row may leave before it enters, so all are added up first.
        end = begin
        while end < at.size and at[end] == at[begin]:
            if rows[end] != EMPTY:
                net[rows[end]] += weight[end]
            end += 1
        for i in range(begin, end):
            row = rows[i]
            if row == EMPTY or net[row] == 0:
                continue
            count = tree.counts[row] + net[row]
            net[row] = 0
            if count < 0:
                return True
            if by_count:
                move_by_count(row, groups[i], count, tree)
            else:
                apply_count(row, groups[i], count, tree)
        for i in range(begin, end):
            if last_change[place[i]] == i:
                pick_rows(groups[i], place[i], tree, picks, out)
        begin = end
    return False


@njit(cache=True)
def pick_all(groups, tree, picks, out):
    """What is picked in each of these groups now."""
    for i in range(groups.size):
        pick_rows(groups[i], i, tree, picks, out)


@inlined
def move_by_count(row, group, count, tree):
    """Let the row be there that many times, and stand where that puts it."""
    if tree.counts[row] > 0:
        remove(row, group, tree)
    if count > 0:
        tree.words[row, 0] = -count
        tree.first[row] = -count
        insert(row, group, count, tree)


@inlined
def pick_rows(group, state, tree, picks, out):
    """Write the rows that are picked in a group."""
    kinds, fractions = picks
    low_rows, high_rows, parts = out
    for pick in range(kinds.size):
        kind = kinds[pick]
        low = np.int64(EMPTY)
        high = np.int64(EMPTY)
        part = 0.0
        if kind == PICK_FIRST:
            low = np.int64(tree.heads[group, FIRST])
        elif kind == PICK_LAST:
            low = np.int64(tree.heads[group, LAST])
        elif tree.heads[group, FIRST] != EMPTY:
            size = tree.sizes[tree.heads[group, ROOT]]
            if kind == PICK_NEAREST:
                rank = np.int64(math.ceil(fractions[pick] * size)) - 1
                low = np.int64(row_at(min(max(rank, 0), size - 1), group, tree))
            else:
                position = fractions[pick] * (size - 1)
                rank = np.int64(math.floor(position))
                part = position - rank
                low = np.int64(row_at(rank, group, tree))
                high = low
                if part > 0:
                    high = np.int64(row_at(rank + 1, group, tree))
        low_rows[pick, state] = low
        high_rows[pick, state] = high
        parts[pick, state] = part
