"""Extremes and different values of one input, over an acyclic join in which it is the root.

Purpose: MIN, MAX and COUNT(DISTINCT) of a join without forming joined rows.
Needs: the values and the groups to be of the root; a tree and cells as in linear_kernels.py.
Time: amortised O(1) for a row's place in the queue of its cell; O(log cells) when the best of a
    live cell changes; a row of another input costs more than O(1) only when it is the first or the
    last of its cell.
Space: O(rows).
Source: the support counts of semi-join reduction (Yannakakis, 1981), ../extremes/kernels.py.

All rows of a cell of the root join with the same rows, so that either all of them or none appear in
the join: the cell is live or dead. A cell is live when it has rows and, for every child, a live
cell under the code by which it looks at the child; view[code] counts these. A group has a heap of
the best rank of its live cells for each extreme, and for each value counts the live cells that have
it. What belongs to extreme e of a cell, group or row has the number extremes * cell + e, and so on.

Only changes of extremes and tallies are put out; how many rows are joined is counted elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, njit
from windrow.operators.extremes.kernels import VALUE, change, delete, insert, pop, push
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.operators.tree.linear_kernels import MOST_NODES, link, unlink
from windrow.windows.kernels import EMPTY


@njit(cache=True)
def apply_extremes(start, size, order, shift, in_order, events, tree, state, most_groups, output):
    """Run events; returns how far it came: the output may be full.

    in_order: rows leave as they came, and cells have queues; else the numbers of rows are their
    slots, which are members of row_heap, and `head` holds the roots of the cells' heaps.
    """
    at, sign, cell = events[:3]
    parent, child_from, children, up_of_cell, down_of_cell, first_cell = tree[:6]
    next_cell, previous_cell, group_of_cell = tree[6:]
    rows_of_cell, view, is_live = state[:3]
    extremes, last_out = events.rank.shape[1], state.last_out
    control, out_at, out_group, _, out_extras = output
    nodes = parent.size
    path = np.empty(MOST_NODES, np.int64)
    current = np.empty(MOST_NODES, np.int64)
    now = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    base = control[FIRST]
    done = size
    for i in range(start, size):
        event = uint64(order[i])
        own = np.int64(cell[event])
        if own == EMPTY:
            continue
        if used - base + most_groups >= out_at.size:
            done = i
            break
        if at[event] != now:
            now = at[event]
            now_from = used
        factor = np.int64(sign[event])
        node = order[i] >> shift
        is_root = parent[node] == EMPTY
        place = uint64(nodes * own + node)
        before = rows_of_cell[place]
        rows_of_cell[place] = before + factor
        # The direction in which the event turns cells, its own and then others: 1, -1, or neither.
        turned = 0
        if before == 0 or before + factor == 0:
            turned = factor
            for index in range(child_from[node], child_from[node + 1]):
                child = children[index]
                code = np.int64(down_of_cell[uint64(nodes * own + child)])
                if view[uint64(nodes * code + child)] == 0:
                    turned = 0
                if before == 0:
                    link(own, code, child, nodes, first_cell, next_cell, previous_cell)
                else:
                    unlink(own, code, child, nodes, first_cell, next_cell, previous_cell)
        level = -1
        visited = EMPTY
        if is_root:
            has_new_first = queue_row(event, own, factor, in_order, events, state)
            if turned != 0 or (has_new_first and is_live[uint64(own)]):
                visited = own
        elif turned != 0:
            seen = uint64(nodes * np.int64(up_of_cell[place]) + node)
            count = view[seen]
            view[seen] = count + turned
            if count == 0 or count + turned == 0:
                level = 0
                path[0] = node
                current[0] = first_cell[seen]
        while True:
            if visited != EMPTY:
                group = np.int64(group_of_cell[uint64(visited)])
                is_changed = turned != 0 and turn_cell(visited, group, turned, state)
                is_whole = is_live[uint64(visited)]
                is_changed |= rank_cell(visited, group, is_whole, extremes, in_order, state)
                visited = EMPTY
                if is_changed:
                    out = last_out[group]
                    if out < now_from:
                        out = used
                        last_out[group] = out
                        used += 1
                    out -= base
                    out_at[out] = now
                    out_group[out] = group
                    write_extras(group, extremes, state, out_extras, out)
            if level < 0:
                break
            node = path[level]
            above = current[level]
            if above == EMPTY:
                level -= 1
                continue
            current[level] = next_cell[uint64(nodes * above + node)]
            upper = parent[node]
            is_whole = True
            for index in range(child_from[upper], child_from[upper + 1]):
                child = children[index]
                if child != node:
                    code = np.int64(down_of_cell[uint64(nodes * above + child)])
                    is_whole &= view[uint64(nodes * code + child)] != 0
            if not is_whole:
                continue
            if parent[upper] == EMPTY:
                visited = above
                continue
            seen = uint64(nodes * np.int64(up_of_cell[uint64(nodes * above + upper)]) + upper)
            count = view[seen]
            view[seen] = count + turned
            if count == 0 or count + turned == 0:
                level += 1
                path[level] = upper
                current[level] = first_cell[seen]
    control[NOW] = now
    control[NOW_FROM] = now_from
    control[USED] = used
    return done


@inlined
def queue_row(event, cell, factor, in_order, events, state):
    """A row of the root enters or leaves its cell; returns whether a best row of it changed."""
    head, base, row_heap = state.head, state.base, state.row_heap
    extremes = events.rank.shape[1]
    has_new_first = False
    for index in range(extremes):
        extreme = uint64(index)
        if events.present[event, extreme] == 0:
            continue
        owner = uint64(extremes * cell + index)
        number = events.number[event]
        member = extremes * number + index
        first = head[owner]
        if in_order:
            if factor > 0:
                push(owner, extreme, number, base, head, state.tail, state.ranks, state.links)
            else:
                pop(owner, extreme, number, base, head, state.tail, state.links)
        elif factor > 0:
            row_heap[member, VALUE] = events.rank[event, extreme]
            head[owner] = insert(np.int64(first), member, row_heap)
        else:
            head[owner] = delete(np.int64(first), member, row_heap)
        has_new_first |= head[owner] != first
    return has_new_first


@inlined
def turn_cell(cell, group, turned, state):
    """A cell of the root comes to live (1) or dies (-1); returns whether a tally changed."""
    is_changed = False
    distincts = state.live_cells.shape[0]
    state.is_live[cell] = turned > 0
    for distinct in range(distincts):
        pair = state.pair_of_cell[distincts * cell + distinct]
        if pair != EMPTY:
            count = state.live_cells[distinct, pair]
            state.live_cells[distinct, pair] = count + turned
            if count == 0 or count + turned == 0:
                state.tally[distincts * group + distinct] += turned
                is_changed = True
    return is_changed


@inlined
def rank_cell(cell, group, is_live, extremes, in_order, state):
    """Have a cell in the heaps of its group by its best rows; returns whether a heap changed."""
    heap, group_root, is_listed = state.heap, state.group_root, state.is_listed
    is_changed = False
    for index in range(extremes):
        owner = uint64(extremes * cell + index)
        top = uint64(extremes * group + index)
        best = np.int64(state.head[owner])
        if is_live and best != EMPTY:
            word = np.int64(0)
            if in_order:
                word = state.ranks[uint64(index), uint64(best - state.base)]
            else:
                word = state.row_heap[best, VALUE]
            if not is_listed[owner]:
                heap[owner, VALUE] = word
                group_root[top] = insert(group_root[top], np.int64(owner), heap)
                is_listed[owner] = True
                is_changed = True
            elif heap[owner, VALUE] != word:
                group_root[top] = change(group_root[top], np.int64(owner), word, heap)
                is_changed = True
        elif is_listed[owner]:
            group_root[top] = delete(group_root[top], np.int64(owner), heap)
            is_listed[owner] = False
            is_changed = True
    return is_changed


@inlined
def write_extras(group, extremes, state, extras, place):
    """Write the tallies, ranks and flags of a group."""
    distincts = state.live_cells.shape[0]
    for distinct in range(distincts):
        extras[place, distinct] = state.tally[distincts * group + distinct]
    for extreme in range(extremes):
        root = state.group_root[extremes * group + extreme]
        extras[place, distincts + extreme] = state.heap[root, VALUE] if root != EMPTY else 0
        extras[place, distincts + extremes + extreme] = root != EMPTY


@njit(cache=True)
def gather_ranks(first, size, rows, words, valid, number_from, number, rank, present):
    """Number and ranks of the root's events, whose own words begin with the ranks.

    number_from: the number of the row in place 0, or, below 0, ~(the word that holds the slot).
    """
    checked = valid.shape[0] > 0
    for i in range(first, first + size):
        event = uint64(i)
        row = uint64(rows[event])
        if number_from >= 0:
            number[event] = rows[event] + number_from
        else:
            number[event] = words[uint64(~number_from), row]
        for extreme in range(rank.shape[1]):
            word = uint64(extreme)
            rank[event, word] = words[word, row]
            present[event, word] = not checked or valid[word, row] != 0


@njit(cache=True)
def lay_extras(at, group, extreme_at, extreme_group, extras, current, out, first):
    """Beside each update the extras of its group at its instant; `current` is kept up to date.

    Columns from `first` on are written. Whatever changes extras also updates the group.
    """
    change_index = 0
    start = 0
    while start < at.size:
        now = at[start]
        while change_index < extreme_at.size and extreme_at[change_index] <= now:
            changed = extreme_group[change_index]
            for column in range(extras.shape[1]):
                current[changed, column] = extras[change_index, column]
            change_index += 1
        while start < at.size and at[start] == now:
            for column in range(extras.shape[1]):
                out[start, first + column] = current[group[start], column]
            start += 1
