"""Loops over the rows of a select: following their lives, listing answers, keeping them sorted."""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.windows.kernels import AHEAD, LARGE_TABLE, prefetch

ABSENT = -1
# Runs up to this long are sorted by insertion, longer ones by merging such pieces.
SHORT_RUN = 16


@njit(cache=True)
def follow(at, code, group, many, next_row, row_of_code, held, fresh, output, ends):
    """Turn updates of codes into updates of rows; a row lives from its first copy to its last.

    held: copies of each row. fresh: the groups of the rows that begin, in order. Updates that leave
    the number of copies as it was are left out. ends: how many updates were written, how many rows
    began and how many ended.
    """
    out_at, out_row, out_many, out_before, out_code = output
    used = 0
    begun = 0
    ended = 0
    fetches = row_of_code.size > LARGE_TABLE
    for i in range(at.size):
        if fetches and i + 2 * AHEAD < at.size:
            prefetch(row_of_code, code[uint64(i + 2 * AHEAD)])
            soon = row_of_code[uint64(code[uint64(i + AHEAD)])]
            if soon != ABSENT:
                prefetch(held, soon)
        which = uint64(code[uint64(i)])
        copies = many[uint64(i)]
        row = row_of_code[which]
        if row == ABSENT:
            if copies == 0:
                continue
            row = np.int32(next_row + begun)
            row_of_code[which] = row
            held[uint64(row)] = 0
            fresh[uint64(begun)] = group[uint64(i)]
            begun += 1
        before = held[uint64(row)]
        if before == copies:
            continue
        if copies == 0:
            row_of_code[which] = ABSENT
            ended += 1
        held[uint64(row)] = copies
        out_at[uint64(used)] = at[uint64(i)]
        out_row[uint64(used)] = row
        out_many[uint64(used)] = copies
        out_before[uint64(used)] = before
        out_code[uint64(used)] = which
        used += 1
    ends[0], ends[1], ends[2] = used, begun, ended


@njit(cache=True)
def unfollow(row, before, code, row_of_code, held):
    """Take back what follow() has written, the last update first."""
    for i in range(row.size - 1, -1, -1):
        mine = row[uint64(i)]
        held[uint64(mine)] = before[uint64(i)]
        row_of_code[uint64(code[uint64(i)])] = mine if before[uint64(i)] > 0 else ABSENT


@njit(cache=True)
def undo(row, before, held):
    """Take updates back, the last one first."""
    for i in range(row.size - 1, -1, -1):
        held[uint64(row[uint64(i)])] = before[uint64(i)]


@njit(cache=True)
def list_changes(at, row, many, before, order, out_at, out_row, out_sign):
    """The rows that come and go by updates, once for each copy; returns how many.

    order: which update is the next, none for the order that they are in.
    """
    used = 0
    for j in range(at.size):
        i = uint64(order[uint64(j)] if order.size else j)
        copies = np.int64(many[i]) - np.int64(before[i])
        sign = np.int8(1 if copies > 0 else -1)
        for _ in range(abs(copies)):
            if used == out_at.size:
                return -1
            out_at[uint64(used)] = at[i]
            out_row[uint64(used)] = row[i]
            out_sign[uint64(used)] = sign
            used += 1
    return used


@njit(cache=True)
def count_copies(instants, at, many, before, total, counts):
    """How many rows the answer at each instant has; `total`: the rows before all updates."""
    update = 0
    for j in range(instants.size):
        while update < at.size and at[uint64(update)] <= instants[uint64(j)]:
            total += many[uint64(update)] - before[uint64(update)]
            update += 1
        counts[uint64(j)] = total


@njit(cache=True)
def list_copies(rows, copies, first_update, update_instant, update_many, place, out):
    """Write the answers of all instants, in which rows come in the order given.

    copies: of each row before its updates, which are first_update[i] to first_update[i + 1];
    update_instant: the first instant that sees it. place: where each instant's next row goes.
    """
    for i in range(rows.size):
        many = copies[i]
        since = 0
        for update in range(first_update[i], first_update[i + 1] + 1):
            is_last = update == first_update[i + 1]
            until = place.size if is_last else update_instant[update]
            for j in range(since, until):
                for _ in range(many):
                    out[uint64(place[uint64(j)])] = rows[i]
                    place[uint64(j)] += 1
            if not is_last:
                many = update_many[update]
                since = until


@njit(cache=True)
def net(row, many, before, used, place, out_row, out_many, out_before):
    """Add updates to those in `out`, one for each row; place[row]: where it is there, or ABSENT."""
    for i in range(row.size):
        which = uint64(row[uint64(i)])
        found = place[which]
        if found == ABSENT:
            place[which] = used
            out_row[uint64(used)] = row[uint64(i)]
            out_before[uint64(used)] = before[uint64(i)]
            out_many[uint64(used)] = many[uint64(i)]
            used += 1
        else:
            out_many[uint64(found)] = many[uint64(i)]
    return used


@njit(cache=True)
def is_before(words, left, right):
    """Whether one row of words comes before another."""
    for word in range(words.shape[1]):
        one = words[uint64(left), uint64(word)]
        other = words[uint64(right), uint64(word)]
        if one != other:
            return one < other
    return False


@njit(cache=True)
def sort_runs(words, starts, order, spare):
    """Sort `order` by words within each run; runs begin at `starts`, the last entry is the end."""
    for run in range(starts.size - 1):
        low, high = starts[run], starts[run + 1]
        if high - low > 1:
            sort_run(words, low, high, order, spare)


@njit(cache=True)
def sort_run(words, low, high, order, spare):
    """Sort one run: pieces by insertion, then merged, twice as long each time."""
    for start in range(low, high, SHORT_RUN):
        for i in range(start + 1, min(start + SHORT_RUN, high)):
            moving = order[uint64(i)]
            hole = i
            while hole > start and is_before(words, moving, order[uint64(hole - 1)]):
                order[uint64(hole)] = order[uint64(hole - 1)]
                hole -= 1
            order[uint64(hole)] = moving
    width = SHORT_RUN
    while width < high - low:
        for start in range(low, high, 2 * width):
            middle = min(start + width, high)
            end = min(start + 2 * width, high)
            left, right = start, middle
            for i in range(start, end):
                if left < middle and (
                    right == end or not is_before(words, order[uint64(right)], order[uint64(left)])
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
def merge(old_words, stays, new_words, out, out_words):
    """Merge sorted rows: those of the old that stay, by place, and the new, from old's size on.

    Writes their places and their words; returns how many there are.
    """
    used = 0
    new = 0
    for old in range(old_words.shape[0]):
        if not stays[uint64(old)]:
            continue
        while new < new_words.shape[0] and is_new_before(new_words, new, old_words, old):
            out[uint64(used)] = old_words.shape[0] + new
            for word in range(new_words.shape[1]):
                out_words[uint64(used), uint64(word)] = new_words[uint64(new), uint64(word)]
            new += 1
            used += 1
        out[uint64(used)] = old
        for word in range(new_words.shape[1]):
            out_words[uint64(used), uint64(word)] = old_words[uint64(old), uint64(word)]
        used += 1
    for rest in range(new, new_words.shape[0]):
        out[uint64(used)] = old_words.shape[0] + rest
        for word in range(new_words.shape[1]):
            out_words[uint64(used), uint64(word)] = new_words[uint64(rest), uint64(word)]
        used += 1
    return used


@njit(cache=True)
def is_new_before(new_words, new, old_words, old):
    """Whether a row of one matrix comes before a row of the other."""
    for word in range(new_words.shape[1]):
        one = new_words[uint64(new), uint64(word)]
        other = old_words[uint64(old), uint64(word)]
        if one != other:
            return one < other
    return False


@njit(cache=True)
def text_words(offsets, data, words, first, width):
    """Write each text as `width` words that order as its bytes do, then its length.

    The length tells a text from one that has zero bytes behind it.
    """
    for i in range(offsets.size - 1):
        start, end = np.int64(offsets[uint64(i)]), np.int64(offsets[uint64(i + 1)])
        for place in range(width):
            first_byte = start + 8 * place
            word = np.int64(-128)  # so that bytes from 128 on come after the others
            for at in range(first_byte, first_byte + 8):
                if at > first_byte:
                    word *= 256
                if at < end:
                    word += np.int64(data[uint64(at)])
            words[uint64(i), uint64(first + place)] = word
        words[uint64(i), uint64(first + width)] = end - start
