"""A hash table of rows of words, each with a dense code that is used again once the row is gone.

Purpose: one look-up a row, however many columns it has.
Form: `slots` has codes, by linear probing at load <= 1/2; `words` the rows of codes; `free` the
    codes to use next, the last first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from windrow.compiling.kernels import inlined, njit

FREE_SLOT = -1

# Entries of `control`.
FREE_COUNT = 0


class RowTable(NamedTuple):
    """The arrays of a table; see above. is_used: by code."""

    slots: np.ndarray
    words: np.ndarray
    free: np.ndarray
    is_used: np.ndarray
    control: np.ndarray


@inlined
def home_of(words, row, mask):
    """The slot where a row is looked for first."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for place in range(words.shape[1]):
        mixed = (mixed ^ np.uint64(words[row, place])) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
    return np.int64(mixed >> np.uint64(17)) & mask


@inlined
def is_equal(words, row, others, other):
    """Whether two rows have the same words."""
    for place in range(words.shape[1]):
        if words[row, place] != others[other, place]:
            return False
    return True


@njit(cache=True)
def encode_rows(rows, begin, table, out, fresh, fresh_count):
    """Write the code of each row from `begin` on, and which of them are new.

    Returns the row to continue with, which is not the end where the table is full, and how many
    are new.
    """
    slots, words, mask = table.slots, table.words, table.slots.size - 1
    for row in range(begin, rows.shape[0]):
        slot = home_of(rows, row, mask)
        while slots[slot] != FREE_SLOT and not is_equal(rows, row, words, slots[slot]):
            slot = (slot + 1) & mask
        if slots[slot] == FREE_SLOT:
            if table.control[FREE_COUNT] == 0:
                return row, fresh_count
            table.control[FREE_COUNT] -= 1
            code = table.free[table.control[FREE_COUNT]]
            slots[slot] = code
            table.is_used[code] = 1
            for place in range(words.shape[1]):
                words[code, place] = rows[row, place]
            fresh[fresh_count] = row
            fresh_count += 1
        out[row] = slots[slot]
    return rows.shape[0], fresh_count


@njit(cache=True)
def forget_rows(codes, is_live, table, out):
    """Free the codes that are not live any more, and write them; returns how many.

    The words stay readable until the code is used again.
    """
    count = 0
    for place in range(codes.size):
        code = codes[place]
        if is_live[place] or table.is_used[code] == 0:
            continue
        table.is_used[code] = 0
        clear_slot(code, table)
        table.free[table.control[FREE_COUNT]] = code
        table.control[FREE_COUNT] += 1
        out[count] = code
        count += 1
    return count


@inlined
def clear_slot(code, table):
    """Take a code out of its slot, and move those behind it that would not be found any more."""
    slots, words, mask = table.slots, table.words, table.slots.size - 1
    slot = home_of(words, code, mask)
    while slots[slot] != code:
        slot = (slot + 1) & mask
    empty = slot
    slot = (slot + 1) & mask
    while slots[slot] != FREE_SLOT:
        home = home_of(words, slots[slot], mask)
        # It may move if the empty slot is between its home and where it is, going round.
        if ((slot - home) & mask) >= ((slot - empty) & mask):
            slots[empty] = slots[slot]
            empty = slot
        slot = (slot + 1) & mask
    slots[empty] = FREE_SLOT


@njit(cache=True)
def fill_slots(table):
    """Put all codes in use into empty slots."""
    mask = table.slots.size - 1
    for code in range(table.is_used.size):
        if table.is_used[code] != 0:
            slot = home_of(table.words, code, mask)
            while table.slots[slot] != FREE_SLOT:
                slot = (slot + 1) & mask
            table.slots[slot] = code
