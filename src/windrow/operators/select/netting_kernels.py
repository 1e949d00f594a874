"""Loops that order the changes of each instant by their rows, and leave out what cancels there.

Purpose: changes as feeds promise them: at an instant a row changes once, by the net of its copies,
    and rows come in their order: NULL first, NaN last.
Needs: changes in time order, and rows as words in columns of windows.
Time: O(log n) a change of n at its instant. Space: 16 bytes a change meanwhile.

The first word of each row becomes a key with the number of the change in its low bits, so that
most is sorted as plain numbers side by side; what ties in the key is compared by all its words.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, njit

SHORT_RUN = 16
_SIGN = np.uint64(1 << 63)
_ALL_BUT_SIGN = np.int64((1 << 63) - 1)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_WORD_BITS = np.uint64(64)


@inlined
def place_of(change, number, given, columns):
    """The place of the row that a column of a change is read from."""
    if columns.side[uint64(number)] == 0:
        return uint64(given.left[uint64(change)])
    return uint64(given.right[uint64(change)])


@inlined
def word_at(change, number, given, columns):
    """A word that orders as the value does, unless that is NULL."""
    place = place_of(change, number, given, columns)
    which = uint64(columns.word[uint64(number)])
    if columns.side[uint64(number)] == 0:
        word = columns.left_words[which, place]
    else:
        word = columns.right_words[which, place]
    if columns.is_float[uint64(number)]:
        word ^= (word >> 63) & _ALL_BUT_SIGN
    return word


@inlined
def is_present(change, number, given, columns):
    """Whether the value is not NULL."""
    place = place_of(change, number, given, columns)
    which = uint64(columns.word[uint64(number)])
    if columns.side[uint64(number)] == 0:
        return columns.left_valid.size == 0 or columns.left_valid[which, place] != 0
    return columns.right_valid.size == 0 or columns.right_valid[which, place] != 0


@inlined
def compared(one, other, given, columns):
    """-1, 0 or 1: the row of a change is before that of another, the same, or after it."""
    for number in range(columns.side.size):
        here = is_present(one, number, given, columns)
        there = is_present(other, number, given, columns)
        if here != there:
            return -1 if there else 1
        if here:
            word = word_at(one, number, given, columns)
            beside = word_at(other, number, given, columns)
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
def sort_rows(first, order, spare, low, high, given, columns):
    """Sort numbers of changes, counted from `first`, by all words of their rows."""
    for start in range(low, high, SHORT_RUN):
        for i in range(start + 1, min(start + SHORT_RUN, high)):
            moving = order[uint64(i)]
            hole = i
            while (
                hole > start
                and compared(first + moving, first + order[uint64(hole - 1)], given, columns) < 0
            ):
                order[uint64(hole)] = order[uint64(hole - 1)]
                hole -= 1
            order[uint64(hole)] = moving
    width = SHORT_RUN
    while width < high - low:
        for start in range(low, high, 2 * width):
            middle, end = min(start + width, high), min(start + 2 * width, high)
            left, right = start, middle
            for i in range(start, end):
                if right == end or (
                    left < middle
                    and compared(
                        first + order[uint64(left)], first + order[uint64(right)], given, columns
                    )
                    <= 0
                ):
                    spare[uint64(i)] = order[uint64(left)]
                    left += 1
                else:
                    spare[uint64(i)] = order[uint64(right)]
                    right += 1
        for i in range(low, high):
            order[uint64(i)] = spare[uint64(i)]
        width *= 2


@njit(cache=True)
def fill_keys(first, size, given, columns, keys):
    """A key for each change of an instant, that orders as far as the first word does.

    Returns how many low bits have the number of the change.
    """
    bits, left = _ZERO, uint64(size - 1)
    while left:
        bits += _ONE
        left >>= _ONE
    if columns.side.size == 0:
        for i in range(size):
            keys[uint64(i)] = uint64(i)
        return bits
    low, high = ~_ZERO, _ZERO
    for i in range(size):
        word = uint64(word_at(first + i, 0, given, columns)) ^ _SIGN
        keys[uint64(i)] = word
        if is_present(first + i, 0, given, columns):
            low, high = min(low, word), max(high, word)
    dropped, span = _ZERO, high - low if high >= low else _ZERO
    while span >> dropped >> (_WORD_BITS - bits):
        dropped += _ONE
    for i in range(size):
        key = keys[uint64(i)]
        # NULL comes first, at best together with the smallest value.
        key = (key - low) >> dropped if is_present(first + i, 0, given, columns) else _ZERO
        keys[uint64(i)] = key << bits | uint64(i)
    return bits


@inlined
def put_out(change, copies, given, out, used):
    """As many changes of a row as copies come (or go, if they are less than none)."""
    for _ in range(abs(copies)):
        place = uint64(used)
        out.at[place] = given.at[uint64(change)]
        out.sign[place] = 1 if copies > 0 else -1
        out.left[place] = given.left[uint64(change)]
        out.right[place] = given.right[uint64(change)]
        used += 1
    return used


@njit(cache=True)
def net_instants(given, columns, out):
    """Write the changes in order, without those that cancel at an instant; returns how many."""
    size, used, first = given.at.size, 0, 0
    longest, end = 1, 0
    while first < size:
        end = first + 1
        while end < size and given.at[uint64(end)] == given.at[uint64(first)]:
            end += 1
        longest = max(longest, end - first)
        first = end
    keys, spare = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    order, aside = np.empty(longest, np.int64), np.empty(longest, np.int64)
    first = 0
    while first < size:
        end = first + 1
        while end < size and given.at[uint64(end)] == given.at[uint64(first)]:
            end += 1
        count = end - first
        if count == 1:
            used = put_out(first, np.int64(given.sign[uint64(first)]), given, out, used)
            first = end
            continue
        bits = fill_keys(first, count, given, columns, keys)
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
                sort_rows(first, order, aside, low, high, given, columns)
            while low < high:
                change = first + order[uint64(low)]
                copies = np.int64(given.sign[uint64(change)])
                low += 1
                while (
                    low < high
                    and compared(change, first + order[uint64(low)], given, columns) == 0
                ):
                    copies += given.sign[uint64(first + order[uint64(low)])]
                    low += 1
                used = put_out(change, copies, given, out, used)
        first = end
    return used
