"""Rows of a result that begin and end: distinct ones, and those that may end before they expire.

Purpose: the bookkeeping around the expiry queue (results.expiry_queue) for the patterns weak
    (DISTINCT) and strict (negation, windows that count rows).
Needs: rows that begin in time order; codes that name equal rows by the same number.
Time: O(1) a row and owner. Space: 9 bytes a code; for rows that may end early 21 bytes and 12 an
    owner.
Source: paper 4 leaves both open. A duplicate prolongs the life of its row lazily: the entry in the
    queue stays, and is queued again when it comes up too early. A row that ends early leaves its
    entry behind, which is passed over when it comes up.

The structures are those of live_rows.py: events (RowEvents), rows (NewRows), results (EarlyArrays)
and output (ChangeArrays).

Changes are written as (instant, code, +1 or -1), not in order of time where a row's end is noticed
late. Instants are rounded up to the grid at which changes show.
"""

from __future__ import annotations

from windrow.compiling.kernels import inlined, njit
from windrow.windows.kernels import EMPTY, rounded_up

# Entries of `progress`.
EVENT = 0  # the first event that is not done
ROW = 1  # the first row that is not done
USED = 2  # changes written
FIRST_FREE = 3  # free results are chained by the first column of `following`
NEXT_FRESH = 4
PROGRESS_ENTRIES = 5

# Bits of a result's state.
IS_LIVE = 1
IS_QUEUED = 2


@njit(cache=True)
def earliest(leave, slot, out):
    """The instant at which the first row of each joined row leaves."""
    for row in range(out.size):
        found = leave[slot[0, row], 0]
        for number in range(1, slot.shape[0]):
            found = min(found, leave[slot[number, row], number])
        out[row] = found


@njit(cache=True)
def prolong(
    at, code, expiry, grid, latest, is_present, queued, out_at, out_code, out_delta, counts
):
    """Rows that begin: a code that is present lives on until the latest expiry of its rows.

    queued: the rows whose code is to be put into the queue; its entry stays while it is present.
    counts: how many are queued, how many changes were written (at most two a row).
    """
    used = 0
    queue = 0
    for row in range(at.size):
        own = code[row]
        if is_present[own]:
            ends = rounded_up(latest[own], grid)
            if ends >= at[row]:
                latest[own] = max(latest[own], expiry[row])
                continue
            # It ended before this row began, though nobody has looked yet.
            out_at[used] = ends
            out_code[used] = own
            out_delta[used] = -1
            used += 1
        else:
            is_present[own] = 1
            queued[queue] = row
            queue += 1
        latest[own] = expiry[row]
        out_at[used] = at[row]
        out_code[used] = own
        out_delta[used] = 1
        used += 1
    counts[0] = queue
    counts[1] = used


@njit(cache=True)
def end_prolonged(
    expiry, code, grid, latest, is_present, again_expiry, again_code, out_at, out_code
):
    """Entries that have come up: those of codes that live on are to be queued again.

    The others end; written in place of the entries. Returns how many go again and how many end.
    """
    again = 0
    used = 0
    for entry in range(expiry.size):
        own = code[entry]
        if latest[own] > expiry[entry]:
            again_expiry[again] = latest[own]
            again_code[again] = own
            again += 1
            continue
        is_present[own] = 0
        out_at[used] = rounded_up(expiry[entry], grid)
        out_code[used] = own
        used += 1
    return again, used


@inlined
def unlink(result, results):
    """Take a result out of the lists of all its owners."""
    for number in range(results.owner_of.shape[1]):
        owner = results.owner_of[result, number]
        after = results.following[result, number]
        ahead = results.before[result, number]
        if ahead == EMPTY:
            results.first_result[owner] = after
        else:
            results.following[ahead, number] = after
        if after != EMPTY:
            results.before[after, number] = ahead
        results.results_of[owner] -= 1


@inlined
def link(result, owner, number, results):
    """Put a result into the list of one of its owners."""
    after = results.first_result[owner]
    results.owner_of[result, number] = owner
    results.following[result, number] = after
    results.before[result, number] = EMPTY
    if after != EMPTY:
        results.before[after, number] = result
    results.first_result[owner] = result
    results.results_of[owner] += 1


@inlined
def write_change(at, code, delta, output, progress):
    """One change more."""
    used = progress[USED]
    output.at[used] = at
    output.code[used] = code
    output.delta[used] = delta
    progress[USED] = used + 1


@inlined
def take_place(results):
    """A free place for a result."""
    progress = results.progress
    result = progress[FIRST_FREE]
    if result != EMPTY:
        progress[FIRST_FREE] = results.following[result, 0]
    else:
        result = progress[NEXT_FRESH]
        progress[NEXT_FRESH] += 1
    return result


@njit(cache=True)
def run_early(next_event, events, early_place, rows, endless, grid, results, row_result, output):
    """Rows that begin, and early ends: all that a row had part in ends when it leaves.

    early_place[i]: the place of input i among those whose rows may leave early, EMPTY for others.
    row_result: the number that each row got. Runs the events before next_event and the rows that
    are listed of it. Returns whether it came to the end: there may be no room for changes.
    """
    event_at, event_input, event_slot, event_sign = events
    row_event, row_slot, row_code, row_expiry = rows
    result_code, result_expiry, state, owner_of, following = results[:5]
    first_result, results_of, progress = results[6:]
    owners = owner_of.shape[1]
    room = output.at.size
    for event in range(progress[EVENT], next_event + 1):
        progress[EVENT] = event
        row = progress[ROW]
        if event < next_event and event_sign[event] < 0:
            number = early_place[event_input[event]]
            if number != EMPTY:
                owner = event_slot[event] * owners + number
                if progress[USED] + results_of[owner] > room:
                    return False
                while first_result[owner] != EMPTY:
                    result = first_result[owner]
                    unlink(result, results)
                    ends = event_at[event]
                    if result_expiry[result] < endless:
                        ends = min(ends, rounded_up(result_expiry[result], grid))
                    write_change(ends, result_code[result], -1, output, progress)
                    state[result] &= IS_QUEUED
                    if state[result] == 0:
                        following[result, 0] = progress[FIRST_FREE]
                        progress[FIRST_FREE] = result
            continue
        while row < row_event.size and row_event[row] == event:
            if progress[USED] == room:
                return False
            result = take_place(results)
            row_result[row] = result
            result_code[result] = row_code[row]
            result_expiry[result] = row_expiry[row]
            state[result] = IS_LIVE if row_expiry[row] >= endless else IS_LIVE | IS_QUEUED
            for input_index in range(early_place.size):
                number = early_place[input_index]
                if number != EMPTY:
                    link(result, row_slot[input_index, row] * owners + number, number, results)
            write_change(event_at[event], row_code[row], 1, output, progress)
            row += 1
            progress[ROW] = row
    return True


@njit(cache=True)
def end_results(expiry, result, grid, results, out_at, out_code):
    """Entries that have come up: results that still live end, all places become free."""
    result_code, _, state, _, following = results[:5]
    progress = results.progress
    used = 0
    for entry in range(expiry.size):
        own = result[entry]
        if state[own] & IS_LIVE:
            unlink(own, results)
            out_at[used] = rounded_up(expiry[entry], grid)
            out_code[used] = result_code[own]
            used += 1
        state[own] = 0
        following[own, 0] = progress[FIRST_FREE]
        progress[FIRST_FREE] = own
    return used
