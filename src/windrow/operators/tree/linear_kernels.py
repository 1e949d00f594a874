"""The view tree: counts and sums over an acyclic join of windows, in plain 64-bit words.

Purpose: COUNT, SUM and AVG of a join of several windows without forming joined rows.
Needs: a join tree of the inputs; every sum as a sum of terms, a term being a product of one weight
    a row of every input (1 where the input has no part in it). Term 0 counts: it weighs 1 only.
Time: O(1) a row for a star on one key; else O(cells that the change reaches).
Space: O(rows), never O(joined rows).
Source: F-IVM (Nikolic and Olteanu, 2018): a ring of payloads over a tree of views.

Inputs are the nodes of the tree. The rows of a node that are alike in all that the tree asks (the
code that it shares with its parent, the codes that it shares with its children and, at the root,
the group) make a cell. payload[cell] sums the weights of the cell's rows; view[code] of a node sums
over its cells with that code towards the parent: payload times the views of the children. A row
changes its cell, the view above it, then every cell of the parent that looks at this view, and so
on up to the root, whose cells belong to groups.

The structures are those of arrays.py: events (TermEvents), tree (TreeArrays), state (SumArrays) and
output (OutputArrays); they are taken apart before the loops, as in keyed/kernels.py. A leaf needs
no payload: its cells are its codes. `fixed` is a tuple as long as there are terms, which lets the
compiler unroll the loops over them, or () for any number. share holds the weights of a row from
term 1 on.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, njit
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.windows.kernels import AHEAD, EMPTY, LARGE_TABLE, prefetch

# Levels of a tree: nodes on the longest way from a leaf to the root.
MOST_NODES = 6


@njit(cache=True)
def merge_inputs(at, position, stop, has_more, nodes, order):
    """Merge the events of several windows by time; stop when one runs dry that has more to come.

    position and stop say which events of each input are left to merge; `nodes` is a tuple as long
    as there are inputs. On a tie the lower input is first. Returns how many were ordered.
    """
    inputs = len(nodes)
    count = 0
    # Two or three inputs, while all have events: all in registers, and no branch on the data.
    if inputs == 2:
        i, j = position[0], position[1]
        while count < order.size and i < stop[0] and j < stop[1]:
            takes_i = at[uint64(i)] <= at[uint64(j)]
            order[uint64(count)] = i if takes_i else j
            i += takes_i
            j += not takes_i
            count += 1
        position[0], position[1] = i, j
    if inputs == 3:
        i, j, k = position[0], position[1], position[2]
        while count < order.size and i < stop[0] and j < stop[1] and k < stop[2]:
            first = at[uint64(i)]
            second = at[uint64(j)]
            third = at[uint64(k)]
            takes_i = (first <= second) & (first <= third)
            takes_k = (third < second) & (third < first)
            order[uint64(count)] = i if takes_i else (k if takes_k else j)
            i += takes_i
            k += takes_k
            j += not (takes_i | takes_k)
            count += 1
        position[0], position[1], position[2] = i, j, k
    last = np.iinfo(np.int64).max
    heads = np.empty(inputs, np.int64)
    for input_index in range(inputs):
        heads[input_index] = last
        if position[input_index] < stop[input_index]:
            heads[input_index] = at[position[input_index]]
        elif has_more[input_index]:
            return count
    while count < order.size:
        best = uint64(0)
        least = heads[0]
        for number in range(1, inputs):
            input_index = uint64(number)
            is_less = heads[input_index] < least
            best = input_index if is_less else best
            least = heads[input_index] if is_less else least
        if least == last:
            break
        place = position[best]
        order[uint64(count)] = place
        count += 1
        position[best] = place + 1
        if place + 1 < stop[best]:
            heads[best] = at[uint64(place + 1)]
        elif has_more[best]:
            break
        else:
            heads[best] = last
    return count


@njit(cache=True)
def apply_star(size, order, shift, events, nodes, fixed, by_key, state, output):
    """All inputs join on one key; the groups are the keys (by_key 1) or there are none (0).

    Row inputs * key + input of the view holds an input's weights; `nodes` is a tuple as long as
    there are inputs. Nothing branches on the data; a state that did not change is written over.
    """
    at, sign, cell, share = events
    _, sums, _, group_terms, last_out = state
    control, out_at, out_group, _, out_terms = output
    inputs = len(nodes)
    terms = len(fixed) if len(fixed) > 0 else sums.shape[1]
    now = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    fetches = sums.size > LARGE_TABLE
    for i in range(size):
        number = order[uint64(i)]
        event = uint64(number)
        key = np.int64(cell[event])
        if key == EMPTY:
            continue
        if fetches and i + AHEAD < size:
            prefetch(sums, inputs * np.int64(cell[uint64(order[uint64(i + AHEAD)])]))
        time = at[event]
        now_from = used if time != now else now_from
        now = time
        factor = np.int64(sign[event])
        node = number >> shift
        base = uint64(inputs * key)
        mine = base + uint64(node)
        group = uint64(key * by_key)
        times = factor
        for other in range(inputs):
            there = sums[base + uint64(other), uint64(0)]
            times *= 1 if other == node else there
        before = last_out[group]
        place_number = used if before < now_from else before
        is_changed = times != 0
        last_out[group] = place_number if is_changed else before
        used += (place_number == used) & is_changed
        place = uint64(place_number - first)
        total = group_terms[group, uint64(0)] + times
        group_terms[group, uint64(0)] = total
        sums[mine, uint64(0)] += factor
        out_at[place] = now
        out_group[place] = group
        out_terms[place, uint64(0)] = total
        for later in range(1, terms):
            term = uint64(later)
            part = share[event, uint64(later - 1)] * factor
            change = part
            for other in range(inputs):
                there = sums[base + uint64(other), term]
                change *= 1 if other == node else there
            total = group_terms[group, term] + change
            group_terms[group, term] = total
            out_terms[place, term] = total
            sums[mine, term] += part
    control[NOW] = now
    control[NOW_FROM] = now_from
    control[USED] = used


@njit(cache=True)
def apply_tree(start, size, order, shift, events, fixed, tree, state, work, most_groups, output):
    """Any tree. Returns how far it came: the output may be full.

    work: MOST_NODES + 1 rows of terms. There must be room for most_groups rows at every event.
    """
    at, sign, cell, share = events
    parent, child_from, children, up_of_cell, down_of_cell, first_cell = tree[:6]
    next_cell, previous_cell, group_of_cell = tree[6:]
    payload, view, _, group_terms, last_out = state
    control, out_at, out_group, _, out_terms = output
    nodes = parent.size
    terms = len(fixed) if len(fixed) > 0 else payload.shape[1]
    path = np.empty(MOST_NODES, np.int64)
    current = np.empty(MOST_NODES, np.int64)
    fresh = uint64(MOST_NODES)
    now = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    done = size
    for i in range(start, size):
        event = uint64(order[i])
        own = np.int64(cell[event])
        if own == EMPTY:
            continue
        if used - first + most_groups >= out_at.size:
            done = i
            break
        if at[event] != now:
            now = at[event]
            now_from = used
        factor = np.int64(sign[event])
        node = order[i] >> shift
        place = uint64(nodes * own + node)
        work[uint64(0), uint64(0)] = factor
        for later in range(1, terms):
            work[uint64(0), uint64(later)] = share[event, uint64(later - 1)] * factor
        is_leaf = child_from[node] == child_from[node + 1] and parent[node] != EMPTY
        if not is_leaf:
            before = payload[place, uint64(0)]
            for number in range(terms):
                term = uint64(number)
                payload[place, term] += work[uint64(0), term]
            for index in range(child_from[node], child_from[node + 1]):
                child = children[index]
                code = np.int64(down_of_cell[uint64(nodes * own + child)])
                seen = uint64(nodes * code + child)
                for number in range(terms):
                    term = uint64(number)
                    work[uint64(0), term] *= view[seen, term]
                if before == 0:
                    link(own, code, child, nodes, first_cell, next_cell, previous_cell)
                elif before + factor == 0:
                    unlink(own, code, child, nodes, first_cell, next_cell, previous_cell)
        if work[uint64(0), uint64(0)] == 0:
            continue
        level = -1
        visited = EMPTY
        row = uint64(0)
        if parent[node] == EMPTY:
            visited = own
        else:
            code = np.int64(up_of_cell[place])
            seen = uint64(nodes * code + node)
            for number in range(terms):
                term = uint64(number)
                view[seen, term] += work[uint64(0), term]
            level = 0
            path[0] = node
            current[0] = first_cell[seen]
        while True:
            if visited != EMPTY:
                group = uint64(group_of_cell[visited])
                visited = EMPTY
                out = last_out[group]
                if out < now_from:
                    out = used
                    last_out[group] = out
                    used += 1
                there = uint64(out - first)
                out_at[there] = now
                out_group[there] = group
                for number in range(terms):
                    term = uint64(number)
                    total = group_terms[group, term] + work[row, term]
                    group_terms[group, term] = total
                    out_terms[there, term] = total
            if level < 0:
                break
            node = path[level]
            above = current[level]
            if above == EMPTY:
                level -= 1
                continue
            current[level] = next_cell[uint64(nodes * above + node)]
            upper = parent[node]
            place = uint64(nodes * above + upper)
            for number in range(terms):
                term = uint64(number)
                work[fresh, term] = payload[place, term] * work[uint64(level), term]
            for index in range(child_from[upper], child_from[upper + 1]):
                child = children[index]
                if child != node:
                    code = np.int64(down_of_cell[uint64(nodes * above + child)])
                    seen = uint64(nodes * code + child)
                    for number in range(terms):
                        term = uint64(number)
                        work[fresh, term] *= view[seen, term]
            if work[fresh, uint64(0)] == 0:
                continue
            if parent[upper] == EMPTY:
                visited = above
                row = fresh
                continue
            code = np.int64(up_of_cell[place])
            seen = uint64(nodes * code + upper)
            level += 1
            for number in range(terms):
                term = uint64(number)
                added = work[fresh, term]
                view[seen, term] += added
                work[uint64(level), term] = added
            path[level] = upper
            current[level] = first_cell[seen]
    control[NOW] = now
    control[NOW_FROM] = now_from
    control[USED] = used
    return done


@inlined
def link(cell, code, child, nodes, first_cell, next_cell, previous_cell):
    """A cell has its first row: list it among those that look at the child's code."""
    place = nodes * cell + child
    following = first_cell[nodes * code + child]
    next_cell[place] = following
    previous_cell[place] = EMPTY
    if following != EMPTY:
        previous_cell[nodes * following + child] = cell
    first_cell[nodes * code + child] = cell


@inlined
def unlink(cell, code, child, nodes, first_cell, next_cell, previous_cell):
    """A cell has no row left: take it off the list."""
    place = nodes * cell + child
    following = next_cell[place]
    previous = previous_cell[place]
    if previous == EMPTY:
        first_cell[nodes * code + child] = following
    else:
        next_cell[nodes * previous + child] = following
    if following != EMPTY:
        previous_cell[nodes * following + child] = previous


@njit(cache=True)
def link_all(node, payload, tree):
    """List all cells of a node that have rows."""
    parent, child_from, children, _, down_of_cell, first_cell, next_cell, previous_cell, _ = tree
    nodes = parent.size
    for cell in range(payload.shape[0] // nodes):
        if payload[nodes * cell + node, 0] == 0:
            continue
        for index in range(child_from[node], child_from[node + 1]):
            child = children[index]
            code = down_of_cell[nodes * cell + child]
            link(cell, code, child, nodes, first_cell, next_cell, previous_cell)


@njit(cache=True)
def weigh(first, size, rows, values, valid, column, guards, share):
    """The weights of events from term 1 on: a value, or 1 where the input has no part in the term.

    column[term]: the value's number or EMPTY. guards[term, value] says which values must not be
    NULL: the weight is 0 where one is.
    """
    checked = valid.shape[0] > 0
    for i in range(first, first + size):
        event = uint64(i)
        row = uint64(rows[event])
        for term in range(1, column.size):
            weight = np.int64(1)
            if column[term] != EMPTY:
                weight = values[uint64(column[term]), row]
            if checked:
                for value in range(guards.shape[1]):
                    if guards[term, value] != 0 and valid[value, row] == 0:
                        weight = 0
            share[event, uint64(term - 1)] = weight


@njit(cache=True)
def gather_codes(first, size, rows, codes, out):
    """The cells of events, where they stand in a column of 32 bits."""
    for i in range(first, first + size):
        out[uint64(i)] = codes[uint64(rows[uint64(i)])]
