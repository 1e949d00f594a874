"""Extremes and different values of one input, over an acyclic join in which it is the root.

Purpose: MIN, MAX and COUNT(DISTINCT) of a join without forming joined rows.
Needs: a tree of views (../kernels.py) that counts; values of the root input only, groups too.
Time: what counting takes; amortised O(1) for a row's place in the queue of its cell; O(log cells)
    when the best of a live cell changes or a cell becomes live or dead.
Space: O(rows).
Source: ../../extremes/kernels.py.

All rows of a cell of the root join with the same rows, so that either all of them or none appear in
the join: the cell is live or dead. A group has a heap of the best rank of its live cells for each
extreme, and for each value counts the live cells that have it. What belongs to extreme e of a cell,
group or row has the number extremes * cell + e, and so on.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy import uint64

from windrow.joins.extremes.kernels import RANK, VALUE, change, delete, insert, pop, push
from windrow.joins.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.joins.tree.kernels import MOST_NODES, link, unlink
from windrow.windows.kernels import EMPTY


@njit(cache=True)
def apply_living(
    start, size, order, shift, at, sign, cell, number, rank, present, in_order,
    parent, child_from, children, payload, view,
    up_of_cell, down_of_cell, first_cell, next_cell, previous_cell, group_of_cell,
    extremes, distincts, joined, mask, head, tail, queue, row_heap, heap, group_root,
    pair_of_cell, live_cells, tally,
    most_groups, group_count, last_out, control, out_at, out_group, out_count, out_extras,
):  # fmt: skip
    """Run events; returns how far it came: the output may be full.

    number: of the rows of the root, in their order; where they leave in another order (in_order is
    0) their slots, which are members of row_heap, and `head` holds the roots of the cells' heaps.
    rank and present: per event of the root and extreme. joined: the joined rows of each cell of the
    root. pair_of_cell: per cell and distinct the code of (group, value), EMPTY for NULL;
    live_cells[distinct, pair]; tally: per group and distinct.
    """
    nodes = parent.size
    path = np.empty(MOST_NODES, np.int64)
    current = np.empty(MOST_NODES, np.int64)
    changes = np.empty(MOST_NODES, np.int64)
    for i in range(start, size):
        event = uint64(order[i])
        own = np.int64(cell[event])
        if own == EMPTY:
            continue
        if control[USED] - control[FIRST] + most_groups >= out_at.size:
            return i
        if at[event] != control[NOW]:
            control[NOW] = at[event]
            control[NOW_FROM] = control[USED]
        factor = np.int64(sign[event])
        node = order[i] >> shift
        place = uint64(nodes * own + node)
        times = factor
        is_root = parent[node] == EMPTY
        if is_root or child_from[node] != child_from[node + 1]:
            before = payload[place]
            payload[place] = before + factor
            for index in range(child_from[node], child_from[node + 1]):
                child = children[index]
                code = np.int64(down_of_cell[uint64(nodes * own + child)])
                times *= view[uint64(nodes * code + child)]
                if before == 0:
                    link(own, code, child, nodes, first_cell, next_cell, previous_cell)
                elif before + factor == 0:
                    unlink(own, code, child, nodes, first_cell, next_cell, previous_cell)
        if is_root:
            for extreme in range(extremes):
                if present[event, uint64(extreme)] == 0:
                    continue
                owner = extremes * own + extreme
                was = best(owner, in_order, mask, head, queue, row_heap)
                had = head[owner] != EMPTY
                member = extremes * number[event] + extreme
                if in_order:
                    if factor > 0:
                        push(owner, member, rank[event, extreme], mask, head, tail, queue)
                    else:
                        pop(owner, member, mask, head, tail, queue)
                elif factor > 0:
                    row_heap[member, VALUE] = rank[event, extreme]
                    head[owner] = insert(head[owner], member, row_heap)
                else:
                    head[owner] = delete(head[owner], member, row_heap)
                if joined[own] == 0:
                    continue
                top = extremes * np.int64(group_of_cell[own]) + extreme
                if head[owner] == EMPTY:
                    group_root[top] = delete(group_root[top], owner, heap)
                    continue
                word = best(owner, in_order, mask, head, queue, row_heap)
                if not had:
                    heap[owner, VALUE] = word
                    group_root[top] = insert(group_root[top], owner, heap)
                elif word != was:
                    group_root[top] = change(group_root[top], owner, word, heap)
        if times == 0:
            continue
        if is_root:
            touch_living(
                own, times, group_of_cell, extremes, distincts, joined, in_order, mask, head,
                queue, row_heap, heap, group_root, pair_of_cell, live_cells, tally,
                group_count, last_out, control, out_at, out_group, out_count, out_extras,
            )  # fmt: skip
            continue
        seen = uint64(nodes * np.int64(up_of_cell[place]) + node)
        view[seen] += times
        level = 0
        path[0] = node
        current[0] = first_cell[seen]
        changes[0] = times
        while level >= 0:
            node = path[level]
            above = current[level]
            if above == EMPTY:
                level -= 1
                continue
            current[level] = next_cell[uint64(nodes * above + node)]
            upper = parent[node]
            place = uint64(nodes * above + upper)
            times = payload[place] * changes[level]
            for index in range(child_from[upper], child_from[upper + 1]):
                child = children[index]
                if child != node:
                    code = np.int64(down_of_cell[uint64(nodes * above + child)])
                    times *= view[uint64(nodes * code + child)]
            if times == 0:
                continue
            if parent[upper] == EMPTY:
                touch_living(
                    above, times, group_of_cell, extremes, distincts, joined, in_order, mask, head,
                    queue, row_heap, heap, group_root, pair_of_cell, live_cells, tally,
                    group_count, last_out, control, out_at, out_group, out_count, out_extras,
                )  # fmt: skip
                continue
            seen = uint64(nodes * np.int64(up_of_cell[place]) + upper)
            view[seen] += times
            level += 1
            path[level] = upper
            changes[level] = times
            current[level] = first_cell[seen]
    return size


@njit(cache=True)
def best(owner, in_order, mask, head, queue, row_heap):
    """The best rank of an extreme's rows in a cell; of no meaning where there is none."""
    first = head[owner]
    if first == EMPTY:
        return 0
    if in_order:
        return queue[first & mask, RANK]
    return row_heap[first, VALUE]


@njit(cache=True)
def touch_living(
    cell, times, group_of_cell, extremes, distincts, joined, in_order, mask, head,
    queue, row_heap, heap, group_root, pair_of_cell, live_cells, tally,
    group_count, last_out, control, out_at, out_group, out_count, out_extras,
):  # fmt: skip
    """So many joined rows more for a cell of the root: make it live or dead, put its group out."""
    group = np.int64(group_of_cell[cell])
    before = joined[cell]
    after = before + times
    joined[cell] = after
    if before == 0 or after == 0:
        for extreme in range(extremes):
            owner = extremes * cell + extreme
            top = extremes * group + extreme
            if head[owner] == EMPTY:
                continue
            if before == 0:
                heap[owner, VALUE] = best(owner, in_order, mask, head, queue, row_heap)
                group_root[top] = insert(group_root[top], owner, heap)
            else:
                group_root[top] = delete(group_root[top], owner, heap)
        for distinct in range(distincts):
            pair = pair_of_cell[distincts * cell + distinct]
            if pair == EMPTY:
                continue
            had = live_cells[distinct, pair]
            has = had + 1 if before == 0 else had - 1
            live_cells[distinct, pair] = has
            if had == 0:
                tally[distincts * group + distinct] += 1
            elif has == 0:
                tally[distincts * group + distinct] -= 1
    total = group_count[group] + times
    group_count[group] = total
    place = last_out[group]
    if place < control[NOW_FROM]:
        place = control[USED]
        last_out[group] = place
        control[USED] += 1
    place -= control[FIRST]
    out_at[place] = control[NOW]
    out_group[place] = group
    out_count[place] = total
    for distinct in range(distincts):
        out_extras[place, distinct] = tally[distincts * group + distinct]
    for extreme in range(extremes):
        root = group_root[extremes * group + extreme]
        is_present = root != EMPTY
        out_extras[place, distincts + extreme] = heap[root, VALUE] if is_present else 0
        out_extras[place, distincts + extremes + extreme] = is_present


@njit(cache=True)
def gather_ranks(first, size, rows, values, valid, from_value, number_from, number, rank, present):
    """Number and ranks of the root's events; ranks stand in the values from from_value on.

    number_from: the number of the row in place 0, or, below 0, ~(the value that holds the slot).
    """
    checked = valid.shape[0] > 0
    for i in range(first, first + size):
        event = uint64(i)
        row = uint64(rows[event])
        if number_from >= 0:
            number[event] = rows[event] + number_from
        else:
            number[event] = values[uint64(~number_from), row]
        for extreme in range(rank.shape[1]):
            value = uint64(from_value + extreme)
            rank[event, uint64(extreme)] = values[value, row]
            present[event, uint64(extreme)] = not checked or valid[value, row] != 0
