"""Counts and sums over a tree of at most three levels without groups: a chain of three windows.

Purpose: the same as linear_kernels.apply_tree, where the ways up the tree are so short that they
    are two loops, and all that an event changes is added up before it is put out.
Needs: no groups, plain words, no node further from the root than two edges.
Time: O(cells that the change reaches), in registers and lists; nothing is written at the root.
Space: nothing of its own.

The structures are those of linear_kernels.py.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, njit
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.operators.tree.linear_kernels import link, unlink
from windrow.windows.kernels import EMPTY

# Rows of `work`: what the event brings, what a cell on its way makes of it, and the sum of these.
BROUGHT = 0
PASSED = 1
TOTAL = 2


@njit(cache=True)
def apply_shallow(size, order, shift, events, fixed, tree, state, work, output):
    """There must be room for a row of output at every event."""
    at, sign, cell, share = events
    parent, child_from, children, up_of_cell, down_of_cell, first_cell = tree[:6]
    next_cell, previous_cell, _ = tree[6:]
    payload, view, _, group_terms, last_out = state
    control, out_at, out_group, _, out_terms = output
    nodes = parent.size
    terms = len(fixed) if len(fixed) > 0 else payload.shape[1]
    now = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    for i in range(size):
        number = order[uint64(i)]
        event = uint64(number)
        own = np.int64(cell[event])
        if own == EMPTY:
            continue
        time = at[event]
        now_from = used if time != now else now_from
        now = time
        factor = np.int64(sign[event])
        node = np.int64(number >> shift)
        place = uint64(nodes * own + node)
        upper = parent[node]
        work[uint64(BROUGHT), uint64(0)] = factor
        work[uint64(TOTAL), uint64(0)] = 0
        for later in range(1, terms):
            work[uint64(BROUGHT), uint64(later)] = share[event, uint64(later - 1)] * factor
            work[uint64(TOTAL), uint64(later)] = 0
        if child_from[node] != child_from[node + 1] or upper == EMPTY:
            before = payload[place, uint64(0)]
            for each in range(terms):
                term = uint64(each)
                payload[place, term] += work[uint64(BROUGHT), term]
            for index in range(child_from[node], child_from[node + 1]):
                child = children[index]
                code = np.int64(down_of_cell[uint64(nodes * own + child)])
                for each in range(terms):
                    term = uint64(each)
                    work[uint64(BROUGHT), term] *= view[uint64(nodes * code + child), term]
                if before == 0:
                    link(own, code, child, nodes, first_cell, next_cell, previous_cell)
                elif before + factor == 0:
                    unlink(own, code, child, nodes, first_cell, next_cell, previous_cell)
        if work[uint64(BROUGHT), uint64(0)] == 0:
            continue
        if upper == EMPTY:
            for each in range(terms):
                term = uint64(each)
                work[uint64(TOTAL), term] = work[uint64(BROUGHT), term]
        else:
            seen = uint64(nodes * np.int64(up_of_cell[place]) + node)
            for each in range(terms):
                term = uint64(each)
                view[seen, term] += work[uint64(BROUGHT), term]
            above = np.int64(first_cell[seen])
            while above != EMPTY:
                following = np.int64(next_cell[uint64(nodes * above + node)])
                change = pass_cell(
                    BROUGHT, above, upper, node, nodes, terms, child_from, children, down_of_cell,
                    payload, view, work,
                )  # fmt: skip
                if change != 0:
                    if parent[upper] == EMPTY:
                        for each in range(terms):
                            term = uint64(each)
                            work[uint64(TOTAL), term] += work[uint64(PASSED), term]
                    else:
                        pass_on(
                            above, upper, parent[upper], nodes, terms, child_from, children,
                            up_of_cell, down_of_cell, first_cell, next_cell, payload, view, work,
                        )  # fmt: skip
                above = following
        if work[uint64(TOTAL), uint64(0)] == 0:
            continue
        out = last_out[0]
        if out < now_from:
            out = used
            last_out[0] = out
            used += 1
        there = uint64(out - first)
        out_at[there] = now
        out_group[there] = 0
        for each in range(terms):
            term = uint64(each)
            total = group_terms[uint64(0), term] + work[uint64(TOTAL), term]
            group_terms[uint64(0), term] = total
            out_terms[there, term] = total
    control[NOW] = now
    control[NOW_FROM] = now_from
    control[USED] = used


@inlined
def pass_cell(
    brought, above, upper, node, nodes, terms, child_from, children, down_of_cell, payload, view,
    work,
):  # fmt: skip
    """What a cell makes of the change of one of the views below it; returns that of the count."""
    place = uint64(nodes * above + upper)
    for each in range(terms):
        term = uint64(each)
        work[uint64(PASSED), term] = payload[place, term] * work[uint64(brought), term]
    for index in range(child_from[upper], child_from[upper + 1]):
        child = children[index]
        if child != node:
            code = np.int64(down_of_cell[uint64(nodes * above + child)])
            seen = uint64(nodes * code + child)
            for each in range(terms):
                term = uint64(each)
                work[uint64(PASSED), term] *= view[seen, term]
    return work[uint64(PASSED), uint64(0)]


@inlined
def pass_on(
    above, upper, root, nodes, terms, child_from, children, up_of_cell, down_of_cell, first_cell,
    next_cell, payload, view, work,
):  # fmt: skip
    """Change the view above a cell by what was passed, and add up what the root's cells make of it.

    The root looks at it from one cell mostly, as its key is that of the view.
    """
    seen = uint64(nodes * np.int64(up_of_cell[uint64(nodes * above + upper)]) + upper)
    for each in range(terms):
        term = uint64(each)
        view[seen, term] += work[uint64(PASSED), term]
    top = np.int64(first_cell[seen])
    while top != EMPTY:
        place = uint64(nodes * top + root)
        for each in range(terms):
            term = uint64(each)
            part = payload[place, term] * work[uint64(PASSED), term]
            for index in range(child_from[root], child_from[root + 1]):
                child = children[index]
                if child != upper:
                    code = np.int64(down_of_cell[uint64(nodes * top + child)])
                    part *= view[uint64(nodes * code + child), term]
            work[uint64(TOTAL), term] += part
        top = np.int64(next_cell[uint64(nodes * top + upper)])
