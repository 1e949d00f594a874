"""The view tree in whole numbers of any width: what linear_kernels.py does, where 64 bits are few.

A number is a row of digits of 32 bits, lowest first, as two's complement: all arithmetic is modulo
2**(32 * digits), and is exact since every number that matters fits. Term t has digit_count[t]
digits from first_digit[t] on. Doubles are whole numbers of a power of two that is kept elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy import uint64

from windrow.compiling.kernels import inlined, njit
from windrow.exact.kernels import LIMB_BITS, LIMB_MASK
from windrow.operators.keyed.kernels import FIRST, NOW, NOW_FROM, USED
from windrow.operators.tree.linear_kernels import MOST_NODES, link, unlink
from windrow.windows.kernels import EMPTY

# What a term weighs with: its value or 1, or 1 for values that are NaN or infinite.
VALUE = 0
NAN = 1
PLUS_INFINITY = 2
MINUS_INFINITY = 3

# Rows of scratch in addition to those of the levels.
SCRATCH_ROWS = MOST_NODES + 2
# One scratch row subtracted from this is the other one.
OTHER_ROW = 2 * MOST_NODES + 1

_DIGIT_MASK = np.uint64(LIMB_MASK)
_DIGIT_BITS = np.uint64(LIMB_BITS)
_EXPONENT_MASK = 0x7FF
_FRACTION_MASK = (1 << 52) - 1
_HIDDEN_BIT = 1 << 52
_EXPONENT_BIAS = 1075


@njit(cache=True)
def apply_tree_wide(
    start, size, order, shift, events, first_digit, digit_count, tree, state, work, most_groups,
    output,
):  # fmt: skip
    """Any tree. Returns how far it came: the output may be full.

    work: SCRATCH_ROWS rows of digits.
    """
    at, sign, cell, share = events
    parent, child_from, children, up_of_cell, down_of_cell, first_cell = tree[:6]
    next_cell, previous_cell, group_of_cell = tree[6:]
    payload, view, rows_of_cell, group_terms, last_out = state
    control, out_at, out_group, _, out_terms = output
    nodes = parent.size
    path = np.empty(MOST_NODES, np.int64)
    current = np.empty(MOST_NODES, np.int64)
    width = payload.shape[1]
    now = control[NOW]
    now_from = control[NOW_FROM]
    used = control[USED]
    base = control[FIRST]
    done = size
    for i in range(start, size):
        event = order[i]
        own = np.int64(cell[event])
        if own == EMPTY:
            continue
        if used - base + most_groups >= out_at.size:
            done = i
            break
        if at[event] != now:
            now = at[event]
            now_from = used
        factor = np.int64(sign[event])
        node = event >> shift
        place = nodes * own + node
        row = MOST_NODES
        for digit in range(width):
            work[row, digit] = share[event, digit]
        is_leaf = child_from[node] == child_from[node + 1] and parent[node] != EMPTY
        if not is_leaf:
            before = rows_of_cell[place]
            rows_of_cell[place] = before + factor
            add(payload, place, work, row, factor, first_digit, digit_count)
            for index in range(child_from[node], child_from[node + 1]):
                child = children[index]
                code = np.int64(down_of_cell[nodes * own + child])
                multiply(work, row, view, nodes * code + child, first_digit, digit_count)
                row = OTHER_ROW - row
                if before == 0:
                    link(own, code, child, nodes, first_cell, next_cell, previous_cell)
                elif before + factor == 0:
                    unlink(own, code, child, nodes, first_cell, next_cell, previous_cell)
        if is_zero(work, row, digit_count[0]):
            continue
        level = -1
        visited = EMPTY
        if parent[node] == EMPTY:
            visited = own
        else:
            seen = nodes * np.int64(up_of_cell[place]) + node
            add(view, seen, work, row, factor, first_digit, digit_count)
            level = 0
            for digit in range(width):
                work[0, digit] = work[row, digit]
            path[0] = node
            current[0] = first_cell[seen]
        while True:
            if visited != EMPTY:
                group = np.int64(group_of_cell[visited])
                visited = EMPTY
                out = last_out[group]
                if out < now_from:
                    out = used
                    last_out[group] = out
                    used += 1
                out -= base
                add(group_terms, group, work, row, factor, first_digit, digit_count)
                out_at[out] = now
                out_group[out] = group
                for digit in range(width):
                    out_terms[out, digit] = group_terms[group, digit]
            if level < 0:
                break
            node = path[level]
            above = current[level]
            if above == EMPTY:
                level -= 1
                continue
            current[level] = next_cell[nodes * above + node]
            upper = parent[node]
            place = nodes * above + upper
            row = MOST_NODES
            for digit in range(width):
                work[row, digit] = work[level, digit]
            multiply(work, row, payload, place, first_digit, digit_count)
            row = OTHER_ROW - row
            for index in range(child_from[upper], child_from[upper + 1]):
                child = children[index]
                if child != node:
                    seen = nodes * np.int64(down_of_cell[nodes * above + child]) + child
                    multiply(work, row, view, seen, first_digit, digit_count)
                    row = OTHER_ROW - row
            if is_zero(work, row, digit_count[0]):
                continue
            if parent[upper] == EMPTY:
                visited = above
                continue
            seen = nodes * np.int64(up_of_cell[place]) + upper
            add(view, seen, work, row, factor, first_digit, digit_count)
            level += 1
            for digit in range(width):
                work[level, digit] = work[row, digit]
            path[level] = upper
            current[level] = first_cell[seen]
    control[NOW] = now
    control[NOW_FROM] = now_from
    control[USED] = used
    return done


@inlined
def is_zero(numbers, row, digits):
    """Whether the first term is 0."""
    seen = 0
    for digit in range(digits):
        seen |= numbers[row, digit]
    return seen == 0


@inlined
def add(target, target_row, source, source_row, factor, first_digit, digit_count):
    """Add factor (1 or -1) times a row of numbers."""
    for term in range(first_digit.size):
        carry = 0
        start = first_digit[term]
        for digit in range(start, start + digit_count[term]):
            total = target[target_row, digit] + factor * source[source_row, digit] + carry
            target[target_row, digit] = total & LIMB_MASK
            carry = total >> LIMB_BITS


@inlined
def multiply(work, row, other, other_row, first_digit, digit_count):
    """Multiply a scratch row by a row of numbers; the product is in the other scratch row.

    Scratch rows are MOST_NODES and MOST_NODES + 1.
    """
    product = OTHER_ROW - row
    for term in range(first_digit.size):
        start = first_digit[term]
        count = digit_count[term]
        for digit in range(start, start + count):
            work[product, digit] = 0
        highest = count  # digits of the other up to its highest that is not zero: counts have few
        while highest > 0 and other[other_row, start + highest - 1] == 0:
            highest -= 1
        for i in range(highest):
            scale = uint64(other[other_row, start + i])
            carry = uint64(0)
            for j in range(count - i):
                here = uint64(start + i + j)
                total = (
                    scale * uint64(work[row, uint64(start + j)])
                    + uint64(work[product, here])
                    + carry
                )
                work[product, here] = np.int64(total & _DIGIT_MASK)
                carry = total >> _DIGIT_BITS


@njit(cache=True)
def weigh_wide(
    first, size, rows, values, valid, column, is_double, low_limb, role, guards,
    first_digit, digit_count, share,
):  # fmt: skip
    """The weights of events in digits, term 0 included.

    column, is_double, low_limb (of the column's scale, see exact/kernels.py), role: per term.
    guards: as in linear_kernels.py.
    """
    checked = valid.shape[0] > 0
    for event in range(first, first + size):
        row = rows[event]
        for term in range(column.size):
            start = first_digit[term]
            stop = start + digit_count[term]
            for digit in range(start, stop):
                share[event, digit] = 0
            is_present = True
            if checked:
                for value in range(guards.shape[1]):
                    if guards[term, value] != 0 and valid[value, row] == 0:
                        is_present = False
            if not is_present:
                continue
            if column[term] == EMPTY:
                share[event, start] = 1
                continue
            word = values[column[term], row]
            if not is_double[term]:
                set_integer(word, start, stop, share, event)
            elif role[term] == VALUE:
                set_double(word, low_limb[term], start, stop, share, event)
            else:
                share[event, start] = role_of(word) == role[term]


@njit(cache=True)
def role_of(bits):
    """Which special value a double is; VALUE for a number."""
    if (bits >> 52) & _EXPONENT_MASK != _EXPONENT_MASK:
        return VALUE
    if bits & _FRACTION_MASK != 0:
        return NAN
    return MINUS_INFINITY if bits < 0 else PLUS_INFINITY


@njit(cache=True)
def count_special(values, valid):
    """How many doubles are NaN or infinite; no flags say that every one is valid."""
    count = 0
    for index in range(values.size):
        if (valid.size == 0 or valid[index] != 0) and role_of(values[index]) != VALUE:
            count += 1
    return count


@njit(cache=True)
def set_integer(word, start, stop, share, event):
    """An integer in two's complement."""
    share[event, start] = word & LIMB_MASK
    word >>= LIMB_BITS
    for digit in range(start + 1, stop):
        share[event, digit] = word & LIMB_MASK
        word >>= LIMB_BITS


@njit(cache=True)
def set_double(bits, low_limb, start, stop, share, event):
    """A double as a multiple of its column's scale; 0 for NaN and infinities."""
    exponent = (bits >> 52) & _EXPONENT_MASK
    fraction = bits & _FRACTION_MASK
    if exponent == _EXPONENT_MASK or (exponent == 0 and fraction == 0):
        return
    if exponent == 0:
        exponent = 1
    else:
        fraction |= _HIDDEN_BIT
    position = exponent - _EXPONENT_BIAS + 1088 - LIMB_BITS * low_limb
    shift = position & (LIMB_BITS - 1)
    low = (fraction & LIMB_MASK) << shift
    high = ((fraction >> LIMB_BITS) << shift) + (low >> LIMB_BITS)
    at = start + (position >> 5)
    # The digits were counted so that every part that is not zero has its place.
    if low & LIMB_MASK:
        share[event, at] = low & LIMB_MASK
    if high & LIMB_MASK:
        share[event, at + 1] = high & LIMB_MASK
    if high >> LIMB_BITS:
        share[event, at + 2] = high >> LIMB_BITS
    if bits < 0:
        carry = 1
        for digit in range(start, stop):
            total = (share[event, digit] ^ LIMB_MASK) + carry
            share[event, digit] = total & LIMB_MASK
            carry = total >> LIMB_BITS
