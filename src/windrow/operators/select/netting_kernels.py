"""Loops that order the changes of each instant by their rows, and leave out what cancels there.

Purpose: changes as feeds promise them: at an instant a row changes once, by the net of its copies,
    and rows come in their order: NULL first, NaN last.
Needs: changes in time order; `rows` (row_changes.RowWords), their rows as words.
Time: O(log n) a change of n at its instant. Space: 32 bytes a change of the largest instant.

The first word of each row becomes a key with the number of the change in its low bits, so that
most is sorted as plain numbers side by side; what ties in the key is compared by all its words.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, njit

# Runs up to this long are sorted by insertion, longer ones by merging such pieces.
SHORT_RUN = 16
_SIGN = np.uint64(1 << 63)
_ALL_BUT_SIGN = np.int64((1 << 63) - 1)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_WORD_BITS = np.uint64(64)


@inlined
def ordered_word(change, number, rows):
    """A word that orders as the value does, unless that is NULL."""
    word = rows.words[uint64(number), uint64(change)]
    if rows.is_float[uint64(number)]:
        word ^= (word >> 63) & _ALL_BUT_SIGN
    return word


@inlined
def compared(one, other, rows):
    """-1, 0 or 1: the row of a change is before that of another, the same, or after it."""
    for number in range(rows.words.shape[0]):
        if rows.valid.size:
            here = rows.valid[uint64(number), uint64(one)]
            there = rows.valid[uint64(number), uint64(other)]
            if here != there:
                return -1 if there else 1
            if not here:
                continue
        word, beside = ordered_word(one, number, rows), ordered_word(other, number, rows)
        if word != beside:
            return -1 if word < beside else 1
    return 0


@njit(cache=True)
def sort_numbers(keys, spare, size):
    """Sort the first keys: pieces by insertion, then merged, twice as long each time."""
    for start in range(0, size, SHORT_RUN):
        for i in range(start + 1, min(start + SHORT_RUN, size)):
            moving = keys[uint64(i)]
            hole = i
            while hole > start and keys[uint64(hole - 1)] > moving:
                keys[uint64(hole)] = keys[uint64(hole - 1)]
                hole -= 1
            keys[uint64(hole)] = moving
    width = SHORT_RUN
    while width < size:
        for start in range(0, size, 2 * width):
            middle, end = min(start + width, size), min(start + 2 * width, size)
            left, right = start, middle
            for i in range(start, end):
                if right == end or (left < middle and keys[uint64(left)] <= keys[uint64(right)]):
                    spare[uint64(i)] = keys[uint64(left)]
                    left += 1
                else:
                    spare[uint64(i)] = keys[uint64(right)]
                    right += 1
        for i in range(size):
            keys[uint64(i)] = spare[uint64(i)]
        width *= 2


@njit(cache=True)
def sort_rows(first, order, spare, low, high, rows):
    """Sort numbers of changes, counted from `first`, by all words of their rows."""
    for start in range(low, high, SHORT_RUN):
        for i in range(start + 1, min(start + SHORT_RUN, high)):
            moving = order[uint64(i)]
            hole = i
            while hole > start:
                before = order[uint64(hole - 1)]
                if compared(first + moving, first + before, rows) >= 0:
                    break
                order[uint64(hole)] = before
                hole -= 1
            order[uint64(hole)] = moving
    width = SHORT_RUN
    while width < high - low:
        for start in range(low, high, 2 * width):
            middle, end = min(start + width, high), min(start + 2 * width, high)
            left, right = start, middle
            for i in range(start, end):
                takes_left = right == end
                if left < middle and right < end:
                    one, other = first + order[uint64(left)], first + order[uint64(right)]
                    takes_left = compared(one, other, rows) <= 0
                if takes_left:
                    spare[uint64(i)] = order[uint64(left)]
                    left += 1
                else:
                    spare[uint64(i)] = order[uint64(right)]
                    right += 1
        for i in range(low, high):
            order[uint64(i)] = spare[uint64(i)]
        width *= 2


@njit(cache=True)
def fill_keys(first, size, rows, keys):
    """A key for each change of an instant, that orders as far as the first word does.

    Returns how many low bits have the number of the change.
    """
    bits, rest = _ZERO, uint64(size - 1)
    while rest:
        bits += _ONE
        rest >>= _ONE
    low, high = ~_ZERO, _ZERO
    has_null = rows.valid.size > 0
    for i in range(size):
        if rows.words.shape[0] == 0 or (has_null and not rows.valid[0, uint64(first + i)]):
            continue
        word = uint64(ordered_word(first + i, 0, rows)) ^ _SIGN
        keys[uint64(i)] = word
        low, high = min(low, word), max(high, word)
    dropped = _ZERO
    while high > low and (high - low) >> dropped >> (_WORD_BITS - bits):
        dropped += _ONE
    for i in range(size):
        # NULL comes first, at best together with the smallest value.
        key = _ZERO
        if rows.words.shape[0] and not (has_null and not rows.valid[0, uint64(first + i)]):
            key = (keys[uint64(i)] - low) >> dropped
        keys[uint64(i)] = key << bits | uint64(i)
    return bits


@inlined
def put_out(change, copies, out_change, out_sign, used):
    """As many changes of a row as copies come (or go, if they are less than none)."""
    for _ in range(abs(copies)):
        out_change[uint64(used)] = change
        out_sign[uint64(used)] = 1 if copies > 0 else -1
        used += 1
    return used


@njit(cache=True)
def net_instants(at, sign, rows, out_change, out_sign):
    """Number the changes in order, without those that cancel at an instant; returns how many."""
    size, used, first, longest = at.size, 0, 0, 1
    while first < size:
        end = first + 1
        while end < size and at[uint64(end)] == at[uint64(first)]:
            end += 1
        longest = max(longest, end - first)
        first = end
    keys, spare = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    order, aside = np.empty(longest, np.int64), np.empty(longest, np.int64)
    first = 0
    while first < size:
        end = first + 1
        while end < size and at[uint64(end)] == at[uint64(first)]:
            end += 1
        count = end - first
        if count == 1:
            used = put_out(first, np.int64(sign[uint64(first)]), out_change, out_sign, used)
            first = end
            continue
        bits = fill_keys(first, count, rows, keys)
        sort_numbers(keys, spare, count)
        low_bits = (_ONE << bits) - _ONE
        low = 0
        while low < count:
            high = low + 1
            while high < count and keys[uint64(high)] >> bits == keys[uint64(low)] >> bits:
                high += 1
            for i in range(low, high):
                order[uint64(i)] = np.int64(keys[uint64(i)] & low_bits)
            if high - low > 1:
                sort_rows(first, order, aside, low, high, rows)
            while low < high:
                change = first + order[uint64(low)]
                copies = np.int64(sign[uint64(change)])
                low += 1
                while low < high and compared(change, first + order[uint64(low)], rows) == 0:
                    copies += sign[uint64(first + order[uint64(low)])]
                    low += 1
                used = put_out(change, copies, out_change, out_sign, used)
        first = end
    return used
