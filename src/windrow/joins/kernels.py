"""Factorised aggregates: one window, or an equi-join of two, at every instant in O(1) a row.

Purpose: COUNT, SUM and AVG of a join without forming its pairs.
Needs: rows entering and leaving in time order; aggregates that are sums over rows of one side (a row counts
    once for every partner, so its part is its own lanes times the number of partners).
Time: O(1) a row entering or leaving; O(cells under its key) when groups divide the other side.
Space: O(rows + keys), never O(pairs).
Source: paper 1 (the identity behind IC), with the per-key payloads of factorised view maintenance.

Arrays are plain parameters and rows are given by index: named tuples, views and calls that pass arrays make
Numba count references inside the loops, which was measured to cost up to a hundred times the additions.

Events are columns: at, sign (1 enters, -1 leaves), cell (EMPTY takes no part), share (the lanes that the
row adds for each partner). `order` lists them in time; an event from `right_from` on is of the right
side. Both sides use one layout of lanes and leave those of the other side zero, so that no branch depends on
the side. masks: LIMB_MASK for a limb that carries into the next lane, -1 for a plain lane; no masks at
all say that every lane is plain. control: see the constants below.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.exact.kernels import LIMB_BITS, spread
from windrow.windows.kernels import EMPTY, home_slot, take_code

# How the cells of the two sides name the output group.
WHOLE = 0
BY_KEY = 1
BY_LEFT = 2
BY_RIGHT = 3
BY_BOTH = 4

# Places in `control`.
PENDING_AT = 0  # the instant whose output is not written yet
TOUCHED = 1  # how many groups changed at it
SERIAL = 2  # its number
USED = 3  # rows of output written
NEEDS_PAIRS = 4  # set when a kernel stopped for want of room for pairs of groups


@njit(cache=True)
def flush(
    group_count, group_lanes, masks, touched, control, out_at, out_group, out_count, out_lanes
):
    """Write the state of every touched group at the pending instant; False when there is no room."""
    used = control[USED]
    if used + control[TOUCHED] > out_at.size:
        return False
    lanes = group_lanes.shape[1]
    for index in range(control[TOUCHED]):
        group = touched[index]
        if masks.size > 0:
            carry = 0
            for lane in range(lanes):
                total = group_lanes[group, lane] + carry
                kept = total & masks[lane]
                group_lanes[group, lane] = kept
                carry = (total - kept) >> LIMB_BITS
        out_at[used] = control[PENDING_AT]
        out_group[used] = group
        out_count[used] = group_count[group]
        for lane in range(lanes):
            out_lanes[used, lane] = group_lanes[group, lane]
        used += 1
    control[USED] = used
    control[TOUCHED] = 0
    control[SERIAL] += 1
    return True


@njit(cache=True)
def apply_single(
    start, size, at, sign, cell, share, masks, group_count, group_lanes,
    touched_in, touched, control, out_at, out_group, out_count, out_lanes,
):  # fmt: skip
    """One window: its cells are the output groups. Returns how far it came: output may be full."""
    lanes = group_lanes.shape[1]
    for i in range(start, size):
        if at[i] != control[PENDING_AT]:
            if control[TOUCHED] > 0 and not flush(
                group_count, group_lanes, masks, touched, control,
                out_at, out_group, out_count, out_lanes,
            ):  # fmt: skip
                return i
            control[PENDING_AT] = at[i]
        group = np.int64(cell[i])
        if group == EMPTY:
            continue
        factor = np.int64(sign[i])
        group_count[group] += factor
        for lane in range(lanes):
            group_lanes[group, lane] += share[i, lane] * factor
        if touched_in[group] != control[SERIAL]:
            touched_in[group] = control[SERIAL]
            touched[control[TOUCHED]] = group
            control[TOUCHED] += 1
    return size


@njit(cache=True)
def apply_keyed(
    start, size, order, right_from, at, sign, cell, share, masks, mode, count, lanes,
    group_count, group_lanes, touched_in, touched, control, out_at, out_group, out_count, out_lanes,
):  # fmt: skip
    """A join whose groups are the keys (mode 1), or that has no groups (mode 0): a cell is a key.

    Row 2 * key + side of count and lanes holds the rows of a side. Returns how far it came: the output
    may be full.
    """
    width = group_lanes.shape[1]
    is_plain = masks.size == 0
    pending_at = control[PENDING_AT]
    touched_count = control[TOUCHED]
    serial = control[SERIAL]
    used = control[USED]
    done = size
    for i in range(start, size):
        event = order[i]
        if at[event] != pending_at:
            if used + touched_count > out_at.size:
                done = i
                break
            for index in range(touched_count):
                group = np.int64(touched[index])
                carry = 0
                for lane in range(width):
                    total = group_lanes[group, lane] + carry
                    kept = total
                    if not is_plain:
                        kept = total & masks[lane]
                        carry = (total - kept) >> LIMB_BITS
                        group_lanes[group, lane] = kept
                    out_lanes[used, lane] = kept
                out_at[used] = pending_at
                out_group[used] = group
                out_count[used] = group_count[group]
                used += 1
            touched_count = 0
            serial += 1
            pending_at = at[event]
        key = np.int64(cell[event])
        if key == EMPTY:
            continue
        factor = np.int64(sign[event])
        mine = 2 * key + (event >= right_from)
        other = mine ^ 1
        partners = count[other]
        if partners != 0:
            group = key * mode
            times = factor * partners
            group_count[group] += times
            carry = 0
            for lane in range(width):
                product = share[event, lane] * times
                if not is_plain:
                    kept = product & masks[lane]
                    product, carry = kept + carry, (product - kept) >> LIMB_BITS
                group_lanes[group, lane] += product + lanes[other, lane] * factor
            if touched_in[group] != serial:
                touched_in[group] = serial
                touched[touched_count] = group
                touched_count += 1
        count[mine] += factor
        carry = 0
        for lane in range(width):
            total = lanes[mine, lane] + share[event, lane] * factor
            if not is_plain:
                total += carry
                kept = total & masks[lane]
                carry = (total - kept) >> LIMB_BITS
                total = kept
            lanes[mine, lane] = total
    control[PENDING_AT] = pending_at
    control[TOUCHED] = touched_count
    control[SERIAL] = serial
    control[USED] = used
    return done


@njit(cache=True)
def apply_keyed_plain(
    start, size, order, right_from, at, sign, cell, share, fixed, mode, count, lanes,
    group_count, group_lanes, touched_in, touched, control, out_at, out_group, out_count, out_lanes,
):  # fmt: skip
    """A join whose groups are the keys (mode 1), or that has no groups (mode 0): a cell is a key.

    Row 2 * key + side of count and lanes holds the rows of a side. Returns how far it came: the output
    may be full.
    """
    width = len(fixed)
    pending_at = control[PENDING_AT]
    touched_count = control[TOUCHED]
    serial = control[SERIAL]
    used = control[USED]
    done = size
    for i in range(start, size):
        event = order[i]
        if at[event] != pending_at:
            if used + touched_count > out_at.size:
                done = i
                break
            for index in range(touched_count):
                group = np.int64(touched[index])
                for lane in range(width):
                    out_lanes[used, lane] = group_lanes[group, lane]
                out_at[used] = pending_at
                out_group[used] = group
                out_count[used] = group_count[group]
                used += 1
            touched_count = 0
            serial += 1
            pending_at = at[event]
        key = np.int64(cell[event])
        if key == EMPTY:
            continue
        factor = np.int64(sign[event])
        mine = 2 * key + (event >= right_from)
        other = mine ^ 1
        partners = count[other]
        if partners != 0:
            group = key * mode
            times = factor * partners
            group_count[group] += times
            for lane in range(width):
                change = share[event, lane] * times + lanes[other, lane] * factor
                group_lanes[group, lane] += change
            if touched_in[group] != serial:
                touched_in[group] = serial
                touched[touched_count] = group
                touched_count += 1
        count[mine] += factor
        for lane in range(width):
            lanes[mine, lane] += share[event, lane] * factor
    control[PENDING_AT] = pending_at
    control[TOUCHED] = touched_count
    control[SERIAL] = serial
    control[USED] = used
    return done


@njit(cache=True)
def apply_cells(
    start, size, order, right_from, at, sign, cell, share, masks, mode, count, lanes,
    key_of_cell, group_of_cell, first_cell, next_cell, previous_cell, cells_of_key,
    slot_word, slot_code, word_of_code, free, pair_counters,
    group_count, group_lanes, touched_in, touched, control, out_at, out_group, out_count, out_lanes,
):  # fmt: skip
    """A join whose groups come from columns beside the key: every key has a list of cells a side.

    Row 2 * cell + side of count, lanes and the arrays of cells, row 2 * key + side of first_cell and
    cells_of_key. Returns how far it came: the output or the table of pairs of groups may be full.
    """
    width = group_lanes.shape[1]
    for i in range(start, size):
        event = order[i]
        if at[event] != control[PENDING_AT]:
            if control[TOUCHED] > 0 and not flush(
                group_count, group_lanes, masks, touched, control,
                out_at, out_group, out_count, out_lanes,
            ):  # fmt: skip
                return i
            control[PENDING_AT] = at[event]
        if cell[event] == EMPTY:
            continue
        right = event >= right_from
        mine = 2 * np.int64(cell[event]) + right
        factor = np.int64(sign[event])
        key = np.int64(key_of_cell[mine])
        my_key = 2 * key + right
        if mode == BY_BOTH and pair_counters[0] + cells_of_key[my_key ^ 1] > slot_word.size // 2:
            control[NEEDS_PAIRS] = 1
            return i
        partner = np.int64(first_cell[my_key ^ 1])
        while partner != EMPTY:
            group = np.int64(group_of_cell[mine])
            if mode == BY_BOTH:
                left_group = group_of_cell[partner] if right else group_of_cell[mine]
                right_group = group_of_cell[mine] if right else group_of_cell[partner]
                group = pair_group(
                    left_group, right_group, slot_word, slot_code, word_of_code, free, pair_counters
                )
            elif (mode == BY_RIGHT) != right:
                group = np.int64(group_of_cell[partner])
            times = factor * count[partner]
            group_count[group] += times
            carry = 0
            for lane in range(width):
                product = share[event, lane] * times
                if masks.size > 0:
                    kept = product & masks[lane]
                    product, carry = kept + carry, (product - kept) >> LIMB_BITS
                group_lanes[group, lane] += product + lanes[partner, lane] * factor
            if touched_in[group] != control[SERIAL]:
                touched_in[group] = control[SERIAL]
                touched[control[TOUCHED]] = group
                control[TOUCHED] += 1
            partner = np.int64(next_cell[partner])
        before = count[mine]
        count[mine] = before + factor
        carry = 0
        for lane in range(width):
            total = lanes[mine, lane] + share[event, lane] * factor
            if masks.size > 0:
                total += carry
                kept = total & masks[lane]
                carry = (total - kept) >> LIMB_BITS
                total = kept
            lanes[mine, lane] = total
        if before == 0:
            link_cell(mine, my_key, first_cell, next_cell, previous_cell, cells_of_key)
        elif before + factor == 0:
            unlink_cell(mine, my_key, first_cell, next_cell, previous_cell, cells_of_key)
    return size


@njit(cache=True)
def link_cell(cell, key, first_cell, next_cell, previous_cell, cells_of_key):
    """The cell has its first row: put it into the list of its key."""
    following = first_cell[key]
    next_cell[cell] = following
    previous_cell[cell] = EMPTY
    if following != EMPTY:
        previous_cell[following] = cell
    first_cell[key] = cell
    cells_of_key[key] += 1


@njit(cache=True)
def unlink_cell(cell, key, first_cell, next_cell, previous_cell, cells_of_key):
    """The cell has no row left: take it out of the list of its key."""
    following = next_cell[cell]
    previous = previous_cell[cell]
    if previous == EMPTY:
        first_cell[key] = following
    else:
        next_cell[previous] = following
    if following != EMPTY:
        previous_cell[following] = previous
    cells_of_key[key] -= 1


@njit(cache=True)
def pair_group(left_group, right_group, slot_word, slot_code, word_of_code, free, counters):
    """The group of a pair of groups; made when it is new (room was checked before)."""
    word = (np.int64(left_group) << 32) | right_group
    mask = slot_word.size - 1
    slot = home_slot(word, mask)
    while slot_code[slot] != EMPTY and slot_word[slot] != word:
        slot = (slot + 1) & mask
    if slot_code[slot] == EMPTY:
        code = take_code(free, counters)
        slot_word[slot] = word
        slot_code[slot] = code
        word_of_code[code] = word
    return np.int64(slot_code[slot])


@njit(cache=True)
def share_narrow(first, size, rows, cells, values, valid, offset, valid_offset, out_cell, share):
    """Cells and lanes of one side's events: each value as it is, and (if wanted) whether it is valid.

    Writes from event `first` on; lanes from `offset` on, counts from `valid_offset` on (EMPTY: none).
    """
    count = values.shape[0]
    checked = valid.shape[0] > 0
    for i in range(size):
        row = rows[first + i]
        out_cell[first + i] = cells[row]
        for value in range(count):
            share[first + i, offset + value] = values[value, row]
            if valid_offset != EMPTY:
                is_valid = not checked or valid[value, row] != 0
                share[first + i, valid_offset + value] = is_valid
                if not is_valid:
                    share[first + i, offset + value] = 0


@njit(cache=True)
def share_wide(
    first, size, rows, cells, values, valid, kinds, low_limb, width, offset, out_cell, share
):
    """Cells and lanes of one side's events: every value spread over its exact lanes."""
    count = values.shape[0]
    checked = valid.shape[0] > 0
    for i in range(size):
        event = first + i
        row = rows[event]
        out_cell[event] = cells[row]
        for lane in range(offset, offset + count * width):
            share[event, lane] = 0
        for value in range(count):
            if not checked or valid[value, row] != 0:
                base = offset + value * width
                spread(values[value, row], kinds[value], low_limb, share, event, base)
