"""A timing wheel whose slots hold chunks of rows, sorted when they come up.

Purpose: rows with expiries of any kind; what `auto` takes for weak patterns.
Needs: rows that expire after the last dequeue (overdue ones are kept elsewhere).
Time: O(1) a row: written once, far ones a few times, then counted and scattered into the output.
Space: see the slots.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.operators.expiry.wheel.order_kernels import sort_buckets
from windrow.operators.expiry.wheel.slot_kernels import (
    BIAS,
    CHUNK_MASK,
    CHUNK_ROWS,
    COUNTS,
    CURSOR,
    EXPECTED,
    EXPIRY,
    FAR_ROWS,
    FIRST_FREE,
    FREE,
    HALF_BITS,
    HEAD,
    HORIZON,
    ITEM,
    LATE_ROWS,
    LOW,
    MISSED,
    NEEDED_CHUNKS,
    NEEDED_ROOM,
    NEXT,
    PASSED,
    RING,
    RING_ROWS,
    SHIFT,
    SLOTS,
    SPAN,
    STEPS,
    TAKEN,
    WORK,
    append_row,
    far_slot,
    first_far_page,
    move_horizon,
    spare_chunks,
)

MOST_BUCKET_BITS = 12
CONTROL_ENTRIES = COUNTS + (1 << MOST_BUCKET_BITS) + 2
# Slots that are sorted together.
SEGMENT_SLOTS = 64
# Rows to be moved before the width of units is thought over, besides as many as there are: then a
# wheel can be made again at no more than a constant cost for each.
FEWEST_ROWS = 4096

# What a kernel came to.
DONE = 0
NEEDS_START = 1  # the wheel is empty: where its ring begins must be set
NEEDS_ROOM = 2  # NEEDED_CHUNKS or NEEDED_ROOM is set
HAS_LATE = 3  # rows below LOW were passed over
IS_REFUSED = 4  # an expiry that is out of bounds
IS_DUE = 5  # done, but the width of units should be thought over


@njit(cache=True)
def insert_rows(start, expiries, items, arena, slots, control):
    """Put rows into their slots; returns how far it came, and why it stopped there.

    A batch starts at -1: then it is looked at as a whole first.
    """
    if start < 0:
        start = 0
        outside = 0
        lowest = BIAS
        for row in range(expiries.size):
            outside |= (expiries[row] + (BIAS - 1)) | ((BIAS - 1) - expiries[row])
            lowest = min(lowest, expiries[row])
        if outside < 0:
            return 0, IS_REFUSED
        control[NEXT] = min(control[NEXT], lowest + BIAS)
        control[LATE_ROWS] = 0
        if control[RING_ROWS] + control[FAR_ROWS] == 0 and expiries.size > 0:
            return 0, NEEDS_START
    shift = uint64(control[SHIFT])
    low = control[LOW] - BIAS
    horizon = control[HORIZON]
    high = uint64((horizon << HALF_BITS << control[SHIFT]) - control[LOW])
    spare = spare_chunks(arena, control)
    late = 0
    far = 0
    row = uint64(start)
    size = uint64(expiries.size)
    while row < size:
        # Most rows find their slot in the ring, and room in its last chunk.
        while row < size:
            expiry = expiries[row]
            slot = (uint64(expiry + BIAS) >> shift) & uint64(RING - 1)
            cursor = slots[slot, CURSOR]
            if uint64(expiry - low) >= high or cursor & CHUNK_MASK == 0:
                break
            arena[uint64(cursor), EXPIRY] = expiry
            arena[uint64(cursor), ITEM] = items[row]
            slots[slot, CURSOR] = cursor + 1
            row += uint64(1)
        if row == size:
            break
        is_far = uint64(expiry - low) >= high
        if expiry < low:
            late += 1
        elif spare == 0:
            control[NEEDED_CHUNKS] = 1
            break
        else:
            if is_far:
                slot = uint64(far_slot((expiry + BIAS) >> control[SHIFT] >> HALF_BITS, horizon))
                far += 1
            append_row(slot, expiry, items[row], arena, slots, control)
            spare = spare_chunks(arena, control)
        row += uint64(1)
    done = np.int64(row)
    control[FAR_ROWS] += far
    control[RING_ROWS] += done - start - late - far
    control[LATE_ROWS] += late
    if row < size:
        return done, NEEDS_ROOM
    return done, HAS_LATE if control[LATE_ROWS] > 0 else DONE


@njit(cache=True)
def remove_rows(until, limit, out_expiries, out_items, arena, slots, control):
    """Take out what has expired; returns how many rows, and what it came to.

    It takes slots until there are `limit` rows: there may be more, and all before LOW have left.
    """
    last = until + BIAS
    shift = control[SHIFT]
    bucket_bits = bits_of(control[EXPECTED])
    count = 0
    kept = 0
    while control[LOW] <= last:
        if control[RING_ROWS] == 0:
            leap = last + 1
            if control[FAR_ROWS] > 0:
                leap = min(leap, first_far_page(slots, control) << HALF_BITS << shift)
            control[LOW] = max(control[LOW], leap)
        target = (control[LOW] >> shift >> HALF_BITS) + 2
        if not move_horizon(target, arena, slots, control):
            return count, NEEDS_ROOM
        if control[LOW] > last or count >= limit:
            break
        if last < control[NEXT]:
            # Many rows that expire together may wait in the slot that the clock is in.
            control[LOW] = last + 1
            break
        # Slots without rows are passed over, then as many are taken as keep buckets narrow.
        unit = control[LOW] >> shift
        beyond = min((last >> shift) + 1, control[HORIZON] << HALF_BITS)
        while unit < beyond and slots[uint64(unit & (RING - 1)), CURSOR] == 0:
            unit += 1
        if unit == beyond:
            control[LOW] = min(last + 1, beyond << shift)
            continue
        beyond = min(beyond, unit + SEGMENT_SLOTS)
        final = min(last, (beyond << shift) - 1)
        lowest = unit << shift
        narrow = 0
        while (final - lowest) >> narrow >> bucket_bits != 0:
            narrow += 1
        buckets = ((final - lowest) >> narrow) + 1
        last_unit, rows = count_slots(
            unit, beyond, limit - count, lowest, final, narrow, buckets, arena, slots, control
        )
        if count + rows > out_expiries.size:
            control[NEEDED_ROOM] = rows
            return count, NEEDS_ROOM
        stay = control[COUNTS + 1 + buckets]
        control[COUNTS] = count
        for entry in range(COUNTS, COUNTS + buckets):
            control[entry + 1] += control[entry]
        empty_slots(
            unit, last_unit, lowest, final, narrow, buckets, arena, slots, control,
            out_expiries, out_items,
        )  # fmt: skip
        if narrow > 0:
            sort_buckets(count, control, COUNTS, buckets, out_expiries, out_items)
        count += rows - stay
        control[RING_ROWS] -= rows - stay
        put_back(last_unit - 1, count, stay, out_expiries, out_items, arena, slots, control)
        kept += stay
        control[LOW] = min(final, (last_unit << shift) - 1) + 1
    control[EXPECTED] = count + kept
    note_step(last, count, kept, control)
    is_due = control[WORK] > control[RING_ROWS] + control[FAR_ROWS] + FEWEST_ROWS
    return count, IS_DUE if is_due else DONE


@njit(cache=True)
def count_slots(unit, beyond, limit, lowest, final, narrow, buckets, arena, slots, control):
    """Count the rows of slots into buckets, until there are `limit`; those after `final` apart.

    Returns behind which unit it stopped, and how many rows it counted.
    """
    # Counts stand one entry further than where they are added up to.
    control[COUNTS : COUNTS + buckets + 2] = 0
    rows = 0
    while unit < beyond and rows < limit:
        slot = uint64(unit & (RING - 1))
        unit += 1
        cursor = slots[slot, CURSOR]
        if cursor == 0:
            continue
        chunk = slots[slot, HEAD]
        tail = (cursor - 1) & ~CHUNK_MASK
        while True:
            end = cursor if chunk == tail else chunk + CHUNK_ROWS
            for row in range(chunk + 1, end):
                key = arena[uint64(row), EXPIRY] + BIAS
                bucket = (key - lowest) >> narrow if key <= final else buckets
                control[uint64(COUNTS + 1 + bucket)] += 1
            rows += end - chunk - 1
            if chunk == tail:
                break
            chunk = arena[chunk, EXPIRY]
    return unit, rows


@njit(cache=True)
def empty_slots(
    unit, beyond, lowest, final, narrow, buckets, arena, slots, control, out_expiries, out_items
):
    """Write the rows of slots to where their buckets begin, and free the chunks."""
    for taken in range(unit, beyond):
        slot = uint64(taken & (RING - 1))
        cursor = slots[slot, CURSOR]
        if cursor == 0:
            continue
        slots[slot, CURSOR] = 0
        chunk = slots[slot, HEAD]
        head = chunk
        tail = (cursor - 1) & ~CHUNK_MASK
        while True:
            end = cursor if chunk == tail else chunk + CHUNK_ROWS
            for row in range(chunk + 1, end):
                expiry = arena[uint64(row), EXPIRY]
                key = expiry + BIAS
                entry = uint64(COUNTS + ((key - lowest) >> narrow if key <= final else buckets))
                place = control[entry]
                control[entry] = place + 1
                out_expiries[uint64(place)] = expiry
                out_items[uint64(place)] = arena[uint64(row), ITEM]
            control[FREE] += 1
            if chunk == tail:
                break
            chunk = arena[chunk, EXPIRY]
        arena[tail, EXPIRY] = control[FIRST_FREE]
        control[FIRST_FREE] = head


@njit(cache=True)
def put_back(unit, first, count, out_expiries, out_items, arena, slots, control):
    """Rows of the last slot that have not expired stand behind the others; they go back."""
    slot = uint64(unit & (RING - 1))
    control[NEXT] = out_expiries[first] + BIAS if count > 0 else 0
    for row in range(first, first + count):
        control[NEXT] = min(control[NEXT], out_expiries[row] + BIAS)
        append_row(slot, out_expiries[row], out_items[row], arena, slots, control)


@njit(cache=True)
def bits_of(rows):
    """Bits of the number of buckets for counting this many rows."""
    bits = 4
    while bits < MOST_BUCKET_BITS and (rows >> bits) > 0:
        bits += 1
    return bits


@njit(cache=True)
def note_step(last, taken, missed, control):
    """Remember a step, for the sake of the width of units."""
    if last > control[PASSED]:
        if control[PASSED] > 0:
            # A jump of the clock says nothing about the steps to come.
            control[SPAN] += min(last - control[PASSED], RING << control[SHIFT])
        control[PASSED] = last
    control[STEPS] += 1
    control[TAKEN] += taken
    control[MISSED] += missed
    control[WORK] += taken + missed + 1


@njit(cache=True)
def copy_rows(out_expiries, out_items, arena, slots):
    """Copy the rows of all slots, those of equal expiry in order; returns how many."""
    count = 0
    for slot in range(SLOTS):
        cursor = slots[slot, CURSOR]
        if cursor == 0:
            continue
        chunk = slots[slot, HEAD]
        tail = (cursor - 1) & ~CHUNK_MASK
        while True:
            end = cursor if chunk == tail else chunk + CHUNK_ROWS
            for row in range(chunk + 1, end):
                out_expiries[count] = arena[row, EXPIRY]
                out_items[count] = arena[row, ITEM]
                count += 1
            if chunk == tail:
                break
            chunk = arena[chunk, EXPIRY]
    return count
