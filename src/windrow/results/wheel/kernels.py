"""A hierarchical timing wheel whose slots hold chunks of rows.

Purpose: rows with expiries of any kind; what `auto` takes for weak patterns.
Needs: rows that expire after the last dequeue (overdue ones are kept elsewhere).
Time: O(1) a row: it is moved at most once a level, in practice one to three times, always from
chunk to chunk. Space: 16 bytes a row, and a chunk that is not full for each slot in use.
Source: Varghese, Lauck (1987); the slots as in a radix heap, by the highest digit in which an
expiry differs from the position of the wheel.

An expiry, made positive by BIAS, is a number of LEVELS digits. A row whose expiry agrees with the
position in all digits above digit l waits at level l, in the slot of its digit l. So all rows of a
level leave before those of the next one, rows of level 0 have one expiry a slot, and a slot that
the position enters is spread over the levels below. A slot of few rows is sorted into `bottom`
instead: what lies before OPENED goes there too. A full bottom goes back into slots, finer ones.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy import uint64

from windrow.results.expiry_queue import EXPIRY_LIMIT
from windrow.windows.kernels import EMPTY

BIAS = EXPIRY_LIMIT
DIGIT_BITS = 10
SLOTS = 1 << DIGIT_BITS
LEVELS = 7
CHUNK_ROWS = 16  # a power of two
# A slot of so few rows is sorted; bottom has room for some more.
FEW_ROWS = 24
BOTTOM_ROWS = 64
# From this level on the position goes to the first row of a slot, not to the slot's begin: rows far
# from each other need not come down through every level.
FIRST_LEAP = 3

# Columns of `slots`, a row for each slot of each level.
HEAD = 0
TAIL = 1
ROWS = 2  # those of the last chunk are known from them: all others are full
SLOT_COLUMNS = 4  # a power of two, for the sake of the address

# Columns of a row, in a chunk and in `bottom`.
EXPIRY = 0
ITEM = 1

# Entries of `control`.
POSITION = 0  # biased; rows at or before it have left
OPENED = 1  # biased; rows before it are in bottom
BOTTOM_FIRST = 2
BOTTOM_END = 3
FIRST_FREE = 4  # free chunks are chained by `following`
NEXT_FRESH = 5
FREE = 6  # free chunks in that chain
NEEDED = 7  # chunks that must be at hand before it can go on
CONTROL_ENTRIES = 8

_WORD_BITS = 64
_WORD_SHIFT = 6
WORDS = LEVELS * SLOTS // _WORD_BITS
_ONE = np.uint64(1)
_BIT_OF = np.zeros(_WORD_BITS, np.int64)
_SEQUENCE = np.uint64(0x03F79D71B4CB0A89)  # de Bruijn: each window of six bits occurs once
_SEQUENCE_SHIFT = np.uint64(58)
for _bit in range(_WORD_BITS):
    _BIT_OF[((int(_SEQUENCE) << _bit) & (2**64 - 1)) >> 58] = _bit


@njit(cache=True)
def insert_rows(start, expiries, items, slots, words, chunks, following, bottom, control):
    """Put rows into their slots; returns how far it came: there may be too few chunks."""
    position = control[POSITION]
    opened = control[OPENED]
    for row in range(start, expiries.size):
        expiry = expiries[row]
        key = expiry + BIAS
        if key < opened:
            if control[BOTTOM_END] - control[BOTTOM_FIRST] < BOTTOM_ROWS:
                insert_bottom(expiry, items[row], bottom, control)
                continue
            if control[FREE] + chunks.shape[0] - control[NEXT_FRESH] <= BOTTOM_ROWS:
                control[NEEDED] = BOTTOM_ROWS + 1
                return row
            close_bottom(slots, words, chunks, following, bottom, control)
            opened = position
        # From here on as in place_row: a call for each row would take longer than the work.
        rest = (key ^ position) >> DIGIT_BITS
        level = 0
        shift = 0
        while rest != 0:
            rest >>= DIGIT_BITS
            level += 1
            shift += DIGIT_BITS
        slot = uint64(level * SLOTS + ((key >> shift) & (SLOTS - 1)))
        fill = np.int64(slots[slot, ROWS]) & (CHUNK_ROWS - 1)
        chunk = np.int64(slots[slot, TAIL])
        if fill == 0:
            if control[FREE] + chunks.shape[0] == control[NEXT_FRESH]:
                control[NEEDED] = 1
                return row
            chunk = add_chunk(slot, slots, words, following, control)
        chunks[uint64(chunk), uint64(fill), EXPIRY] = expiry
        chunks[uint64(chunk), uint64(fill), ITEM] = items[row]
        slots[slot, ROWS] += 1
    return expiries.size


@njit(cache=True)
def remove_rows(
    until, slots, words, chunks, following, bottom, control, out_expiries, out_items
):  # fmt: skip
    """Take out what has expired; returns how many rows, and whether that was all.

    It may stop for want of room in the output or, with NEEDED set, for want of chunks.
    """
    limit = until + BIAS
    count = 0
    while True:
        first = control[BOTTOM_FIRST]
        end = control[BOTTOM_END]
        while first < end and bottom[first, EXPIRY] <= until and count < out_expiries.size:
            out_expiries[count] = bottom[first, EXPIRY]
            out_items[count] = bottom[first, ITEM]
            count += 1
            first += 1
        control[BOTTOM_FIRST] = first
        if first < end:
            if bottom[first, EXPIRY] <= until:
                return count, False
            break
        control[BOTTOM_FIRST] = 0
        control[BOTTOM_END] = 0
        slot = first_slot(words)
        if slot == EMPTY:
            break
        level = slot >> DIGIT_BITS
        shift = DIGIT_BITS * level
        digit = slot & (SLOTS - 1)
        key = (((control[POSITION] >> shift) >> DIGIT_BITS << DIGIT_BITS) | digit) << shift
        if key > limit:
            break
        if level == 0:
            # One expiry: chunks leave as they are.
            chunk = np.int64(slots[slot, HEAD])
            while chunk != EMPTY:
                rows = np.int64(CHUNK_ROWS)
                if chunk == slots[slot, TAIL]:
                    rows = last_fill(slots[slot, ROWS])
                if count + rows > out_expiries.size:
                    slots[slot, HEAD] = chunk
                    return count, False
                for row in range(rows):
                    out_expiries[count + row] = key - BIAS
                    out_items[count + row] = chunks[chunk, row, ITEM]
                count += rows
                chunk = give_chunk(chunk, following, control)
            clear_slot(slot, slots, words)
            control[POSITION] = key
            continue
        rows = np.int64(slots[slot, ROWS])
        is_few = rows <= FEW_ROWS
        if not is_few:
            needed = min(rows, SLOTS * level) + rows // CHUNK_ROWS + 1
            if control[FREE] + chunks.shape[0] - control[NEXT_FRESH] < needed:
                control[NEEDED] = needed
                return count, False
        control[POSITION] = key
        chunk = np.int64(slots[slot, HEAD])
        tail = np.int64(slots[slot, TAIL])
        fill = last_fill(rows)
        clear_slot(slot, slots, words)
        if level >= FIRST_LEAP:
            control[POSITION] = min(limit, first_key(chunk, tail, fill, chunks, following))
        if is_few:
            control[OPENED] = key + (np.int64(1) << shift)
            while chunk != EMPTY:
                for row in range(fill if chunk == tail else np.int64(CHUNK_ROWS)):
                    expiry = chunks[chunk, row, EXPIRY]
                    insert_bottom(expiry, chunks[chunk, row, ITEM], bottom, control)
                chunk = give_chunk(chunk, following, control)
            continue
        position = control[POSITION]
        while chunk != EMPTY:
            for row in range(fill if chunk == tail else np.int64(CHUNK_ROWS)):
                # As in place_row: a call for each row would take longer than the work.
                expiry = chunks[uint64(chunk), uint64(row), EXPIRY]
                key = expiry + BIAS
                rest = (key ^ position) >> DIGIT_BITS
                level = 0
                while rest != 0:
                    rest >>= DIGIT_BITS
                    level += 1
                slot = level * SLOTS + ((key >> (DIGIT_BITS * level)) & (SLOTS - 1))
                target_fill = np.int64(slots[uint64(slot), ROWS]) & (CHUNK_ROWS - 1)
                target = np.int64(slots[uint64(slot), TAIL])
                if target_fill == 0:
                    target = add_chunk(uint64(slot), slots, words, following, control)
                chunks[uint64(target), uint64(target_fill), EXPIRY] = expiry
                chunks[uint64(target), uint64(target_fill), ITEM] = chunks[
                    uint64(chunk), uint64(row), ITEM
                ]
                slots[uint64(slot), ROWS] += 1
            chunk = give_chunk(chunk, following, control)
    control[POSITION] = max(control[POSITION], limit)
    return count, True


@njit(cache=True)
def place_row(expiry, item, slots, words, chunks, following, control):
    """Append a row to its slot; there is a chunk to spare."""
    key = expiry + BIAS
    rest = (key ^ control[POSITION]) >> DIGIT_BITS
    level = 0
    while rest != 0:
        rest >>= DIGIT_BITS
        level += 1
    slot = uint64(level * SLOTS + ((key >> (DIGIT_BITS * level)) & (SLOTS - 1)))
    fill = np.int64(slots[slot, ROWS]) & (CHUNK_ROWS - 1)
    chunk = np.int64(slots[slot, TAIL])
    if fill == 0:
        chunk = add_chunk(slot, slots, words, following, control)
    chunks[uint64(chunk), uint64(fill), EXPIRY] = expiry
    chunks[uint64(chunk), uint64(fill), ITEM] = item
    slots[slot, ROWS] += 1


@njit(cache=True)
def add_chunk(slot, slots, words, following, control):
    """Put a free chunk, of which there is one, behind the others of a slot; returns it."""
    chunk = control[FIRST_FREE]
    if chunk == EMPTY:
        chunk = control[NEXT_FRESH]
        control[NEXT_FRESH] = chunk + 1
    else:
        control[FIRST_FREE] = np.int64(following[chunk])
        control[FREE] -= 1
    following[chunk] = EMPTY
    if slots[slot, ROWS] == 0:
        slots[slot, HEAD] = chunk
        words[slot >> uint64(_WORD_SHIFT)] |= _ONE << (slot & uint64(_WORD_BITS - 1))
    else:
        following[slots[slot, TAIL]] = chunk
    slots[slot, TAIL] = chunk
    return chunk


@njit(cache=True, forceinline=True)
def give_chunk(chunk, following, control):
    """A chunk is free again; returns the one that followed it."""
    after = np.int64(following[chunk])
    following[chunk] = control[FIRST_FREE]
    control[FIRST_FREE] = chunk
    control[FREE] += 1
    return after


@njit(cache=True, forceinline=True)
def last_fill(rows):
    """Rows in the last chunk of a slot of so many."""
    return ((rows - 1) & (CHUNK_ROWS - 1)) + 1


@njit(cache=True, forceinline=True)
def clear_slot(slot, slots, words):
    """A slot has no rows any more."""
    slots[slot, ROWS] = 0
    words[slot >> _WORD_SHIFT] &= ~(_ONE << uint64(slot & (_WORD_BITS - 1)))


@njit(cache=True)
def first_slot(words):
    """The slot that expires first; EMPTY when there is none."""
    for index in range(words.size):
        word = words[index]
        if word != 0:
            lowest = word & (~word + _ONE)
            return index * _WORD_BITS + _BIT_OF[(lowest * _SEQUENCE) >> _SEQUENCE_SHIFT]
    return EMPTY


@njit(cache=True)
def first_key(chunk, tail, fill, chunks, following):
    """The first biased expiry of a slot."""
    first = chunks[chunk, 0, EXPIRY]
    while chunk != EMPTY:
        for row in range(fill if chunk == tail else CHUNK_ROWS):
            first = min(first, chunks[chunk, row, EXPIRY])
        chunk = np.int64(following[chunk])
    return first + BIAS


@njit(cache=True)
def insert_bottom(expiry, item, bottom, control):
    """Put a row behind all of bottom that do not expire later; bottom is not full."""
    end = control[BOTTOM_END]
    if end == bottom.shape[0]:
        first = control[BOTTOM_FIRST]
        for row in range(first, end):
            bottom[row - first] = bottom[row]
        control[BOTTOM_FIRST] = 0
        end -= first
    control[BOTTOM_END] = end + 1
    while end > control[BOTTOM_FIRST] and bottom[end - 1, EXPIRY] > expiry:
        bottom[end, EXPIRY] = bottom[end - 1, EXPIRY]
        bottom[end, ITEM] = bottom[end - 1, ITEM]
        end -= 1
    bottom[end, EXPIRY] = expiry
    bottom[end, ITEM] = item


@njit(cache=True)
def close_bottom(slots, words, chunks, following, bottom, control):
    """Put the rows of bottom back into slots; there is a chunk to spare for each."""
    for row in range(control[BOTTOM_FIRST], control[BOTTOM_END]):
        expiry = bottom[row, EXPIRY]
        place_row(expiry, bottom[row, ITEM], slots, words, chunks, following, control)
    control[BOTTOM_FIRST] = 0
    control[BOTTOM_END] = 0
    control[OPENED] = control[POSITION]
