"""Factorised aggregates: one window, or an equi-join of two, at every instant in O(1) a row.

Purpose: COUNT, SUM and AVG of a join without forming its pairs.
Needs: rows entering and leaving in time order; aggregates that are sums over rows of one input (a
    row counts once for every partner, so its part is its own lanes times the number of partners).
Time: O(1) a row entering or leaving; O(cells under its key) when groups divide the other input.
Space: O(rows + keys), never O(pairs).
Source: paper 1 (the identity behind IC), with the per-key payloads of factorised view maintenance.

Arrays come in structures (state.py), which are taken apart before the loops, and rows are given by
index: a structure, a view or a call that passes arrays inside a loop makes Numba count references
there, which was measured to cost up to a hundred times the additions. Places are unsigned where it
matters: an index that may be negative costs a test at every access.

Events are columns: at, sign (1 enters, -1 leaves), cell (EMPTY takes no part), share (the lanes
that the row adds for each partner). `order` lists them in time; an event from `right_from` on is
of the right input. Both inputs use one layout of lanes and leave those of the other input zero, so
that no branch depends on the input. masks: LIMB_MASK for a limb that carries into the next lane, -1
for a plain lane; no masks at all say that every lane is plain.

Output: the state of a group is written at every event that changes it, over what was written for it
at the same instant: last_out[group] is where. Places count from the beginning of time; `control`
says which place stands first in the arrays. There must be room for one row an event and group.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import njit
from windrow.exact.kernels import LIMB_BITS
from windrow.rows.grouping import BY_BOTH, BY_RIGHT
from windrow.windows.kernels import AHEAD, EMPTY, LARGE_TABLE, home_slot, prefetch, take_code

# Entries of `control`.
NOW = 0  # the instant of the last event
NOW_FROM = 1  # the place of its first output
USED = 2  # the place of the next output
FIRST = 3  # the place that stands first in the output arrays
NEEDS_PAIRS = 4  # for so many pairs of groups a kernel lacked room, and stopped


@njit(cache=True)
def apply_single(size, events, masks, state, output):
    """One window: its cells are the output groups."""
    at, sign, cell, share = events
    _, _, group_count, group_lanes, last_out = state
    control, out_at, out_group, out_count, out_lanes = output
    width = group_lanes.shape[1]
    is_plain = masks.size == 0
    now = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    for i in range(size):
        if at[i] != now:
            now = at[i]
            now_from = used
        group = np.int64(cell[i])
        if group == EMPTY:
            continue
        factor = np.int64(sign[i])
        place = last_out[group]
        if place < now_from:
            place = used
            last_out[group] = place
            used += 1
        place -= first
        group_count[group] += factor
        out_at[place] = now
        out_group[place] = group
        out_count[place] = group_count[group]
        carry = 0
        for lane in range(width):
            total = group_lanes[group, lane] + share[i, lane] * factor + carry
            kept = total
            if not is_plain:
                kept = total & masks[lane]
                carry = (total - kept) >> LIMB_BITS
            group_lanes[group, lane] = kept
            out_lanes[place, lane] = kept
    control[NOW] = now
    control[NOW_FROM] = now_from
    control[USED] = used


@njit(cache=True)
def run_whole_plain(left, right, left_fixed, right_fixed, until, grid, state, output):
    """A join of two closed time windows without groups, all lanes plain, straight from the windows.

    This is what is most often asked: rows are merged, counted and put out in one pass, with one
    branch that cannot be foreseen, on the input. Row 2 * key + input of count and lanes holds the
    rows of an input. `left_fixed` and `right_fixed` are tuples as long as the inputs have values:
    their length is known when the loops over lanes are compiled. A state that did not change is
    written over by the next one. There must be room for one row an event.
    """
    left_times, left_cells, left_values, left_cursor, left_hold = left
    right_times, right_cells, right_values, right_cursor, right_hold = right
    count, lanes, group_count, group_lanes, _ = state
    control, out_at, out_group, out_count, out_lanes = output
    first_right = len(left_fixed)
    left_head, left_tail = left_cursor[0], left_cursor[1]
    right_head, right_tail = right_cursor[0], right_cursor[1]
    # times[end] is a sentinel; an empty window has head == tail, and "leaves" after the entry.
    left_in = left_times[uint64(left_tail)]
    left_out = left_times[uint64(left_head)] + left_hold
    right_in = right_times[uint64(right_tail)]
    right_out = right_times[uint64(right_head)] + right_hold
    shown = control[NOW]
    used = control[USED] - control[FIRST]
    is_open = control[USED] > control[NOW_FROM]
    used -= is_open
    is_changed = np.int64(is_open)
    total = group_count[0]
    fetches = count.size > LARGE_TABLE
    while True:
        left_now = min(left_in, left_out)
        right_now = min(right_in, right_out)
        now = min(left_now, right_now)
        if now > until:
            break
        if grid != 1:
            now = -(-now // grid) * grid
        used += (now != shown) & is_changed
        is_changed &= now == shown
        shown = now
        place = uint64(used)
        if left_now <= right_now:
            leaves = left_out <= left_in
            row = uint64(left_head if leaves else left_tail)
            factor = np.int64(-1 if leaves else 1)
            left_head += leaves
            left_tail += not leaves
            left_in = left_times[uint64(left_tail)]
            left_out = left_times[uint64(left_head)] + left_hold
            if fetches and row + uint64(AHEAD) < uint64(left_cells.size):
                soon = 2 * np.int64(left_cells[row + uint64(AHEAD)])
                prefetch(count, soon)
                prefetch(lanes, soon)
            mine = uint64(2 * np.int64(left_cells[row]))
            other = mine + uint64(1)
            times = factor * count[other]
            for number in range(len(left_fixed)):
                lane = uint64(number)
                part = left_values[lane, row]
                group_lanes[0, lane] += part * times
                lanes[mine, lane] += part * factor
            for number in range(len(right_fixed)):
                lane = uint64(first_right + number)
                group_lanes[0, lane] += lanes[other, lane] * factor
        else:
            leaves = right_out <= right_in
            row = uint64(right_head if leaves else right_tail)
            factor = np.int64(-1 if leaves else 1)
            right_head += leaves
            right_tail += not leaves
            right_in = right_times[uint64(right_tail)]
            right_out = right_times[uint64(right_head)] + right_hold
            if fetches and row + uint64(AHEAD) < uint64(right_cells.size):
                soon = 2 * np.int64(right_cells[row + uint64(AHEAD)])
                prefetch(count, soon)
                prefetch(lanes, soon)
            other = uint64(2 * np.int64(right_cells[row]))
            mine = other + uint64(1)
            times = factor * count[other]
            for number in range(len(left_fixed)):
                lane = uint64(number)
                group_lanes[0, lane] += lanes[other, lane] * factor
            for number in range(len(right_fixed)):
                lane = uint64(first_right + number)
                part = right_values[uint64(number), row]
                group_lanes[0, lane] += part * times
                lanes[mine, lane] += part * factor
        count[mine] += factor
        total += times
        is_changed |= times != 0
        out_at[place] = shown
        out_group[place] = 0
        out_count[place] = total
        for number in range(len(left_fixed) + len(right_fixed)):
            lane = uint64(number)
            out_lanes[place, lane] = group_lanes[0, lane]
    left_cursor[0], left_cursor[1] = left_head, left_tail
    right_cursor[0], right_cursor[1] = right_head, right_tail
    group_count[0] = total
    control[NOW] = shown
    control[NOW_FROM] = control[FIRST] + used
    control[USED] = control[FIRST] + used + is_changed


@njit(cache=True)
def apply_keyed_plain(size, order, right_from, events, fixed, mode, state, output):
    """A join whose groups are its keys (mode 1) or that has none (mode 0), all lanes plain.

    A cell is a key; row 2 * key + input of count and lanes holds the rows of an input. `fixed` is a
    tuple as long as there are lanes. Nothing branches on the data; a state that did not change is
    written over by the next one.
    """
    at, sign, cell, share = events
    count, lanes, group_count, group_lanes, last_out = state
    control, out_at, out_group, out_count, out_lanes = output
    now = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    for i in range(size):
        event = uint64(order[i])
        key = np.int64(cell[event])
        if key == EMPTY:
            continue
        time = at[event]
        now_from = used if time != now else now_from
        now = time
        factor = np.int64(sign[event])
        mine = uint64(2 * key + (order[i] >= right_from))
        other = mine ^ uint64(1)
        group = uint64(key * mode)
        times = factor * count[other]
        total = group_count[group] + times
        group_count[group] = total
        before = last_out[group]
        number = used if before < now_from else before
        is_changed = times != 0
        last_out[group] = number if is_changed else before
        used += (number == used) & is_changed
        place = uint64(number - first)
        out_at[place] = now
        out_group[place] = group
        out_count[place] = total
        for number in range(len(fixed)):
            lane = uint64(number)
            part = share[event, lane]
            value = group_lanes[group, lane] + part * times + lanes[other, lane] * factor
            group_lanes[group, lane] = value
            out_lanes[place, lane] = value
            lanes[mine, lane] += part * factor
        count[mine] += factor
    control[NOW] = now
    control[NOW_FROM] = now_from
    control[USED] = used


@njit(cache=True)
def apply_keyed(size, order, right_from, events, masks, mode, state, output):
    """A join whose groups are its keys (mode 1) or that has none (mode 0); lanes of any kind."""
    at, sign, cell, share = events
    count, lanes, group_count, group_lanes, last_out = state
    control, out_at, out_group, out_count, out_lanes = output
    width = group_lanes.shape[1]
    is_plain = masks.size == 0
    now = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    first = control[FIRST]
    for i in range(size):
        event = uint64(order[i])
        key = np.int64(cell[event])
        if key == EMPTY:
            continue
        if at[event] != now:
            now = at[event]
            now_from = used
        factor = np.int64(sign[event])
        mine = uint64(2 * key + (order[i] >= right_from))
        other = mine ^ uint64(1)
        partners = count[other]
        if partners != 0:
            group = uint64(key * mode)
            times = factor * partners
            number = last_out[group]
            if number < now_from:
                number = used
                last_out[group] = number
                used += 1
            place = uint64(number - first)
            group_count[group] += times
            out_at[place] = now
            out_group[place] = group
            out_count[place] = group_count[group]
            product_carry = 0
            carry = 0
            for number in range(width):
                lane = uint64(number)
                product = share[event, lane] * times
                if not is_plain:
                    kept = product & masks[lane]
                    product, product_carry = (
                        kept + product_carry,
                        (product - kept) >> LIMB_BITS,
                    )
                total = group_lanes[group, lane] + product + lanes[other, lane] * factor + carry
                kept = total
                if not is_plain:
                    kept = total & masks[lane]
                    carry = (total - kept) >> LIMB_BITS
                group_lanes[group, lane] = kept
                out_lanes[place, lane] = kept
        count[mine] += factor
        carry = 0
        for number in range(width):
            lane = uint64(number)
            total = lanes[mine, lane] + share[event, lane] * factor + carry
            kept = total
            if not is_plain:
                kept = total & masks[lane]
                carry = (total - kept) >> LIMB_BITS
            lanes[mine, lane] = kept
    control[NOW] = now
    control[NOW_FROM] = now_from
    control[USED] = used


@njit(cache=True)
def apply_cells(start, size, order, right_from, events, masks, mode, state, cells, pairs, output):
    """A join whose groups come from columns beside the key: every key has a list of cells an input.

    Row 2 * cell + input of count, lanes and the arrays of cells, row 2 * key + input of first_cell
    and cells_of_key. Returns how far it came: the output or the table of pairs may be full.
    """
    at, sign, cell, share = events
    count, lanes, group_count, group_lanes, last_out = state
    key_of_cell, group_of_cell, first_cell, next_cell, previous_cell, cells_of_key = cells
    slot_word, slot_code, word_of_code, free, pair_counters = pairs
    control, out_at, out_group, out_count, out_lanes = output
    width = group_lanes.shape[1]
    is_plain = masks.size == 0
    for i in range(start, size):
        event = order[i]
        if cell[event] == EMPTY:
            continue
        right = event >= right_from
        mine = 2 * np.int64(cell[event]) + right
        factor = np.int64(sign[event])
        my_key = 2 * np.int64(key_of_cell[mine]) + right
        partners = cells_of_key[my_key ^ 1]
        if control[USED] - control[FIRST] + partners >= out_at.size:
            return i
        if mode == BY_BOTH:
            codes = pair_counters[2] + word_of_code.size - pair_counters[1]
            if partners > codes or pair_counters[0] + partners > slot_word.size // 2:
                control[NEEDS_PAIRS] = partners
                return i
        if at[event] != control[NOW]:
            control[NOW] = at[event]
            control[NOW_FROM] = control[USED]
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
            place = last_out[group]
            if place < control[NOW_FROM]:
                place = control[USED]
                last_out[group] = place
                control[USED] += 1
            place -= control[FIRST]
            times = factor * count[partner]
            group_count[group] += times
            out_at[place] = at[event]
            out_group[place] = group
            out_count[place] = group_count[group]
            product_carry = 0
            carry = 0
            for lane in range(width):
                product = share[event, lane] * times
                if not is_plain:
                    kept = product & masks[lane]
                    product, product_carry = (
                        kept + product_carry,
                        (product - kept) >> LIMB_BITS,
                    )
                total = group_lanes[group, lane] + product + lanes[partner, lane] * factor + carry
                kept = total
                if not is_plain:
                    kept = total & masks[lane]
                    carry = (total - kept) >> LIMB_BITS
                group_lanes[group, lane] = kept
                out_lanes[place, lane] = kept
            partner = np.int64(next_cell[partner])
        before = count[mine]
        count[mine] = before + factor
        carry = 0
        for lane in range(width):
            total = lanes[mine, lane] + share[event, lane] * factor + carry
            kept = total
            if not is_plain:
                kept = total & masks[lane]
                carry = (total - kept) >> LIMB_BITS
            lanes[mine, lane] = kept
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
def best_so_far(
    first, end, times, groups, words, valid, tallies, extremes, is_seen, states,
    out_at, out_group, out_states,
):  # fmt: skip
    """Rows that never leave, from `first` on, and the states of groups at later and later instants.

    words: the code of (group, value) per tally, EMPTY for NULL, then the rank per extreme. states
    and out_states: tallies, ranks, whether there is one.
    """
    row = first
    for update in range(out_at.size + 1):
        while row < end and (update == out_at.size or times[row] <= out_at[update]):
            group = groups[row]
            for tally in range(tallies):
                code = words[tally, row]
                if code != EMPTY and not is_seen[tally, code]:
                    is_seen[tally, code] = True
                    states[group, tally] += 1
            for extreme in range(tallies, tallies + extremes):
                flag = extreme + extremes
                is_better = states[group, flag] == 0 or words[extreme, row] > states[group, extreme]
                if valid[extreme, row] != 0 and is_better:
                    states[group, extreme] = words[extreme, row]
                    states[group, flag] = 1
            row += 1
        if update < out_at.size:
            for column in range(states.shape[1]):
                out_states[update, column] = states[out_group[update], column]
