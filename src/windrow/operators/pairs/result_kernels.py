"""Joined rows kept one by one, each until a row of its own leaves.

Purpose: PC, GPC and MPC: the operator tree, there to be compared with.
Needs: joined rows in the order of their events.
Time: O(inputs) a joined row. Space: O(joined rows).
Source: paper 1.

A result is in one list for each of its rows (row `slot` of input i has the number
slot * inputs + i); the first of its rows to leave takes it back, the last one frees its place.
"""

from __future__ import annotations

from windrow.compiling.kernels import njit
from windrow.exact.kernels import LIMB_BITS
from windrow.operators.extremes.kernels import VALUE, delete, insert
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.operators.pairs.sums.kernels import write_states
from windrow.windows.kernels import EMPTY

# Entries of `progress`.
EVENT = 0  # how far it came
ROW = 1
FIRST_FREE = 2  # free results are chained by the first column of `following`
NEXT_FRESH = 3
PROGRESS_ENTRIES = 4


@njit(cache=True)
def keep_rows(
    first_event, next_event, first_row, size, row_event, row_slot, row_group, share, tally_code,
    rank, present, event_at, event_input, event_slot, event_sign, masks,
    tally_count, result_group, result_lanes, result_tally, is_live, users, is_ranked,
    following, first_result, results_of, progress,
    group_count, group_lanes, tallies, roots, heap, last_out, control,
    out_at, out_group, out_count, out_lanes, out_extras,
):  # fmt: skip
    """Pipelined: every joined row becomes a result; a row that leaves takes its results back.

    Runs events first_event to next_event - 1 and what the block has of next_event, whose first row
    is first_row; there must be room for one result a row. Returns whether it came to the end: there
    may be no room for touches.
    """
    inputs = row_slot.shape[0]
    width = group_lanes.shape[1]
    is_plain = masks.size == 0
    is_grouped = row_group.size > 0
    counted = tally_code.shape[0]
    extremes = rank.shape[0]
    row = first_row
    for event in range(first_event, next_event + 1):
        is_leave = event < next_event and event_sign[event] < 0
        has_rows = row < size and row_event[row] == event
        if not is_leave and not has_rows:
            continue
        side = event_input[event]
        owner = event_slot[event] * inputs + side
        leaving = results_of[owner] if is_leave else 0
        if control[USED] - control[FIRST] + leaving + size - row >= out_at.size:
            progress[EVENT] = event
            progress[ROW] = row
            return False
        if event_at[event] != control[NOW]:
            write_states(
                group_count, group_lanes, tallies, roots, heap, control,
                out_group, out_count, out_lanes, out_extras,
            )  # fmt: skip
            control[NOW] = event_at[event]
            control[NOW_FROM] = control[USED]
        if is_leave:
            result = first_result[owner]
            while result != EMPTY:
                after = following[result, side]
                if is_live[result]:
                    is_live[result] = 0
                    group = result_group[result]
                    if last_out[group] < control[NOW_FROM]:
                        last_out[group] = control[USED]
                        out_at[control[USED] - control[FIRST]] = event_at[event]
                        out_group[control[USED] - control[FIRST]] = group
                        control[USED] += 1
                    group_count[group] -= 1
                    carry = 0
                    for lane in range(width):
                        total = group_lanes[group, lane] - result_lanes[result, lane] + carry
                        kept = total
                        if not is_plain:
                            kept = total & masks[lane]
                            carry = (total - kept) >> LIMB_BITS
                        group_lanes[group, lane] = kept
                    for value in range(counted):
                        code = result_tally[result, value]
                        if code != EMPTY:
                            before = tally_count[value, code]
                            tally_count[value, code] = before - 1
                            tallies[group, value] -= before == 1
                    for extreme in range(extremes):
                        if is_ranked[result, extreme]:
                            is_ranked[result, extreme] = 0
                            roots[group, extreme] = delete(
                                roots[group, extreme], result * extremes + extreme, heap
                            )
                users[result] -= 1
                if users[result] == 0:
                    following[result, 0] = progress[FIRST_FREE]
                    progress[FIRST_FREE] = result
                result = after
            first_result[owner] = EMPTY
            results_of[owner] = 0
        while row < size and row_event[row] == event:
            result = progress[FIRST_FREE]
            if result != EMPTY:
                progress[FIRST_FREE] = following[result, 0]
            else:
                result = progress[NEXT_FRESH]
                progress[NEXT_FRESH] += 1
            group = 0
            if is_grouped:
                group = row_group[row]
            if last_out[group] < control[NOW_FROM]:
                last_out[group] = control[USED]
                out_at[control[USED] - control[FIRST]] = event_at[event]
                out_group[control[USED] - control[FIRST]] = group
                control[USED] += 1
            is_live[result] = 1
            users[result] = inputs
            result_group[result] = group
            for number in range(inputs):
                owner = row_slot[number, row] * inputs + number
                following[result, number] = first_result[owner]
                first_result[owner] = result
                results_of[owner] += 1
            group_count[group] += 1
            carry = 0
            for lane in range(width):
                result_lanes[result, lane] = share[row, lane]
                total = group_lanes[group, lane] + share[row, lane] + carry
                kept = total
                if not is_plain:
                    kept = total & masks[lane]
                    carry = (total - kept) >> LIMB_BITS
                group_lanes[group, lane] = kept
            for value in range(counted):
                code = tally_code[value, row]
                result_tally[result, value] = code
                if code != EMPTY:
                    tally_count[value, code] += 1
                    tallies[group, value] += tally_count[value, code] == 1
            for extreme in range(extremes):
                is_ranked[result, extreme] = present[extreme, row]
                if present[extreme, row]:
                    member = result * extremes + extreme
                    heap[member, VALUE] = rank[extreme, row]
                    roots[group, extreme] = insert(roots[group, extreme], member, heap)
            row += 1
    progress[EVENT] = next_event
    progress[ROW] = row
    return True
