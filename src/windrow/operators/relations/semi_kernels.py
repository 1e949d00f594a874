"""Semi and anti joins by keys alone: left rows come and go with the last right row of their key.

Purpose: EXISTS, IN and their negations, where all that counts is whether a key is there.
Needs: changes of both inputs in time order, those of the left one net at each instant.
Time: O(1) a change, and a left row that is given. Space: of the right input, 18 bytes a key.

At an instant the right input is first: a key that is there before and after it changes nothing.
"""

from __future__ import annotations

from windrow.compiling.kernels import inlined, njit
from windrow.operators.relations.join_kernels import NO_KEY, change_count
from windrow.windows.kernels import EMPTY

# Entries of `progress`: the next left change, the next right one, the phase of the instant, how
# many keys are noted, which of them is next, and which of its rows.
LEFT = 0
RIGHT = 1
PHASE = 2
NOTED_SIZE = 3
NOTED = 4
WALKING = 5
PROGRESS_ENTRIES = 6
NOT_BEGUN = -2

# Phases of an instant: right keys are counted, rows of keys that came or went given, left changes.
COUNTING = 0
GIVING = 1
ENTERING = 2


@njit(cache=True)
def semi_join(wants_match, left, right, rows, keys, progress, output):
    """Apply changes and give left rows, until all are done or the output is full.

    wants_match: whether rows with a match are given, or those without. Returns how many there are;
    it is done when is_done() says so.
    """
    left_at, left_code, left_weight = left
    right_at = right[0]
    size = 0
    while not is_done(left, right, progress):
        i = progress[LEFT]
        if progress[PHASE] == COUNTING:
            is_left_next = progress[RIGHT] == right_at.size or (
                i < left_at.size and left_at[i] < right_at[progress[RIGHT]]
            )
            if not is_left_next:
                count_keys(right, keys, progress)
            progress[PHASE] = GIVING
        at = right_at[progress[RIGHT] - 1] if progress[NOTED_SIZE] > 0 else left_at[i]
        if progress[PHASE] == GIVING:
            size = give_rows(wants_match, at, rows, keys, progress, output, size)
            if progress[NOTED_SIZE] > 0:
                return size
            progress[PHASE] = ENTERING
        while i < left_at.size and left_at[i] == at:
            if size == output.at.size:
                progress[LEFT] = i
                return size
            code = left_code[i]
            key = rows.key_of_row[code]
            is_match = key != NO_KEY and keys.totals[key, 0] != 0
            if is_match == wants_match:
                output.at[size] = at
                output.weight[size] = left_weight[i]
                output.code[size] = code
                size += 1
            change_count(code, left_weight[i], rows)
            i += 1
        progress[LEFT] = i
        progress[PHASE] = COUNTING
    return size


@njit(cache=True)
def is_done(left, right, progress):
    """Whether all changes of both inputs are applied, and all rows given."""
    is_at_end = progress[LEFT] == left[0].size and progress[RIGHT] == right[0].size
    return is_at_end and progress[NOTED_SIZE] == 0


@inlined
def count_keys(right, keys, progress):
    """Count the keys of the next instant of the right input; was: whether each was there before."""
    right_at, right_key, right_weight = right
    j = progress[RIGHT]
    at = right_at[j]
    while j < right_at.size and right_at[j] == at:
        key = right_key[j]
        if not keys.is_noted[key]:
            keys.is_noted[key] = 1
            keys.was_there[key] = keys.totals[key, 0] != 0
            keys.noted[progress[NOTED_SIZE]] = key
            progress[NOTED_SIZE] += 1
        keys.totals[key, 0] += right_weight[j]
        j += 1
    progress[RIGHT] = j
    progress[NOTED] = 0
    progress[WALKING] = NOT_BEGUN


@inlined
def give_rows(wants_match, at, rows, keys, progress, output, size):
    """Give the left rows of the keys that came or went; no key is noted when all are given."""
    for place in range(progress[NOTED], progress[NOTED_SIZE]):
        key = keys.noted[place]
        is_there = keys.totals[key, 0] != 0
        walking = progress[WALKING]
        if walking == NOT_BEGUN:
            walking = EMPTY if is_there == keys.was_there[key] else rows.first_row[key]
        sign = 1 if is_there == wants_match else -1
        while walking != EMPTY:
            if size == output.at.size:
                progress[NOTED] = place
                progress[WALKING] = walking
                return size
            output.at[size] = at
            output.weight[size] = sign * rows.counts[walking, 0]
            output.code[size] = walking
            size += 1
            walking = rows.next_row[walking]
        progress[WALKING] = NOT_BEGUN
        keys.is_noted[key] = 0
    progress[NOTED_SIZE] = 0
    return size
