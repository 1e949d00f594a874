"""One row of a factorised aggregate in one call: taken, run to an instant, and let go of the old.

Purpose: a single row costs no arrays of one entry each, and Python is left and entered once.
Needs: what run_whole_plain needs, keys that are one whole number, and room for the row everywhere.
Time: O(1) a row entering or leaving, and a search of each window for how many will.

It is made of the kernels for batches, in their order, so it leaves what they leave.
"""

from __future__ import annotations

import numpy as np

from windrow.compiling.kernels import njit
from windrow.event_time import END_OF_TIME
from windrow.operators.keyed.kernels import FIRST, USED, run_whole_plain
from windrow.windows.kernels import (
    EMPTY,
    add_references,
    drop_references,
    encode_words,
    remove_codes,
)


@njit(cache=True)
def step_whole_plain(row, input_index, until, grid, left_fixed, right_fixed, arrays):
    """Take a row (its time, key and values) into one window and run both; False: nothing was done.

    Nothing is done where the row is before one that waits, or something would have to grow.
    """
    left, right, keys, state, output = arrays
    slot_word, slot_code, word_of_code, free, counters, references = keys
    times, cells, values, cursor, hold = left if input_index == 0 else right
    at = row[0]
    end = cursor[2]
    if end + 2 > times.size or (end > cursor[1] and times[end - 1] > at):
        return False
    if counters[3] != EMPTY or 2 * word_of_code.size > state.counts.size:
        return False
    events = _most_events(left, until) + _most_events(right, until)
    events += np.int64(at <= until) + np.int64(at <= until - hold)
    if output.control[USED] - output.control[FIRST] + events >= output.at.size:
        return False
    code = np.empty(1, np.int32)
    word = np.full(1, row[1], np.int64)
    flags = np.empty(0, np.uint8)
    if not encode_words(word, flags, 0, slot_word, slot_code, word_of_code, free, counters, code):
        return False
    add_references(code, references, np.empty(1, np.int64))
    times[end] = at
    times[end + 1] = END_OF_TIME
    for number in range(values.shape[0]):
        values[number, end] = row[2 + number]
    cells[end] = code[0]
    cursor[2] = end + 1
    left_head = left.cursor[0]
    right_head = right.cursor[0]
    run_whole_plain(left, right, left_fixed, right_fixed, until, grid, state, output)
    _release(left.codes[left_head : left.cursor[0]], keys)
    _release(right.codes[right_head : right.cursor[0]], keys)
    return True


@njit(cache=True)
def _most_events(window, until):
    """At most so many rows enter and leave up to `until`."""
    times, _, _, cursor, hold = window
    entering = np.searchsorted(times[cursor[1] : cursor[2]], until, side="right")
    leaving = np.searchsorted(times[cursor[0] : cursor[2]], until - hold, side="right")
    return entering + leaving


@njit(cache=True)
def _release(codes, keys):
    """One user less for each code; those without one are free for other keys."""
    if not codes.size:
        return
    slot_word, slot_code, word_of_code, free, counters, references = keys
    dead = np.empty(codes.size, np.int32)
    count = drop_references(codes, references, dead)
    remove_codes(dead[:count], slot_word, slot_code, word_of_code, free, counters)
