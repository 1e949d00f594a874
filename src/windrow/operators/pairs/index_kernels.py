"""Joined rows of up to six windows, found by probing, in blocks of bounded size.

Purpose: what no factorised form serves: conditions and expressions over rows of several windows.
Needs: events (rows entering and leaving) in time order; join variables as dense codes.
Time: O(1) an event and index, and what probing finds: a row of input i probes the other inputs in
    MJoin order, depth first, each over the run of rows under one code.
Space: 16 bytes a code and 12 a row for each index; one block, whatever the number of joined rows.
Source: paper 1 (MJoin order); runs of slots that lie side by side instead of lists.

Rows have a slot per input. The structures are those of arrays.py: events (MergedArrays), indexes
(IndexArrays), how they are probed (ProbeArrays) and how far that came (ProbeState). Runs have room
for a power of two and move when they grow.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, njit
from windrow.windows.kernels import AHEAD, EMPTY, LARGE_TABLE, prefetch

# Entries of a run.
START = 0
SIZE = 1
ROOM = 2  # the power of two that there is room for; EMPTY: the run has no place
RUN_ENTRIES = 3

# Entries of `arena_control`: behind the last run, then the first free run of each size.
ARENA_END = 0
FIRST_FREE = 1
ARENA_ENTRIES = 33

# Entries of `progress`.
EVENT = 0  # the first event that is not done
IS_BEGUN = 1  # whether its joined rows are being listed
DEPTH = 2
ROWS = 3  # joined rows in the block
PROBES = 4
MATCHES = 5
STATUS = 6
PROGRESS_ENTRIES = 7

# Values of STATUS.
DONE = 0
IS_FULL = 1
NEEDS_ARENA = 2
IS_PAUSED = 3  # behind a row's leave that took joined rows back from others

# Of numbers of rows so much is kept.
LOW_BITS = (1 << 32) - 1


@njit(cache=True)
def list_slots(slots, first, size, row, out_slot):
    """The slot of each event of one window; a negative one takes no part."""
    for i in range(first, first + size):
        out_slot[i] = slots[uint64(row[i])]


@njit(cache=True)
def merge_windows(at, slot, sign, position, stop, has_more, output, progress):
    """Merge the events of all windows by time, the lowest input first on a tie.

    Stops when a window runs dry that has more to come. Rows that take no part are left out. Returns
    how many were written; progress[0] says whether all windows are through.
    """
    out_at, out_input, out_slot, out_sign = output
    inputs = position.size
    count = 0
    progress[0] = 0
    while count < out_at.size:
        chosen = EMPTY
        for window in range(inputs):
            if position[window] == stop[window]:
                if has_more[window]:
                    return count
                continue
            if chosen == EMPTY or at[position[window]] < at[position[chosen]]:
                chosen = window
        if chosen == EMPTY:
            progress[0] = 1
            return count
        event = position[chosen]
        position[chosen] += 1
        if slot[event] >= 0:
            out_at[count] = at[event]
            out_input[count] = chosen
            out_slot[count] = slot[event]
            out_sign[count] = sign[event]
            count += 1
    return count


@inlined
def fetch_runs(ahead, first, second, slot, code_of, runs, rows_of_runs, arena):
    """Have the runs that a row is soon looked up in by two indexes brought into the cache.

    ahead: whether that is far ahead, and the runs themselves come first, or what is in them.
    """
    code = np.int64(code_of[slot, first])
    if ahead:
        prefetch(rows_of_runs, code)  # those of all indexes side by side
    else:
        prefetch(arena, runs[code, first, START])
        prefetch(arena, runs[code, second, START])


@inlined
def insert_row(slot, first, last, code_of, position, runs, arena, arena_control):
    """Put a row into the indexes first to last - 1; false, and nothing done, for want of room."""
    needed = 0
    for index in range(first, last):
        code = code_of[slot, index]
        room = runs[code, index, ROOM]
        if room == EMPTY:
            needed += 1
        elif runs[code, index, SIZE] == 1 << room:
            needed += 2 << room
    if arena_control[ARENA_END] + needed > arena.size:
        return False
    for index in range(first, last):
        code = code_of[slot, index]
        size = runs[code, index, SIZE]
        room = runs[code, index, ROOM]
        if room == EMPTY or size == 1 << room:
            old = runs[code, index, START]
            start = arena_control[FIRST_FREE + room + 1]
            if start == EMPTY:
                start = arena_control[ARENA_END]
                arena_control[ARENA_END] += 1 << (room + 1)
            else:
                arena_control[FIRST_FREE + room + 1] = arena[start]
            for place in range(size):
                arena[start + place] = arena[old + place]
            if room != EMPTY:
                arena[old] = arena_control[FIRST_FREE + room]
                arena_control[FIRST_FREE + room] = old
            runs[code, index, START] = start
            runs[code, index, ROOM] = room + 1
        arena[runs[code, index, START] + size] = slot
        position[slot, index] = size
        runs[code, index, SIZE] = size + 1
    return True


@inlined
def remove_row(slot, first, last, code_of, position, runs, arena, arena_control):
    """Take a row out of the indexes first to last - 1: the last of its run takes its place."""
    for index in range(first, last):
        code = code_of[slot, index]
        start = runs[code, index, START]
        size = runs[code, index, SIZE] - 1
        place = position[slot, index]
        moved = arena[start + size]
        arena[start + place] = moved
        position[moved, index] = place
        runs[code, index, SIZE] = size
        if size == 0:
            room = runs[code, index, ROOM]
            arena[start] = arena_control[FIRST_FREE + room]
            arena_control[FIRST_FREE + room] = start
            runs[code, index, ROOM] = EMPTY


@njit(cache=True)
def list_joined(
    size, events, probes_leave, pauses_leave, index_arrays, probing, state, out_event, out_slot
):
    """List joined rows until the block is full or the events are done; resumes where it was.

    A sign of 0 probes and leaves the indexes alone.
    """
    _, event_input, event_slot, event_sign = events
    code_of, position, runs, arena, arena_control = index_arrays
    first_index, index_input, step_input, step_index, step_code = probing[:5]
    check_count, checks, statistics = probing[5:]
    cursor, end, current, progress = state
    inputs = step_input.shape[0]
    last_depth = inputs - 2
    room = out_event.size
    progress[ROWS] = 0
    rows = 0
    event = progress[EVENT]
    depth = progress[DEPTH]
    is_begun = progress[IS_BEGUN] != 0
    matches = 0
    status = DONE
    codes = runs.shape[0]
    rows_of_runs = runs.reshape((codes, runs.shape[1] * RUN_ENTRIES))
    fetches = inputs > 1 and codes > LARGE_TABLE
    while event < size:
        if fetches and not is_begun and event + AHEAD < size:
            for ahead in (AHEAD, AHEAD // 2):
                soon = event_input[event + ahead]
                fetch_runs(
                    ahead == AHEAD, step_code[soon, 0], step_index[soon, 0],
                    event_slot[event + ahead], code_of, runs, rows_of_runs, arena,
                )  # fmt: skip
        mine = event_input[event]
        slot = event_slot[event]
        sign = event_sign[event]
        if not is_begun:
            if rows == room:
                status = IS_FULL
                break
            first = first_index[mine]
            last = first_index[mine + 1]
            if sign > 0 and not insert_row(
                slot, first, last, code_of, position, runs, arena, arena_control
            ):
                status = NEEDS_ARENA
                break
            if sign < 0:
                remove_row(slot, first, last, code_of, position, runs, arena, arena_control)
                if not probes_leave[mine]:
                    event += 1
                    continue
            current[mine] = slot
            progress[PROBES] += 1
            if inputs == 1:
                out_event[rows] = event
                out_slot[0, rows] = slot
                rows += 1
                matches += 1
                event += 1
                continue
            is_begun = True
            depth = 0
            code = code_of[slot, step_code[mine, 0]]
            index = step_index[mine, 0]
            cursor[0] = runs[code, index, START]
            end[0] = cursor[0] + runs[code, index, SIZE]
            statistics[index, 0] += 1
            statistics[index, 1] += runs[code, index, SIZE]
        while depth >= 0:
            place = cursor[depth]
            if place == end[depth]:
                depth -= 1
                continue
            if rows == room:
                break
            found = step_input[mine, depth]
            if depth == last_depth and check_count[mine, depth] == 0:
                count = min(end[depth] - place, room - rows)
                cursor[depth] = place + count
                for k in range(count):
                    out_event[uint64(rows + k)] = event
                for other in range(inputs):
                    if other == found:
                        for k in range(count):
                            out_slot[uint64(other), uint64(rows + k)] = arena[uint64(place + k)]
                    else:
                        bound = current[other]
                        for k in range(count):
                            out_slot[uint64(other), uint64(rows + k)] = bound
                rows += count
                matches += count
                continue
            candidate = arena[place]
            cursor[depth] = place + 1
            is_match = True
            for check in range(check_count[mine, depth]):
                known = checks[mine, depth, check, 1]
                wanted = code_of[current[index_input[known]], known]
                if code_of[candidate, checks[mine, depth, check, 0]] != wanted:
                    is_match = False
                    break
            if not is_match:
                continue
            current[found] = candidate
            if depth == last_depth:
                out_event[rows] = event
                for other in range(inputs):
                    out_slot[other, rows] = current[other]
                rows += 1
                matches += 1
                continue
            depth += 1
            known = step_code[mine, depth]
            index = step_index[mine, depth]
            code = code_of[current[index_input[known]], known]
            cursor[depth] = runs[code, index, START]
            end[depth] = cursor[depth] + runs[code, index, SIZE]
            statistics[index, 0] += 1
            statistics[index, 1] += runs[code, index, SIZE]
        if depth >= 0:
            status = IS_FULL
            break
        is_begun = False
        event += 1
        # Joined rows of an earlier block were handled after that block.
        if sign < 0 and pauses_leave[mine] and rows > 0 and out_event[rows - 1] == event - 1:
            status = IS_PAUSED
            break
    progress[EVENT] = event
    progress[DEPTH] = depth
    progress[IS_BEGUN] = is_begun
    progress[ROWS] = rows
    progress[MATCHES] += matches
    progress[STATUS] = status


@njit(cache=True)
def gather_words(source, places, out):
    """out[i] = source[places[i]]."""
    for i in range(out.size):
        out[uint64(i)] = source[uint64(places[uint64(i)])]


@njit(cache=True)
def keep_where(condition, event, slot):
    """Move the joined rows for which the condition holds to the front; returns how many."""
    inputs = slot.shape[0]
    count = uint64(0)
    for i in range(condition.size):
        row = uint64(i)
        event[count] = event[row]
        for number in range(inputs):
            slot[uint64(number), count] = slot[uint64(number), row]
        count += uint64(condition[row])
    return count


@njit(cache=True)
def keep_compared(left, left_input, right, right_input, is_equality, is_negated, event, slot):
    """The same for left < right, or left = right, or its negation; NaN is largest and one value."""
    inputs = slot.shape[0]
    count = uint64(0)
    for i in range(event.size):
        row = uint64(i)
        one = left[uint64(slot[left_input, row])]
        other = right[uint64(slot[right_input, row])]
        if is_equality:
            holds = (one == other) | ((one != one) & (other != other))
        else:
            holds = (one < other) | ((other != other) & (one == one))
        event[count] = event[row]
        for number in range(inputs):
            slot[uint64(number), count] = slot[uint64(number), row]
        count += uint64(holds != is_negated)
    return count


@njit(cache=True)
def keep_compared_shared(
    left, left_input, right, right_input, is_equality, is_negated, event, slot
):
    """The same where words are those of shared rows: each side has them, numbers, and a base.

    The row of a slot stands at its number less the base; of numbers there are the low 32 bits.
    """
    left_words, left_number, left_base = left
    right_words, right_number, right_base = right
    inputs = slot.shape[0]
    count = uint64(0)
    for i in range(event.size):
        row = uint64(i)
        left_row = np.int64(left_number[uint64(slot[left_input, row])]) - left_base
        right_row = np.int64(right_number[uint64(slot[right_input, row])]) - right_base
        one = left_words[uint64(left_row & LOW_BITS)]
        other = right_words[uint64(right_row & LOW_BITS)]
        if is_equality:
            holds = (one == other) | ((one != one) & (other != other))
        else:
            holds = (one < other) | ((other != other) & (one == one))
        event[count] = event[row]
        for number in range(inputs):
            slot[uint64(number), count] = slot[uint64(number), row]
        count += uint64(holds != is_negated)
    return count


@njit(cache=True)
def choose_owners(slots, leave, out):
    """The row that leaves first of each joined row, the lowest input on a tie, as one number.

    Row `slot` of input i has the number slot * inputs + i.
    """
    inputs = slots.shape[0]
    for i in range(slots.shape[1]):
        place = uint64(i)
        best = leave[uint64(slots[0, place]), uint64(0)]
        owner = slots[0, place] * inputs
        for number in range(1, inputs):
            slot = slots[number, place]
            instant = leave[uint64(slot), uint64(number)]
            if instant < best:
                best = instant
                owner = slot * inputs + number
        out[place] = owner
