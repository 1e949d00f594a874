"""A star of two or three windows on one key, straight from the windows: one pass over the rows.

Purpose: what linear_kernels.apply_star does with events that were written before. Rows are merged,
    counted, summed and put out in one pass; nothing stands between the windows and the updates.
Needs: closed time windows, plain words, no NULL; a row of output for each event at most.
Time: O(1) a row entering or leaving.

The structures are those of linear_kernels.py and of windows/window.py (WindowArrays); where there
are two windows, the third is one without rows. Each input has a branch of its own up to the key and
the weights of the row, as the arrays differ; everything after it is common.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.windows.kernels import AHEAD, LARGE_TABLE, prefetch


@njit(cache=True)
def run_star(windows, nodes, fixed, column, until, grid, by_key, state, output):
    """The groups are the keys (by_key 1) or there are none (0); updates at multiples of the grid.

    column[input, term]: the number of the value that a row weighs, below 0 where it weighs 1.
    `nodes` and `fixed` are tuples as long as there are inputs and terms; () for any number of
    terms. On a tie the lower input is first. A state that did not change is written over.
    """
    a_times, a_cells, a_values, a_cursor, a_hold = windows[0]
    b_times, b_cells, b_values, b_cursor, b_hold = windows[1]
    c_times, c_cells, c_values, c_cursor, c_hold = windows[2]
    _, sums, _, group_terms, last_out = state
    control, out_at, out_group, _, out_terms = output
    inputs = len(nodes)
    terms = len(fixed) if len(fixed) > 0 else sums.shape[1]
    weights = np.ones(terms, np.int64)
    a_head, a_tail = a_cursor[0], a_cursor[1]
    b_head, b_tail = b_cursor[0], b_cursor[1]
    c_head, c_tail = c_cursor[0], c_cursor[1]
    # times[end] is a sentinel; an empty window has head == tail, and "leaves" after the entry.
    a_in, a_out = a_times[uint64(a_tail)], a_times[uint64(a_head)] + a_hold
    b_in, b_out = b_times[uint64(b_tail)], b_times[uint64(b_head)] + b_hold
    c_in, c_out = c_times[uint64(c_tail)], c_times[uint64(c_head)] + c_hold
    shown = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    tick = shown  # most events are before the end of the grid's step that is known
    fetches = sums.size > LARGE_TABLE
    while True:
        a_now = min(a_in, a_out)
        b_now = min(b_in, b_out)
        c_now = min(c_in, c_out)
        now = min(a_now, min(b_now, c_now))
        if now > until:
            break
        key = np.int64(0)
        node = 0
        following = 1
        preceding = inputs - 1
        leaves = False
        if a_now == now:
            leaves = a_out <= a_in
            row = uint64(a_head if leaves else a_tail)
            a_head += leaves
            a_tail += not leaves
            a_in = a_times[uint64(a_tail)]
            a_out = a_times[uint64(a_head)] + a_hold
            key = np.int64(a_cells[row])
            if fetches and row + uint64(AHEAD) < uint64(a_cells.size):
                prefetch(sums, inputs * np.int64(a_cells[row + uint64(AHEAD)]))
            for later in range(1, terms):
                value = column[uint64(0), uint64(later)]
                weights[uint64(later)] = a_values[uint64(value), row] if value >= 0 else 1
        elif b_now == now:
            node = 1
            following = 2 if inputs == 3 else 0
            preceding = 0
            leaves = b_out <= b_in
            row = uint64(b_head if leaves else b_tail)
            b_head += leaves
            b_tail += not leaves
            b_in = b_times[uint64(b_tail)]
            b_out = b_times[uint64(b_head)] + b_hold
            key = np.int64(b_cells[row])
            if fetches and row + uint64(AHEAD) < uint64(b_cells.size):
                prefetch(sums, inputs * np.int64(b_cells[row + uint64(AHEAD)]))
            for later in range(1, terms):
                value = column[uint64(1), uint64(later)]
                weights[uint64(later)] = b_values[uint64(value), row] if value >= 0 else 1
        else:
            node = 2
            following = 0
            preceding = 1
            leaves = c_out <= c_in
            row = uint64(c_head if leaves else c_tail)
            c_head += leaves
            c_tail += not leaves
            c_in = c_times[uint64(c_tail)]
            c_out = c_times[uint64(c_head)] + c_hold
            key = np.int64(c_cells[row])
            if fetches and row + uint64(AHEAD) < uint64(c_cells.size):
                prefetch(sums, inputs * np.int64(c_cells[row + uint64(AHEAD)]))
            for later in range(1, terms):
                value = column[uint64(2), uint64(later)]
                weights[uint64(later)] = c_values[uint64(value), row] if value >= 0 else 1
        if grid != 1:
            if now > tick or now <= tick - grid:
                tick = -(-now // grid) * grid
            now = tick
        now_from = used if now != shown else now_from
        shown = now
        factor = np.int64(-1 if leaves else 1)
        base = uint64(inputs * key)
        mine = base + uint64(node)
        group = uint64(key * by_key)
        # Of three inputs the other two, of two the other one twice: nothing is chosen by a branch.
        other = base + uint64(following)
        another = base + uint64(preceding)
        times = factor * sums[other, uint64(0)]
        if inputs == 3:
            times *= sums[another, uint64(0)]
        before = last_out[group]
        place_number = used if before < now_from else before
        is_changed = times != 0
        last_out[group] = place_number if is_changed else before
        used += (place_number == used) & is_changed
        place = uint64(place_number - first)
        total = group_terms[group, uint64(0)] + times
        group_terms[group, uint64(0)] = total
        sums[mine, uint64(0)] += factor
        out_at[place] = shown
        out_group[place] = group
        out_terms[place, uint64(0)] = total
        for later in range(1, terms):
            term = uint64(later)
            part = weights[term] * factor
            change = part * sums[other, term]
            if inputs == 3:
                change *= sums[another, term]
            total = group_terms[group, term] + change
            group_terms[group, term] = total
            out_terms[place, term] = total
            sums[mine, term] += part
    a_cursor[0], a_cursor[1] = a_head, a_tail
    b_cursor[0], b_cursor[1] = b_head, b_tail
    c_cursor[0], c_cursor[1] = c_head, c_tail
    control[NOW] = shown
    control[NOW_FROM] = now_from
    control[USED] = used
