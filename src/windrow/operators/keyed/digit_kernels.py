"""A join of two windows whose sums are digits, straight from the windows: one pass over the rows.

Purpose: what kernels.run_whole_plain and group_kernels.run_by_key_plain are for values of one plain
    lane: rows are merged, cut into digits, counted and put out in one pass.
Needs: closed time windows, digits that hold every value (keyed/lane_fit.py), no NULL; a row of
    output for each event at most.
Time: O(1) a row entering or leaving.

The structures and places of output are those of kernels.py; mode 1: a group is a key, mode 0: there
is one group. A cut has a tuple a column (operators/digits.py), none of them empty; the `fixed`
tuples are as long as there are lanes of an input: that is known when the loops are compiled.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.exact.digit_kernels import digit_of
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.windows.kernels import AHEAD, LARGE_TABLE, prefetch


@njit(cache=True)
def run_digits(
    left, right, left_doubles, right_doubles, left_fixed, right_fixed, left_cut, right_cut, base,
    until, grid, mode, state, output,
):  # fmt: skip
    """Row 2 * key + input of count and lanes holds the rows of an input."""
    left_times, left_cells, left_values, left_cursor, left_hold = left
    right_times, right_cells, right_values, right_cursor, right_hold = right
    left_of, left_whole, left_scales, left_above = left_cut
    right_of, right_whole, right_scales, right_above = right_cut
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
    if mode == 0 and used > now_from:
        last_out[0] = now_from  # kernels for one group alone need not have noted it
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
        if left_now <= right_now:
            leaves = left_out <= left_in
            row = uint64(left_head if leaves else left_tail)
            factor = np.int64(-1 if leaves else 1)
            left_head += leaves
            left_tail += not leaves
            left_in = left_times[uint64(left_tail)]
            left_out = left_times[uint64(left_head)] + left_hold
            if fetches and row + uint64(AHEAD) < uint64(left_cells.size):
                soon = np.int64(left_cells[row + uint64(AHEAD)])
                prefetch(count, 2 * soon)
                prefetch(lanes, 2 * soon)
                prefetch(group_lanes, mode * soon)
            key = np.int64(left_cells[row])
            group = uint64(key * mode)
            mine = uint64(2 * key)
            other = mine + uint64(1)
            times = factor * count[other]
            for number in range(len(left_fixed)):
                lane = uint64(number)
                value = uint64(left_of[number])
                double = left_doubles[value, row]
                if left_whole[number]:
                    double = np.float64(left_values[value, row])
                part = digit_of(double, left_scales[number], left_above[number], base)
                group_lanes[group, lane] += part * times
                lanes[mine, lane] += part * factor
            for number in range(len(right_fixed)):
                lane = uint64(first_right + number)
                group_lanes[group, lane] += lanes[other, lane] * factor
        else:
            leaves = right_out <= right_in
            row = uint64(right_head if leaves else right_tail)
            factor = np.int64(-1 if leaves else 1)
            right_head += leaves
            right_tail += not leaves
            right_in = right_times[uint64(right_tail)]
            right_out = right_times[uint64(right_head)] + right_hold
            if fetches and row + uint64(AHEAD) < uint64(right_cells.size):
                soon = np.int64(right_cells[row + uint64(AHEAD)])
                prefetch(count, 2 * soon)
                prefetch(lanes, 2 * soon)
                prefetch(group_lanes, mode * soon)
            key = np.int64(right_cells[row])
            group = uint64(key * mode)
            other = uint64(2 * key)
            mine = other + uint64(1)
            times = factor * count[other]
            for number in range(len(left_fixed)):
                lane = uint64(number)
                group_lanes[group, lane] += lanes[other, lane] * factor
            for number in range(len(right_fixed)):
                lane = uint64(first_right + number)
                value = uint64(right_of[number])
                double = right_doubles[value, row]
                if right_whole[number]:
                    double = np.float64(right_values[value, row])
                part = digit_of(double, right_scales[number], right_above[number], base)
                group_lanes[group, lane] += part * times
                lanes[mine, lane] += part * factor
        count[mine] += factor
        total = group_count[group] + times
        group_count[group] = total
        before = last_out[group]
        number = used if before < now_from else before
        is_changed = times != 0
        last_out[group] = number if is_changed else before
        used += (number == used) & is_changed
        place = uint64(number - first)
        out_at[place] = shown
        out_group[place] = group
        out_count[place] = total
        for number in range(len(left_fixed) + len(right_fixed)):
            lane = uint64(number)
            out_lanes[place, lane] = group_lanes[group, lane]
    left_cursor[0], left_cursor[1] = left_head, left_tail
    right_cursor[0], right_cursor[1] = right_head, right_tail
    control[NOW] = shown
    control[NOW_FROM] = now_from
    control[USED] = used
