"""Rows with or without a match: padded rows of outer joins, and semi and anti joins.

Purpose: what the pairs that really match make of single rows, given once an instant.
Needs: events and pairs of join_kernels, without those that the residual refused, block by block.
Time: O(1) an event and a pair. Space: 29 bytes a row of an input whose rows count.

For a row that is held, matches[code] counts the rows of the other input that match it. `shown`: how
often the result has it alone. Both are looked at when an instant is over, in `flush`.
"""

from __future__ import annotations

from windrow.compiling.kernels import inlined, njit
from windrow.windows.kernels import EMPTY

# Entries of `progress`: the first event that is not done, whether it has begun, whether its row is
# new, the instant, and how many rows of each input are to be looked at when that is over.
EVENT = 0
IS_BEGUN = 1
IS_NEW = 2
INSTANT = 3
LEFT_SIZE = 4
RIGHT_SIZE = 5
PROGRESS_ENTRIES = 6


@njit(cache=True)
def match_pairs(last_event, events, pairs, rules, left, right, progress, output):
    """Apply the events before last_event, and of that one the pairs that are listed so far.

    rules: whether pairs are given, whether rows of the left and of the right input count, and
    whether those with a match are given or those without. Returns how many rows are given, of which
    single ones have EMPTY for the other input.
    """
    gives_pairs, counts_left, counts_right, wants_match = rules
    size = 0
    pair = 0
    for event in range(progress[EVENT], last_event + 1):
        is_last = event == last_event
        if is_last and (pair == pairs.event.size or event == events.at.size):
            break
        at = events.at[event]
        code = events.code[event]
        weight = events.weight[event]
        is_left = events.input[event] == 0
        if not progress[IS_BEGUN]:
            if at != progress[INSTANT]:
                size = flush(wants_match, left, right, progress, output, size)
                progress[INSTANT] = at
            progress[IS_BEGUN] = 1
            if is_left and counts_left:
                progress[IS_NEW] = begin(code, left)
            elif not is_left and counts_right:
                progress[IS_NEW] = begin(code, right)
        while pair < pairs.event.size and pairs.event[pair] == event:
            copies = pairs.copies[pair]
            if is_left:
                if counts_left and progress[IS_NEW]:
                    left.matches[code] += copies
                if counts_right:
                    note(pairs.right[pair], right, RIGHT_SIZE, progress)
                    right.matches[pairs.right[pair]] += weight
            else:
                if counts_right and progress[IS_NEW]:
                    right.matches[code] += copies
                if counts_left:
                    note(pairs.left[pair], left, LEFT_SIZE, progress)
                    left.matches[pairs.left[pair]] += weight
            if gives_pairs:
                output.at[size] = at
                output.weight[size] = weight * copies
                output.left[size] = pairs.left[pair]
                output.right[size] = pairs.right[pair]
                size += 1
            pair += 1
        if is_last:
            break
        progress[IS_BEGUN] = 0
        if is_left and counts_left:
            note(code, left, LEFT_SIZE, progress)
            left.held[code] += weight
        elif not is_left and counts_right:
            note(code, right, RIGHT_SIZE, progress)
            right.held[code] += weight
    progress[EVENT] = last_event
    if last_event == events.at.size:
        size = flush(wants_match, left, right, progress, output, size)
    return size


@inlined
def begin(code, own):
    """A row that is not held has its matches counted anew; returns whether it is one."""
    if own.held[code] != 0:
        return 0
    own.matches[code] = 0
    return 1


@inlined
def note(code, own, entry, progress):
    """Look at the row when the instant is over."""
    if not own.is_noted[code]:
        own.is_noted[code] = 1
        own.noted[progress[entry]] = code
        progress[entry] += 1


@inlined
def flush(wants_match, left, right, progress, output, size):
    """Give what differs of the rows that were noted; returns how many rows are given."""
    size = flush_rows(
        wants_match, left, LEFT_SIZE, progress, output, output.left, output.right, size
    )
    return flush_rows(
        wants_match, right, RIGHT_SIZE, progress, output, output.right, output.left, size
    )


@inlined
def flush_rows(wants_match, own, entry, progress, output, output_own, output_other, size):
    """The same for the rows of one input."""
    for place in range(progress[entry]):
        code = own.noted[place]
        own.is_noted[code] = 0
        now = 0
        if (own.matches[code] != 0) == wants_match:
            now = own.held[code]
        if now != own.shown[code]:
            output.at[size] = progress[INSTANT]
            output.weight[size] = now - own.shown[code]
            output_own[size] = code
            output_other[size] = EMPTY
            own.shown[code] = now
            size += 1
    progress[entry] = 0
    return size
