"""Events of windows made into events of rows that nothing matches.

Purpose: LEFT ANTI JOIN and NOT EXISTS: a row of one input counts while no row of a negated input
    matches it, so a match that comes makes it leave early, and the last one that goes brings it
    back.
Needs: events in time order; codes in indexes of two inputs, 0 those that count, 1 the negated ones.
Time: O(1) an event, and O(rows of the key) when its first match comes or its last one goes; with
    conditions other than equality, O(1) per match.
Space: as the indexes of index_kernels.py; 4 bytes a row.
Source: paper 4 names the pattern (strict non-monotonic) and leaves it open.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import inlined, njit
from windrow.operators.pairs.index_kernels import (
    RUN_ENTRIES,
    SIZE,
    START,
    fetch_runs,
    insert_row,
    remove_row,
)
from windrow.windows.kernels import AHEAD, LARGE_TABLE

# Entries of `progress`.
EVENT = 0  # the first event that is not done
USED = 1  # events written
STATUS = 2
ROOM = 3  # free events needed to continue
PROGRESS_ENTRIES = 4

# Values of STATUS.
DONE = 0
NEEDS_ARENA = 1
NEEDS_ROOM = 2


@inlined
def write_event(at, input_index, slot, sign, out_at, out_input, out_slot, out_sign, progress):
    """One event more."""
    used = progress[USED]
    out_at[used] = at
    out_input[used] = input_index
    out_slot[used] = slot
    out_sign[used] = sign
    progress[USED] = used + 1


@njit(cache=True)
def pass_by_key(size, of, negated, events, index_arrays, output, progress):
    """Negation by equal keys alone: a row counts while the run of its code is empty in index 1.

    Stops where there is no room for the events that come out, or none in the arena.
    """
    event_at, event_input, event_slot, event_sign = events
    code_of, position, runs, arena, arena_control = index_arrays
    out_at, out_input, out_slot, out_sign = output
    progress[STATUS] = DONE
    rows_of_runs = runs.reshape((runs.shape[0], runs.shape[1] * RUN_ENTRIES))
    fetches = runs.shape[0] > LARGE_TABLE
    for event in range(progress[EVENT], size):
        progress[EVENT] = event
        if fetches and event + AHEAD < size:
            for ahead in (AHEAD, AHEAD // 2):
                soon = event_input[event + ahead]
                if soon == of or soon == negated:
                    index = np.int64(soon == negated)
                    fetch_runs(
                        ahead == AHEAD, index, 1 - index, event_slot[event + ahead],
                        code_of, runs, rows_of_runs, arena,
                    )  # fmt: skip
        at = event_at[event]
        input_index = event_input[event]
        slot = event_slot[event]
        sign = event_sign[event]
        index = 0
        many = 1
        if input_index == negated:
            index = 1
            code = code_of[slot, 1]
            before = runs[code, 1, SIZE]
            many = 0
            if (sign > 0 and before == 0) or (sign < 0 and before == 1):
                many = runs[code, 0, SIZE]
        if progress[USED] + many > out_at.size:
            progress[STATUS] = NEEDS_ROOM
            progress[ROOM] = many
            return
        if input_index != of and input_index != negated:
            write_event(
                at, input_index, slot, sign, out_at, out_input, out_slot, out_sign, progress
            )
            continue
        if sign < 0:
            remove_row(slot, index, index + 1, code_of, position, runs, arena, arena_control)
        elif not insert_row(slot, index, index + 1, code_of, position, runs, arena, arena_control):
            progress[STATUS] = NEEDS_ARENA
            return
        if input_index == of:
            if runs[code_of[slot, 0], 1, SIZE] == 0:
                write_event(
                    at, input_index, slot, sign, out_at, out_input, out_slot, out_sign, progress
                )
            continue
        if many > 0:
            start = runs[code, 0, START]
            for place in range(start, start + many):
                write_event(
                    at, of, arena[place], -sign, out_at, out_input, out_slot, out_sign, progress
                )
    progress[EVENT] = size


@njit(cache=True)
def pass_by_matches(
    next_event, of, negated, events, row_event, row_slot, matches, output, progress
):
    """Negation by listed matches: rows are pairs that match, by event.

    Runs the events before next_event and what is listed of it; there must be room for one event an
    event and one a match. matches[slot] counts the matches of a row that counts or would.
    """
    event_at, event_input, event_slot, event_sign = events
    out_at, out_input, out_slot, out_sign = output
    rows = row_event.size
    row = 0
    for event in range(progress[EVENT], next_event + 1):
        is_whole = event < next_event
        if not is_whole and (row == rows or row_event[row] != event):
            break
        at = event_at[event]
        input_index = event_input[event]
        slot = event_slot[event]
        sign = event_sign[event]
        if input_index == negated:
            while row < rows and row_event[row] == event:
                other = row_slot[0, row]
                before = matches[other]
                matches[other] = before + sign
                if before == 0 or before + sign == 0:
                    write_event(
                        at, of, other, -sign, out_at, out_input, out_slot, out_sign, progress
                    )
                row += 1
            continue
        if input_index == of and sign > 0:
            while row < rows and row_event[row] == event:
                matches[slot] += 1
                row += 1
        if not is_whole:
            break
        if input_index != of or matches[slot] == 0:
            write_event(
                at, input_index, slot, sign, out_at, out_input, out_slot, out_sign, progress
            )
        if input_index == of and sign < 0:
            matches[slot] = 0
    progress[EVENT] = next_event
