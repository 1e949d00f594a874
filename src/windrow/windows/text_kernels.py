"""A hash table of texts, each with a dense code that is used again once the text is gone.

Purpose: one look-up a row, whatever the texts are, without an object for each of them.
Form: `slots` has codes, by linear probing at load <= 1/2; the bytes of a code's text are in `heap`
    from `begins` on, `lengths` of them, or NO_TEXT for NULL. Bytes of texts that are gone stay in
    the heap until it is packed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from windrow.compiling.kernels import inlined, njit

FREE_SLOT = -1
NO_TEXT = -1  # the length of NULL

# Entries of `counters`.
IN_USE = 0
NEXT_FRESH = 1
FREE_COUNT = 2  # of codes in `free`, to be used before fresh ones
HEAP_END = 3
LIVE_BYTES = 4
COUNTERS = 5

_WORD = 8


class TextTable(NamedTuple):
    """The arrays of a table; see above. hashes, begins, lengths: by code."""

    slots: np.ndarray
    hashes: np.ndarray
    begins: np.ndarray
    lengths: np.ndarray
    free: np.ndarray
    heap: np.ndarray
    counters: np.ndarray


@inlined
def word_at(data, place):
    """Eight bytes as one word: compilers make one load of this."""
    word = np.uint64(data[place])
    word |= np.uint64(data[place + 1]) << np.uint64(8)
    word |= np.uint64(data[place + 2]) << np.uint64(16)
    word |= np.uint64(data[place + 3]) << np.uint64(24)
    word |= np.uint64(data[place + 4]) << np.uint64(32)
    word |= np.uint64(data[place + 5]) << np.uint64(40)
    word |= np.uint64(data[place + 6]) << np.uint64(48)
    word |= np.uint64(data[place + 7]) << np.uint64(56)
    return word


@inlined
def hash_of(data, begin, length):
    """Of the bytes of a text, and of how many they are."""
    mixed = np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(length + 1)
    place, end = begin, begin + length
    while place + _WORD <= end:
        mixed = (mixed ^ word_at(data, place)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
        place += _WORD
    rest = np.uint64(0)
    while place < end:
        rest = (rest << np.uint64(8)) | np.uint64(data[place])
        place += 1
    mixed = (mixed ^ rest) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


@inlined
def is_same(data, begin, heap, other, length):
    """Whether two texts of one length have the same bytes."""
    place = 0
    while place + _WORD <= length:
        if word_at(data, begin + place) != word_at(heap, other + place):
            return False
        place += _WORD
    while place < length:
        if data[begin + place] != heap[other + place]:
            return False
        place += 1
    return True


@njit(cache=True)
def encode_texts(offsets, data, valid, begin_row, table, out):
    """Write the code of each text from `begin_row` on; returns the row to continue with.

    That is not the end where there is no room for another code, or for its bytes in the heap.
    valid: empty, or 0 for NULL.
    """
    slots, mask, counters = table.slots, table.slots.size - 1, table.counters
    for row in range(begin_row, out.size):
        begin = np.int64(offsets[row])
        length = np.int64(offsets[row + 1]) - begin
        if valid.size != 0 and valid[row] == 0:
            length = NO_TEXT
        found = hash_of(data, begin, length)
        slot = np.int64(found >> np.uint64(17)) & mask
        while slots[slot] != FREE_SLOT:
            code = slots[slot]
            if (
                table.hashes[code] == found
                and table.lengths[code] == length
                and is_same(data, begin, table.heap, table.begins[code], length)
            ):
                break
            slot = (slot + 1) & mask
        if slots[slot] == FREE_SLOT:
            end = counters[HEAP_END]
            if end + length > table.heap.size or (
                counters[FREE_COUNT] == 0 and counters[NEXT_FRESH] == table.free.size
            ):
                return row
            code = new_code(table)
            slots[slot] = code
            table.hashes[code] = found
            table.begins[code] = end
            table.lengths[code] = length
            for place in range(length):
                table.heap[end + place] = data[begin + place]
            counters[HEAP_END] += max(length, 0)
            counters[LIVE_BYTES] += max(length, 0)
            counters[IN_USE] += 1
        out[row] = slots[slot]
    return out.size


@inlined
def new_code(table):
    """A code that was freed, or else the next one; there is one."""
    counters = table.counters
    if counters[FREE_COUNT] > 0:
        counters[FREE_COUNT] -= 1
        return table.free[counters[FREE_COUNT]]
    code = counters[NEXT_FRESH]
    counters[NEXT_FRESH] += 1
    return np.int32(code)


@njit(cache=True)
def forget_texts(codes, table):
    """Take codes out of their slots; their texts can be read until the codes are used again."""
    slots, mask = table.slots, table.slots.size - 1
    for code in codes:
        slot = np.int64(table.hashes[code] >> np.uint64(17)) & mask
        while slots[slot] != code:
            slot = (slot + 1) & mask
        empty = slot
        slot = (slot + 1) & mask
        while slots[slot] != FREE_SLOT:
            home = np.int64(table.hashes[slots[slot]] >> np.uint64(17)) & mask
            # It may move if the empty slot is between its home and where it is, going round.
            if ((slot - home) & mask) >= ((slot - empty) & mask):
                slots[empty] = slots[slot]
                empty = slot
            slot = (slot + 1) & mask
        slots[empty] = FREE_SLOT
        table.counters[IN_USE] -= 1


@njit(cache=True)
def free_codes(codes, table):
    """Let codes that were forgotten be used again."""
    for code in codes:
        table.free[table.counters[FREE_COUNT]] = code
        table.counters[FREE_COUNT] += 1
        table.counters[LIVE_BYTES] -= max(table.lengths[code], 0)


@njit(cache=True)
def fill_slots(slots, hashes, used):
    """Put the codes in use into empty slots."""
    mask = slots.size - 1
    for code in used:
        slot = np.int64(hashes[code] >> np.uint64(17)) & mask
        while slots[slot] != FREE_SLOT:
            slot = (slot + 1) & mask
        slots[slot] = code


@njit(cache=True)
def pack_heap(used, begins, lengths, heap, new_begins, new_heap):
    """Copy the texts of the codes in use to the begin of a new heap; returns where it ends."""
    end = 0
    for code in used:
        begin, length = begins[code], max(lengths[code], 0)
        for place in range(length):
            new_heap[end + place] = heap[begin + place]
        new_begins[code] = end
        end += length
    return end


@njit(cache=True)
def text_offsets(codes, lengths, offsets):
    """Where each text ends if all stand one behind the other; returns the total of bytes."""
    total = np.int64(0)
    offsets[0] = 0
    for row in range(codes.size):
        total += max(lengths[codes[row]], 0)
        offsets[row + 1] = total
    return total


@njit(cache=True)
def copy_texts(codes, table, offsets, out):
    """Write the texts of codes one behind the other."""
    for row in range(codes.size):
        begin, to = table.begins[codes[row]], offsets[row]
        for place in range(offsets[row + 1] - to):
            out[to + place] = table.heap[begin + place]
