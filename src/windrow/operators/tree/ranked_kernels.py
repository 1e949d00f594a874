"""Extremes of one of two windows that join by a key, straight from the windows: one pass.

Purpose: MIN and MAX next to counts and sums, without groups; what linear_kernels.apply_star and
    extremes_kernels.apply_extremes do with events that were written before.
Needs: closed time windows, plain words, no NULL; a row of output for each event at most.
Time: amortised O(1) a row, and O(log keys) when the best of a key with partners changes.

A cell is a key, which is live while both windows have rows of it: the counts say so, and nothing
else is kept. The other structures are those of star_kernels.py and extremes_kernels.py; `root` is
the window whose extremes are wanted.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.operators.extremes.kernels import VALUE, pop, push
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.operators.tree.extremes_kernels import rank_cell
from windrow.windows.kernels import AHEAD, EMPTY, LARGE_TABLE, prefetch


@njit(cache=True)
def run_ranked(
    root, other, root_input, fixed, column, ranked, until, grid, sums, group_terms, last_out,
    extreme_state, output, out_extras,
):  # fmt: skip
    """fixed, ranked: tuples as long as there are terms (or () for any number) and extremes."""
    root_times, root_cells, root_values, root_cursor, root_hold = root
    other_times, other_cells, other_values, other_cursor, other_hold = other
    head, tail, ranks, links, base = extreme_state[3:8]
    heap, group_root = extreme_state.heap, extreme_state.group_root
    control, out_at, out_group, _, out_terms = output
    extremes = len(ranked)
    terms = len(fixed) if len(fixed) > 0 else sums.shape[1]
    weights = np.ones(terms, np.int64)
    best = np.zeros(2 * extremes, np.int64)
    for extreme in range(extremes):
        top = group_root[extreme]
        best[extreme] = heap[top, VALUE] if top != EMPTY else 0
        best[extremes + extreme] = top != EMPTY
    root_first = np.int64(root_input == 0)  # on a tie the lower input is first
    root_head, root_tail = root_cursor[0], root_cursor[1]
    other_head, other_tail = other_cursor[0], other_cursor[1]
    root_in = root_times[uint64(root_tail)]
    root_out = root_times[uint64(root_head)] + root_hold
    other_in = other_times[uint64(other_tail)]
    other_out = other_times[uint64(other_head)] + other_hold
    shown = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    out = last_out[0]
    total = group_terms[0, 0]
    tick = shown
    fetches = sums.size > LARGE_TABLE
    while True:
        root_now = min(root_in, root_out)
        other_now = min(other_in, other_out)
        now = min(root_now, other_now)
        if now > until:
            break
        is_ranked = False
        if root_now < other_now + root_first:
            leaves = root_out <= root_in
            row = uint64(root_head if leaves else root_tail)
            number = np.int64(row) + base
            root_head += leaves
            root_tail += not leaves
            root_in = root_times[uint64(root_tail)]
            root_out = root_times[uint64(root_head)] + root_hold
            key = np.int64(root_cells[row])
            if fetches and row + uint64(AHEAD) < uint64(root_cells.size):
                prefetch(sums, 2 * np.int64(root_cells[row + uint64(AHEAD)]))
            factor = np.int64(-1 if leaves else 1)
            mine = uint64(2 * key + root_input)
            partner = uint64(2 * key + 1 - root_input)
            for index in range(extremes):
                owner = uint64(extremes * key + index)
                extreme = uint64(index)
                before = head[owner]
                if leaves:
                    pop(owner, extreme, number, base, head, tail, links)
                else:
                    push(owner, extreme, number, base, head, tail, ranks, links)
                is_ranked |= head[owner] != before
            is_ranked &= sums[partner, uint64(0)] != 0
            for later in range(1, terms):
                value = column[uint64(root_input), uint64(later)]
                weights[uint64(later)] = root_values[uint64(value), row] if value >= 0 else 1
        else:
            leaves = other_out <= other_in
            row = uint64(other_head if leaves else other_tail)
            other_head += leaves
            other_tail += not leaves
            other_in = other_times[uint64(other_tail)]
            other_out = other_times[uint64(other_head)] + other_hold
            key = np.int64(other_cells[row])
            if fetches and row + uint64(AHEAD) < uint64(other_cells.size):
                prefetch(sums, 2 * np.int64(other_cells[row + uint64(AHEAD)]))
            factor = np.int64(-1 if leaves else 1)
            partner = uint64(2 * key + root_input)
            mine = uint64(2 * key + 1 - root_input)
            count = sums[mine, uint64(0)]
            is_ranked = (count == 0 or count + factor == 0) and sums[partner, uint64(0)] != 0
            for later in range(1, terms):
                value = column[uint64(1 - root_input), uint64(later)]
                weights[uint64(later)] = other_values[uint64(value), row] if value >= 0 else 1
        times = factor * sums[partner, uint64(0)]
        mine_now = sums[mine, uint64(0)] + factor
        sums[mine, uint64(0)] = mine_now
        if is_ranked:
            is_live = mine_now != 0 and times != 0
            rank_cell(key, 0, is_live, extremes, True, extreme_state)
            for index in range(extremes):
                top = group_root[uint64(index)]
                best[uint64(index)] = heap[uint64(top), uint64(VALUE)] if top != EMPTY else 0
                best[uint64(extremes + index)] = top != EMPTY
        if grid != 1:
            if now > tick or now <= tick - grid:
                tick = -(-now // grid) * grid
            now = tick
        now_from = used if now != shown else now_from
        shown = now
        place_number = used if out < now_from else out
        is_changed = times != 0
        out = place_number if is_changed else out
        used += (place_number == used) & is_changed
        place = uint64(place_number - first)
        total += times
        out_at[place] = shown
        out_group[place] = 0
        out_terms[place, uint64(0)] = total
        for later in range(1, terms):
            term = uint64(later)
            part = weights[term] * factor
            value = group_terms[uint64(0), term] + part * sums[partner, term]
            group_terms[uint64(0), term] = value
            out_terms[place, term] = value
            sums[mine, term] += part
        for index in range(2 * extremes):
            out_extras[place, uint64(index)] = best[uint64(index)]
    root_cursor[0], root_cursor[1] = root_head, root_tail
    other_cursor[0], other_cursor[1] = other_head, other_tail
    group_terms[0, 0] = total
    last_out[0] = out
    control[NOW] = shown
    control[NOW_FROM] = now_from
    control[USED] = used
