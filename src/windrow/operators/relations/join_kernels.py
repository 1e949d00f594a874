"""Pairs of rows with equal keys, listed as rows of either input enter and leave.

Purpose: joins of any kind. Needs: changes of both inputs, net at each instant, as events.
Time: O(1) an event and a pair. Space: 28 bytes a different row, 4 a key and input; one block of
    pairs, whatever their number.

At an instant the rows that leave come first. So no pair is listed of a row that leaves and one that
enters: every pair is there before the instant or after it, and no other is ever computed with.
"""

from __future__ import annotations

from windrow.compiling.kernels import inlined, njit
from windrow.windows.kernels import EMPTY

# Where key_of_row has no key: the row matches nothing, or its key is not known yet.
NO_KEY = -1
UNKNOWN_KEY = -2

# Entries of `progress`: the first event that is not done, and where in the list of the other input
# it stands.
EVENT = 0
WALKING = 1
PROGRESS_ENTRIES = 2
NOT_BEGUN = -2


@njit(cache=True)
def merge_events(left, right, events):
    """Put the changes of both inputs in order: by instant, and there those that leave first."""
    left_at, left_code, left_weight = left
    right_at, right_code, right_weight = right
    size = 0
    i = 0
    j = 0
    while i < left_at.size or j < right_at.size:
        if j == right_at.size or (i < left_at.size and left_at[i] <= right_at[j]):
            at = left_at[i]
        else:
            at = right_at[j]
        left_end = i
        while left_end < left_at.size and left_at[left_end] == at:
            left_end += 1
        right_end = j
        while right_end < right_at.size and right_at[right_end] == at:
            right_end += 1
        for sign in (-1, 1):
            size = append_events(
                0, sign, i, left_end, left_at, left_code, left_weight, size, events
            )
            size = append_events(
                1, sign, j, right_end, right_at, right_code, right_weight, size, events
            )
        i = left_end
        j = right_end


@inlined
def append_events(number, sign, begin, end, at, codes, weight, size, events):
    """Append those of one input that enter (sign 1) or leave (-1); returns how many there are."""
    for place in range(begin, end):
        if weight[place] * sign > 0:
            events.at[size] = at[place]
            events.input[size] = number
            events.code[size] = codes[place]
            events.weight[size] = weight[place]
            size += 1
    return size


@njit(cache=True)
def assign_keys(codes, keys, key_of_row, surplus):
    """Give rows whose key is unknown their key; a row that is named again needs it only once.

    Each of the keys has a reference. Returns how many of them `surplus` lists, not needed.
    """
    size = 0
    for place in range(codes.size):
        code = codes[place]
        if key_of_row[code] == UNKNOWN_KEY:
            key_of_row[code] = keys[place]
        elif keys[place] != NO_KEY:
            surplus[size] = keys[place]
            size += 1
    return size


@njit(cache=True)
def list_pairs(events, left, right, only_new_left, progress, block):
    """Apply events and list the pairs of each, until all are done or the block is full.

    only_new_left: left rows of which there are some already need no pairs. Returns how many pairs
    there are; progress[EVENT] says how far it came.
    """
    size = 0
    for event in range(progress[EVENT], events.at.size):
        code = events.code[event]
        weight = events.weight[event]
        if events.input[event] == 0:
            skips = only_new_left and left.counts[code, 0] != 0
            size = walk(
                event, code, skips, left, right, progress, block, block.left, block.right, size
            )
            if progress[WALKING] != NOT_BEGUN:
                progress[EVENT] = event
                return size
            change_count(code, weight, left)
        else:
            size = walk(
                event, code, False, right, left, progress, block, block.right, block.left, size
            )
            if progress[WALKING] != NOT_BEGUN:
                progress[EVENT] = event
                return size
            change_count(code, weight, right)
    progress[EVENT] = events.at.size
    return size


@inlined
def walk(event, code, skips, own, other, progress, block, block_own, block_other, size):
    """List the rows of the other input with the key of the row; returns how many pairs there are.

    progress[WALKING] is NOT_BEGUN when all of them are listed.
    """
    walking = progress[WALKING]
    if walking == NOT_BEGUN:
        key = own.key_of_row[code]
        walking = EMPTY
        if key != NO_KEY and not skips:
            walking = other.first_row[key]
    while walking != EMPTY:
        if size == block.event.size:
            progress[WALKING] = walking
            return size
        block.event[size] = event
        block_own[size] = code
        block_other[size] = walking
        block.copies[size] = other.counts[walking, 0]
        size += 1
        walking = other.next_row[walking]
    progress[WALKING] = NOT_BEGUN
    return size


@inlined
def change_count(code, weight, own):
    """Count a row; it is in the list of its key while its count is not 0."""
    before = own.counts[code, 0]
    own.counts[code, 0] = before + weight
    key = own.key_of_row[code]
    if key == NO_KEY:
        return
    if before == 0:
        head = own.first_row[key]
        own.next_row[code] = head
        own.previous_row[code] = EMPTY
        if head != EMPTY:
            own.previous_row[head] = code
        own.first_row[key] = code
    elif before + weight == 0:
        after = own.next_row[code]
        previous = own.previous_row[code]
        if previous == EMPTY:
            own.first_row[key] = after
        else:
            own.next_row[previous] = after
        if after != EMPTY:
            own.previous_row[after] = previous
