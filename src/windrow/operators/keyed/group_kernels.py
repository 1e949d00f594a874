"""A join of two windows grouped by its key, straight from the windows: one pass over the rows.

Purpose: what kernels.run_whole_plain is without groups. Rows are merged, counted and put out in one
    pass; nothing is written between the windows and the updates.
Needs: closed time windows, plain lanes, no NULL; a row of output for each event at most.
Time: O(1) a row entering or leaving.

The structures, `fixed` tuples and places of output are those of kernels.py.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.windows.kernels import AHEAD, LARGE_TABLE, prefetch


@njit(cache=True)
def run_by_key_plain(left, right, left_fixed, right_fixed, until, grid, state, output):
    """Row 2 * key + input of count and lanes holds the rows of an input; a group is a key."""
    left_times, left_cells, left_values, left_cursor, left_hold = left
    right_times, right_cells, right_values, right_cursor, right_hold = right
    count, lanes, group_count, group_lanes, last_out = state
    control, out_at, out_group, out_count, out_lanes = output
    first_right = len(left_fixed)
    left_head, left_tail = left_cursor[0], left_cursor[1]
    right_head, right_tail = right_cursor[0], right_cursor[1]
    # times[end] is a sentinel; an empty window has head == tail, and "leaves" after the entry.
    left_in = left_times[uint64(left_tail)]
    left_out = left_times[uint64(left_head)] + left_hold
    right_in = right_times[uint64(right_tail)]
    right_out = right_times[uint64(right_head)] + right_hold
    shown = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    # A grid is rounded up to where it ends: most events are before the tick that is known.
    tick = shown
    fetches = count.size > LARGE_TABLE
    while True:
        left_now = min(left_in, left_out)
        right_now = min(right_in, right_out)
        now = min(left_now, right_now)
        if now > until:
            break
        if grid != 1:
            if now > tick or now <= tick - grid:
                tick = -(-now // grid) * grid
            now = tick
        now_from = used if now != shown else now_from
        shown = now
        is_left = left_now <= right_now
        if is_left:
            leaves = left_out <= left_in
            row = uint64(left_head if leaves else left_tail)
            left_head += leaves
            left_tail += not leaves
            left_in = left_times[uint64(left_tail)]
            left_out = left_times[uint64(left_head)] + left_hold
            if fetches and row + uint64(AHEAD) < uint64(left_cells.size):
                soon = np.int64(left_cells[row + uint64(AHEAD)])
                prefetch(count, 2 * soon)
                prefetch(lanes, 2 * soon)
                prefetch(group_lanes, soon)
            key = np.int64(left_cells[row])
        else:
            leaves = right_out <= right_in
            row = uint64(right_head if leaves else right_tail)
            right_head += leaves
            right_tail += not leaves
            right_in = right_times[uint64(right_tail)]
            right_out = right_times[uint64(right_head)] + right_hold
            if fetches and row + uint64(AHEAD) < uint64(right_cells.size):
                soon = np.int64(right_cells[row + uint64(AHEAD)])
                prefetch(count, 2 * soon)
                prefetch(lanes, 2 * soon)
                prefetch(group_lanes, soon)
            key = np.int64(right_cells[row])
        factor = np.int64(-1 if leaves else 1)
        group = uint64(key)
        mine = uint64(2 * key + (not is_left))
        other = mine ^ uint64(1)
        times = factor * count[other]
        total = group_count[group] + times
        group_count[group] = total
        count[mine] += factor
        before = last_out[group]
        number = used if before < now_from else before
        is_changed = times != 0
        last_out[group] = number if is_changed else before
        used += (number == used) & is_changed
        place = uint64(number - first)
        out_at[place] = shown
        out_group[place] = group
        out_count[place] = total
        for lane_number in range(len(left_fixed)):
            lane = uint64(lane_number)
            part = left_values[lane, row] if is_left else 0
            value = group_lanes[group, lane] + part * times + lanes[other, lane] * factor
            group_lanes[group, lane] = value
            out_lanes[place, lane] = value
            lanes[mine, lane] += part * factor
        for lane_number in range(len(right_fixed)):
            lane = uint64(first_right + lane_number)
            part = 0 if is_left else right_values[uint64(lane_number), row]
            value = group_lanes[group, lane] + part * times + lanes[other, lane] * factor
            group_lanes[group, lane] = value
            out_lanes[place, lane] = value
            lanes[mine, lane] += part * factor
    left_cursor[0], left_cursor[1] = left_head, left_tail
    right_cursor[0], right_cursor[1] = right_head, right_tail
    control[NOW] = shown
    control[NOW_FROM] = now_from
    control[USED] = used
