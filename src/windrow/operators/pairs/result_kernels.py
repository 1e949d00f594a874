"""Joined rows kept one by one, each until a row of its own leaves.

Purpose: PC, GPC and MPC: the operator tree, there to be compared with.
Needs: joined rows in the order of their events.
Time: O(inputs) a joined row. Space: O(joined rows).
Source: paper 1.

A result is in one list for each of its rows (row `slot` of input i has the number
slot * inputs + i); the first of its rows to leave takes it back, the last one frees its place.
Structures are as in sums/kernels.py; `results` is ResultArrays.
"""

from __future__ import annotations

from windrow.compiling.kernels import njit
from windrow.operators.extremes.kernels import VALUE, delete, insert
from windrow.operators.keyed.kernels import FIRST, USED
from windrow.operators.pairs.sums.kernels import add_lanes, come_to, count_value, touch
from windrow.windows.kernels import EMPTY

# Entries of `progress`.
EVENT = 0  # how far it came
ROW = 1
FIRST_FREE = 2  # free results are chained by the first column of `following`
NEXT_FRESH = 3
PROGRESS_ENTRIES = 4


@njit(cache=True)
def keep_rows(next_event, rows, row_slot, events, results, states, output):
    """Pipelined: every joined row becomes a result; a row that leaves takes its results back.

    Goes on where `progress` says, up to next_event and with what the block has of that; there must
    be room for one result a row. Returns whether it came to the end: there may be no room for
    touches.
    """
    row_event, row_group, share, tally_code, rank, present = rows
    event_at, event_input, event_slot, event_sign = events
    result_group, result_lanes, result_tally, is_live, users, is_ranked = results[:6]
    following, first_result, results_of, progress = results[6:]
    row_count, lanes, masks, tallies, roots, heap, last_out, tally_count = states
    control, out_at, out_group = output[:3]
    inputs = row_slot.shape[0]
    size = row_event.size
    is_grouped = row_group.size > 0
    counted = tally_code.shape[0]
    extremes = rank.shape[0]
    row = progress[ROW]
    for event in range(progress[EVENT], next_event + 1):
        is_leave = event < next_event and event_sign[event] < 0
        has_rows = row < size and row_event[row] == event
        if not is_leave and not has_rows:
            continue
        at = event_at[event]
        side = event_input[event]
        owner = event_slot[event] * inputs + side
        leaving = results_of[owner] if is_leave else 0
        if control[USED] - control[FIRST] + leaving + size - row >= out_at.size:
            progress[EVENT] = event
            progress[ROW] = row
            return False
        come_to(at, control, states, output)
        if is_leave:
            result = first_result[owner]
            while result != EMPTY:
                after = following[result, side]
                if is_live[result]:
                    is_live[result] = 0
                    group = result_group[result]
                    touch(group, at, last_out, control, out_at, out_group)
                    row_count[group] -= 1
                    add_lanes(group, result_lanes, result, -1, lanes, masks)
                    for value in range(counted):
                        code = result_tally[result, value]
                        count_value(group, value, code, -1, tallies, tally_count)
                    for extreme in range(extremes):
                        if is_ranked[result, extreme]:
                            is_ranked[result, extreme] = 0
                            member = result * extremes + extreme
                            roots[group, extreme] = delete(roots[group, extreme], member, heap)
                users[result] -= 1
                if users[result] == 0:
                    following[result, 0] = progress[FIRST_FREE]
                    progress[FIRST_FREE] = result
                result = after
            first_result[owner] = EMPTY
            results_of[owner] = 0
        while row < size and row_event[row] == event:
            group = 0
            if is_grouped:
                group = row_group[row]
            touch(group, at, last_out, control, out_at, out_group)
            result = take_place(following, progress)
            is_live[result] = 1
            users[result] = inputs
            result_group[result] = group
            for number in range(inputs):
                owner = row_slot[number, row] * inputs + number
                following[result, number] = first_result[owner]
                first_result[owner] = result
                results_of[owner] += 1
            row_count[group] += 1
            for lane in range(result_lanes.shape[1]):
                result_lanes[result, lane] = share[row, lane]
            add_lanes(group, share, row, 1, lanes, masks)
            for value in range(counted):
                code = tally_code[value, row]
                result_tally[result, value] = code
                count_value(group, value, code, 1, tallies, tally_count)
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


@njit(cache=True, inline="always")
def take_place(following, progress):
    """A free place for a result."""
    result = progress[FIRST_FREE]
    if result != EMPTY:
        progress[FIRST_FREE] = following[result, 0]
    else:
        result = progress[NEXT_FRESH]
        progress[NEXT_FRESH] += 1
    return result
