"""Slots of a timing wheel: lists of chunks, those near in a ring, those far by digits.

Purpose: a row is written once where it waits, next to those that expire about when it does.
Time: O(1) a row; a far row is moved once for each digit in which it differs from the horizon.
Space: 16 bytes a row, one row in CHUNK_ROWS for links, and a chunk that is not full for each slot.
Source: Varghese, Lauck (1987); far slots as in a radix heap.

An expiry, made positive by BIAS, is a key; key >> SHIFT is its unit. Units below the horizon wait
in the ring, at their unit modulo RING. The others wait by their page, HALF_RING units each: at the
level of the highest digit in which it differs from the horizon's page, in the slot of that digit.
So all rows of a level come before those of the next, and when the horizon moves on by a page, only
one slot of a level is spread over the levels below or over the ring.

A slot is a cursor, the row that is written next, and the first chunk. The first row of a chunk
holds the next chunk. Cursors that stand at the begin of a chunk say that the last one is full.
"""

from __future__ import annotations

from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.operators.expiry.expiry_queue import EXPIRY_LIMIT
from windrow.windows.kernels import EMPTY

BIAS = EXPIRY_LIMIT
RING_BITS = 12
RING = 1 << RING_BITS
HALF_BITS = RING_BITS - 1
DIGIT_BITS = 6
DIGITS = 1 << DIGIT_BITS
LEVELS = 9  # 62 bits without those of a page
SLOTS = RING + LEVELS * DIGITS
MOST_SHIFT = 40  # the horizon lies a ring beyond all keys and must fit into 64 bits

CHUNK_ROWS = 32  # a power of two; the first row is the link
CHUNK_MASK = CHUNK_ROWS - 1

# Columns of `slots`, and of a row of `arena`.
CURSOR = 0
HEAD = 1
EXPIRY = 0
ITEM = 1

# Entries of `control`.
SHIFT = 0  # log2 of a unit
LOW = 1  # keys below it have left, or may not come into the ring
HORIZON = 2  # the first page that is not in the ring
RING_ROWS = 3
FAR_ROWS = 4
FIRST_FREE = 5  # free chunks are chained by their links
FRESH = 6  # rows of the arena from here on were never used
FREE = 7  # chunks in that chain
NEEDED_CHUNKS = 8  # must be free before it can continue
NEEDED_ROOM = 9  # the same for rows of the output
LATE_ROWS = 10  # rows of a batch that were passed over
EXPECTED = 11  # rows that the last step looked at
PASSED = 12  # the key of the last step
# What happened since the width of units was thought over; see UnitWidth.
WORK = 13
SPAN = 14
STEPS = 15
TAKEN = 16
MISSED = 17
NEXT = 18  # no row in the ring has a key below it; 0: not known
COUNTS = 24  # from here on: rows of each bucket that is being sorted


@njit(cache=True, forceinline=True)
def spare_chunks(arena, control):
    """Free chunks."""
    return control[FREE] + (arena.shape[0] - control[FRESH]) // CHUNK_ROWS


@njit(cache=True)
def add_chunk(slot, arena, slots, control):
    """Append a free chunk to those of a slot; returns the cursor."""
    chunk = control[FIRST_FREE]
    if chunk == EMPTY:
        chunk = control[FRESH]
        control[FRESH] = chunk + CHUNK_ROWS
    else:
        control[FIRST_FREE] = arena[chunk, EXPIRY]
        control[FREE] -= 1
    cursor = slots[slot, CURSOR]
    if cursor == 0:
        slots[slot, HEAD] = chunk
    else:
        arena[cursor - CHUNK_ROWS, EXPIRY] = chunk
    return chunk + 1


@njit(cache=True, forceinline=True)
def give_chunk(chunk, arena, control):
    """A chunk is free again."""
    arena[chunk, EXPIRY] = control[FIRST_FREE]
    control[FIRST_FREE] = chunk
    control[FREE] += 1


@njit(cache=True)
def far_slot(page, horizon):
    """The slot of a page that lies at the horizon or beyond."""
    rest = (page ^ horizon) >> DIGIT_BITS
    level = 0
    while rest != 0:
        rest >>= DIGIT_BITS
        level += 1
    return RING + level * DIGITS + ((page >> (DIGIT_BITS * level)) & (DIGITS - 1))


@njit(cache=True)
def append_row(slot, expiry, item, arena, slots, control):
    """Append a row to a slot; there is a free chunk."""
    cursor = slots[slot, CURSOR]
    if cursor & CHUNK_MASK == 0:
        cursor = add_chunk(slot, arena, slots, control)
    arena[cursor, EXPIRY] = expiry
    arena[cursor, ITEM] = item
    slots[slot, CURSOR] = cursor + 1


@njit(cache=True)
def slot_rows(slot, arena, slots):
    """Rows of a slot that is not empty."""
    chunk = slots[slot, HEAD]
    last = slots[slot, CURSOR] - 1
    rows = last & CHUNK_MASK
    while chunk != last & ~CHUNK_MASK:
        rows += CHUNK_ROWS - 1
        chunk = arena[chunk, EXPIRY]
    return rows


@njit(cache=True)
def spread_slot(source, into_ring, horizon, arena, slots, control):
    """Move the rows of a far slot to where they belong before `horizon`; False: no chunks."""
    cursor = slots[source, CURSOR]
    if cursor == 0:
        return True
    # One for each slot that may get rows: chunks that were read are free for more.
    targets = RING // 2 if into_ring else LEVELS * DIGITS
    needed = 1 + min(targets, slot_rows(source, arena, slots))
    if spare_chunks(arena, control) < needed:
        control[NEEDED_CHUNKS] = needed
        return False
    shift = control[SHIFT]
    chunk = slots[source, HEAD]
    tail = (cursor - 1) & ~CHUNK_MASK
    slots[source, CURSOR] = 0
    rows = 0
    while True:
        end = cursor if chunk == tail else chunk + CHUNK_ROWS
        for row in range(chunk + 1, end):
            unit = (arena[row, EXPIRY] + BIAS) >> shift
            slot = unit & (RING - 1) if into_ring else far_slot(unit >> HALF_BITS, horizon)
            append_row(
                uint64(slot), arena[row, EXPIRY], arena[row, ITEM], arena, slots, control
            )  # fmt: skip
        rows += end - chunk - 1
        following = arena[chunk, EXPIRY]
        give_chunk(chunk, arena, control)
        if chunk == tail:
            break
        chunk = following
    if into_ring:
        control[RING_ROWS] += rows
        control[FAR_ROWS] -= rows
    return True


@njit(cache=True)
def first_far_page(slots, control):
    """The first page of the first far slot with rows, of which there is one."""
    horizon = control[HORIZON]
    for slot in range(LEVELS * DIGITS):
        if slots[RING + slot, CURSOR] != 0:
            shift = slot // DIGITS * DIGIT_BITS
            above = (horizon >> shift) >> DIGIT_BITS << DIGIT_BITS
            return (above | (slot & (DIGITS - 1))) << shift
    return horizon


@njit(cache=True)
def move_horizon(target, arena, slots, control):
    """Bring all pages before `target` into the ring; False: chunks are missing, call again.

    The ring must have no rows that are a whole ring away from those pages.
    """
    while control[HORIZON] < target:
        page = control[HORIZON]
        if control[FAR_ROWS] == 0:
            control[HORIZON] = target
            break
        into_ring = True
        if not spread_slot(RING + (page & (DIGITS - 1)), into_ring, page, arena, slots, control):
            return False
        following = page + 1
        if control[RING_ROWS] == 0 and control[FAR_ROWS] > 0:
            following = max(following, min(target, first_far_page(slots, control)))
        level = (far_slot(following, page) - RING) // DIGITS
        if level > 0:
            slot = far_slot(following, page)
            if not spread_slot(slot, False, following, arena, slots, control):
                return False
        control[HORIZON] = following
    return True
