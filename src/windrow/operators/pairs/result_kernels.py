"""Joined rows kept one by one, each until a row of its own leaves.

Purpose: PC, GPC and MPC: the operator tree, there to be compared with.
Needs: joined rows in the order of their events.
Time: O(inputs) a joined row. Space: O(joined rows).
Source: paper 1.

A result is in one list for each of its rows (row `slot` of input i has the number
slot * inputs + i); the first of its rows to leave takes it back, the last one frees its place.
Structures are as in sums/kernels.py; `results` is ResultArrays.
Structures are as in sums/kernels.py; `results` is ResultArrays.
"""

from __future__ import annotations

from windrow.compiling.kernels import inlined, njit
from windrow.operators.extremes.kernels import VALUE, delete, insert
from windrow.operators.keyed.kernels import FIRST, USED
from windrow.operators.pairs.sums.kernels import add_lanes, come_to, count_value, note_update
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
    updates.
    """
    row_event, row_group = rows.event, rows.group
    event_at, event_input, event_slot, event_sign = events
    result_group, is_live, users = results.group, results.is_live, results.users
    following, first_result, results_of, progress = results[6:]
    control, room = output.control, output.at.size
    inputs = row_slot.shape[0]
    size = row_event.size
    is_grouped = row_group.size > 0
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
        if control[USED] - control[FIRST] + leaving + size - row >= room:
            progress[EVENT] = event
            progress[ROW] = row
            return False
        come_to(at, states, output)
        if is_leave:
            result = first_result[owner]
            while result != EMPTY:
                after = following[result, side]
                if is_live[result]:
                    take_back(result, at, results, states, output)
                leave_list(result, results)
                result = after
            first_result[owner] = EMPTY
            results_of[owner] = 0
        while row < size and row_event[row] == event:
            group = 0
            if is_grouped:
                group = row_group[row]
            note_update(group, at, states, output)
            result = take_place(results)
            is_live[result] = 1
            users[result] = inputs
            result_group[result] = group
            for number in range(inputs):
                owner = row_slot[number, row] * inputs + number
                following[result, number] = first_result[owner]
                first_result[owner] = result
                results_of[owner] += 1
            add_result(result, group, row, rows, results, states)
            row += 1
    progress[EVENT] = next_event
    progress[ROW] = row
    return True


@inlined
def take_place(results):
    """A free place for a result."""
    result = results.progress[FIRST_FREE]
    if result != EMPTY:
        results.progress[FIRST_FREE] = results.following[result, 0]
    else:
        result = results.progress[NEXT_FRESH]
        results.progress[NEXT_FRESH] += 1
    return result


@inlined
def leave_list(result, results):
    """A row of a result has left: the last one of them frees its place."""
    results.users[result] -= 1
    if results.users[result] == 0:
        results.following[result, 0] = results.progress[FIRST_FREE]
        results.progress[FIRST_FREE] = result


@inlined
def add_result(result, group, row, rows, results, states):
    """Note what a joined row adds to its group, and add it."""
    states.row_count[group] += 1
    for lane in range(results.lanes.shape[1]):
        results.lanes[result, lane] = rows.share[row, lane]
    add_lanes(group, rows.share, row, 1, states)
    for value in range(rows.tally_code.shape[0]):
        code = rows.tally_code[value, row]
        results.tally[result, value] = code
        count_value(group, value, code, 1, states)
    extremes = rows.rank.shape[0]
    for extreme in range(extremes):
        results.is_ranked[result, extreme] = rows.present[extreme, row]
        if rows.present[extreme, row]:
            member = result * extremes + extreme
            states.heap[member, VALUE] = rows.rank[extreme, row]
            root = states.roots[group, extreme]
            states.roots[group, extreme] = insert(root, member, states.heap)


@inlined
def take_back(result, at, results, states, output):
    """The first row of a result leaves: its group loses what it added."""
    group = results.group[result]
    results.is_live[result] = 0
    note_update(group, at, states, output)
    states.row_count[group] -= 1
    add_lanes(group, results.lanes, result, -1, states)
    for value in range(results.tally.shape[1]):
        count_value(group, value, results.tally[result, value], -1, states)
    extremes = results.is_ranked.shape[1]
    for extreme in range(extremes):
        if results.is_ranked[result, extreme]:
            results.is_ranked[result, extreme] = 0
            root, member = states.roots[group, extreme], result * extremes + extreme
            states.roots[group, extreme] = delete(root, member, states.heap)
